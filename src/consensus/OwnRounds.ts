/** When this node makes its next vertex and for which round: its rounds so far, its budget, and who waits. */
import type { Round, Timestamp } from "../protocol/numbers/Natural.js"
import * as Natural from "../protocol/numbers/Natural.js"
import type { Epoch } from "./Epoch.js"
import type { Output } from "./output/Output.js"
import * as RoundBudget from "./RoundBudget.js"
import * as RoundClock from "./RoundClock.js"
import type { SigningGuard } from "./SigningGuard.js"

export interface Options {
  readonly roundIntervalMs: number
  /** Null for a node without a validator key. */
  readonly guard: SigningGuard | null
  /** Whether somebody waits for a transaction; false by default. */
  readonly isAwaited?: () => boolean
  /** `budget` by default. */
  readonly pace?: RoundClock.Pace
}

type Proposal = Extract<Output, { readonly _tag: "Propose" }>

export class OwnRounds {
  readonly #options: Options
  /** The last round proposed in this epoch, whether or not the vertex is back from the disk. */
  #proposedRound: Round | null = null
  #madeAt: Timestamp | null = null
  /** The wall clock's lead over the steady clock. */
  #wallAheadMs = 0
  /** The highest round that others have reached, and when that was first seen. */
  #begun: RoundClock.Own["begun"] | null = null
  #planned: RoundClock.Plan | null = null
  /** Whether that plan is for somebody who waits for a transaction. */
  #isHurried = false
  #budget: RoundBudget.RoundBudget = { round: null, paidUntil: 0 }
  #carried = 0
  /** Commits that the ledger has not executed yet; they may contain an awaited transaction. */
  #unexecuted = 0

  constructor(options: Options) {
    this.#options = options
  }

  /** When this node's last vertex was planned. */
  get madeAt(): Timestamp | null {
    return this.#madeAt
  }

  /** The vertex planned by the last step, and its time. */
  get planned(): RoundClock.Plan | null {
    return this.#planned
  }

  /** Whether the next round is planned for somebody who waits. */
  get isHurried(): boolean {
    return this.#isHurried
  }

  /**
   * Whether somebody waits for the next round. False while a commit is unexecuted, since it may already have what is
   * awaited.
   */
  get isAwaited(): boolean {
    const { pace, isAwaited } = this.#options
    return pace !== "evenly" && this.#unexecuted === 0 && isAwaited?.() === true
  }

  wallIs(aheadMs: number): void {
    this.#wallAheadMs = aheadMs
  }

  /** The process starts. Its last vertex, if it has made one, was made long ago. */
  start({ committee }: Epoch, madeAt: Timestamp | null, now: Timestamp): void {
    this.#madeAt = madeAt
    this.#budget = RoundBudget.begin(now, this.#rate(committee.size))
  }

  /** A new epoch has opened. */
  open(): void {
    this.#proposedRound = null
  }

  /** This node's last vertex carries so many transactions. */
  carries(transactions: number): void {
    this.#carried = transactions
  }

  committed(): void {
    this.#unexecuted++
  }

  executed(): void {
    this.#unexecuted = Math.max(0, this.#unexecuted - 1)
  }

  #rate(members: number): RoundClock.Rate {
    const { roundIntervalMs, pace = "budget" } = this.#options
    return RoundClock.rateOf(roundIntervalMs, members, pace)
  }

  plan(running: Epoch, now: Timestamp): void {
    this.#isHurried = this.isAwaited
    this.#planned = this.#next(running, now)
  }

  #next(running: Epoch, now: Timestamp): RoundClock.Plan | null {
    const { dag, committer, committee, position, reachedRound, ownRound, isClosed, seat } = running
    if (isClosed || seat === undefined) return null
    const { epoch } = running.opening.record
    const highest = this.#options.guard?.highest ?? null
    const signedRound = highest?.epoch === epoch ? highest.round : ownRound
    const round = Natural.round(Math.max(ownRound, signedRound, this.#proposedRound ?? ownRound))
    const { begunRound } = dag
    if (this.#begun?.round !== begunRound) this.#begun = { round: begunRound, at: now }
    // Waits until this node's last vertex is back from the disk, because the next one follows it.
    const isBack = round === ownRound
    return RoundClock.plan(dag, committer, this.#rate(committee.size), {
      round,
      madeAt: this.#madeAt,
      lastCommitRound: position.leaderRound,
      reachedRound,
      begun: isBack ? this.#begun : { round: ownRound, at: now },
      budget: this.#budget,
      isAwaited: isBack && this.#isHurried,
      carried: this.#carried,
    })
  }

  /** The proposal for the planned vertex, if it is due and the key may sign it. The vertex counts as made. */
  propose({ proposer, committee, opening }: Epoch, now: Timestamp): Proposal | null {
    const { guard } = this.#options
    const plan = this.#planned
    if (guard === null || proposer === null || plan === null || plan.at > now) return null
    // Members that have restarted since may no longer know what this key signed in the epoch before its disk was set
    // back.
    if (guard.toAsk(committee).length > 0) return null
    const { round } = plan
    const { epoch } = opening.record
    if (!guard.maySign(epoch, round)) return null
    this.#proposedRound = round
    this.#budget = RoundBudget.pay(this.#budget, round, now, this.#rate(committee.size))
    this.#madeAt = now
    const coinbase = committee.coinbase(round, proposer.seat)
    const parents = proposer.parents(round)
    const timestamp = Natural.nearestTimestamp(now + this.#wallAheadMs)
    return { _tag: "Propose", base: opening.base, epoch, round, parents, coinbase, timestamp }
  }
}
