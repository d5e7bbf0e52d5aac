/**
 * Decides which gossip this node relays: messages that are new here and useful, and of no signer more than an honest one
 * makes. Whoever relays a message is believed by its neighbours to be honest, so what the signer pays nothing for must not
 * cost more the further it gets. Vertices are not relayed.
 */
import { Either } from "effect"
import * as Heartbeats from "../../consensus/Heartbeats.js"
import type { PendingTransactions } from "../../ledger/pending/PendingTransactions.js"
import type { Rules } from "../../protocol/epoch/EpochRecord.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { Epoch, Round } from "../../protocol/numbers/Natural.js"
import { divideFloor } from "../../protocol/numbers/Sats.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import type { Evidence } from "../../protocol/vertex/Evidence.js"
import type { Heartbeat } from "../../protocol/vertex/Heartbeat.js"

/** Signers of heartbeats that are remembered; each has stake for a seat. */
export const REMEMBERED = 4_096
/** An honest signer may have been late with the one before, or has started anew: twice as many as it makes pass. */
const LENIENCE = 2
/** Signatures under checkpoints that pass at once: of the last ones and the close of an epoch, and of the next. */
export const SIGNATURES_AT_ONCE = 4

/** Those of a message that others are to be told of: new ones that can be executed, and that their senders may have told. */
export const worthTelling = (
  transactions: ReadonlyArray<Transaction>,
  answers: ReadonlyArray<ReturnType<PendingTransactions["submit"]>>,
  pool: Pick<PendingTransactions, "isTold">,
): ReadonlyArray<Transaction> =>
  transactions.filter((transaction, i) => {
    const answer = answers[i]
    return answer !== undefined && Either.isRight(answer) && answer.right === "new" && pool.isTold(transaction)
  })

/**
 * Whether a message is relayed, which is done unchanged: each of its transactions must be new here, and others are to be
 * told of it (`worth`). Otherwise this node tells them of those itself, a moment later (`Announcements`): a message may
 * repeat what is known thousands of times, or have it under signatures that nobody has looked at.
 */
export const areRelayed = (transactions: ReadonlyArray<Transaction>, worth: ReadonlyArray<Transaction>): boolean =>
  transactions.length > 0 && worth.length === transactions.length

/** The commit that a heartbeat names. */
interface Named {
  readonly commitIndex: number
  readonly leaderRound: Round
}

export class Relaying {
  /** The last relayed heartbeat of each validator; the one heard of least recently first. */
  readonly #beats = new Map<Address, Named>()
  /** For each member, the round in which all that it has signed is made up for. */
  readonly #signed = new Map<Address, number>()
  /** Members against whom evidence was relayed, or found here, in each epoch. */
  readonly #accused = new Map<Epoch, Set<Address>>()

  get size(): number {
    return [...this.#accused.values()].reduce((sum, { size }) => sum + size, this.#beats.size + this.#signed.size)
  }

  /**
   * Whether a heartbeat that names an executed commit is of use: it is later than the one before, by at least half of what
   * lies between two of an honest validator. Changes nothing.
   */
  wantsHeartbeat({ validator, commitIndex }: Heartbeat, leaderRound: Round, rules: Rules): boolean {
    const last = this.#beats.get(validator)
    if (last === undefined) return true
    const spacing = divideFloor(Heartbeats.spacingOf(rules), LENIENCE)
    return commitIndex > last.commitIndex && leaderRound - last.leaderRound >= spacing
  }

  heartbeat({ validator, commitIndex }: Heartbeat, leaderRound: Round): void {
    this.#beats.delete(validator)
    const [stalest] = this.#beats.keys()
    if (this.#beats.size >= REMEMBERED && stalest !== undefined) this.#beats.delete(stalest)
    this.#beats.set(validator, { commitIndex, leaderRound })
  }

  /** Whether evidence is of use: an author is slashed once. Changes nothing. */
  wantsEvidence({ first: { epoch, author } }: Evidence): boolean {
    return this.#accused.get(epoch)?.has(author) !== true
  }

  /** For evidence that proves an equivocation of a member. */
  evidence({ first: { epoch, author } }: Evidence): void {
    this.#accused.set(epoch, (this.#accused.get(epoch) ?? new Set()).add(author))
  }

  /** Whether this node has room for one more signature of a member under a checkpoint. Changes nothing. */
  wantsSignature(member: Address, round: Round, rules: Rules): boolean {
    const madeUp = this.#signed.get(member) ?? 0
    return madeUp - round <= (SIGNATURES_AT_ONCE - 1) * roundsPerSignature(rules)
  }

  signature(member: Address, round: Round, rules: Rules): void {
    this.#signed.set(member, Math.max(round, this.#signed.get(member) ?? 0) + roundsPerSignature(rules))
  }

  /** An epoch has begun in this round: evidence of epochs before `oldest` counts no more. */
  forgetBefore(oldest: Epoch, round: Round): void {
    for (const epoch of this.#accused.keys()) if (epoch < oldest) this.#accused.delete(epoch)
    for (const [member, madeUp] of this.#signed) if (madeUp <= round) this.#signed.delete(member)
  }
}

/** A member signs one in each interval, and one at the close of an epoch. */
const roundsPerSignature = ({ checkpointIntervalRounds, epochRounds }: Rules): number =>
  Math.max(1, divideFloor(Math.min(checkpointIntervalRounds, epochRounds), LENIENCE))
