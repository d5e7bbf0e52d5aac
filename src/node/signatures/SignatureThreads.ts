/**
 * Checks signatures in other threads, whose program is `SignatureProgram`: one takes 50 microseconds, during which this
 * thread could serve no request and run no round; handed over, it costs this thread a few. They go in batches large
 * enough to be worth the trip but not much larger: a caller that waits for one check waits for its whole batch, and the
 * thread for the last of them to be read. Very small numbers are checked here.
 *
 * Checks that rounds wait for go before those that may wait: a thousand transactions must not delay a vertex. In both
 * lanes peers have fair turns, each piece at the price of its signatures, and strangers' checks are limited in total: a
 * valid signature costs its maker no points, and takes processor time that rounds need.
 *
 * The first judgement is by the door's rule: for a signature in a vertex its no is not final. A refused one is judged
 * again by the rule for vertices, in a lane of its own, because that takes five times as long, and thirty times for a
 * false one.
 *
 * A transaction may wait here several times, for it comes from a client, from gossip and in copies of a vertex. It is
 * checked in the first turn that it gets, and the others take its result.
 */
import { availableParallelism } from "node:os"
import type { Worker } from "node:worker_threads"
import { Effect, Runtime, type Scope } from "effect"
import * as Threads from "#threads"
import { Allowance, type Rate } from "../../network/Allowance.js"
import type { Signature } from "../../protocol/identity/Keys.js"
import { type Check, isStrictlyValid, isValid, VerifiedTransactions } from "../../protocol/transaction/Verification.js"
import * as Log from "../log/Log.js"
import * as CheckBatch from "./CheckBatch.js"
import { FairQueue, type Owner } from "./FairQueue.js"
import type { Reply, Request } from "./SignatureProgram.js"

const log = Log.for("node")

/** At most this many are checked at once in this thread. */
const NOT_WORTH_THE_WAY = 3
/** This many are sent at once, without waiting for more within this turn of the event loop. */
const WORTH_THE_WAY = 16
/** Signatures per batch; more would only make the other threads wait. */
const BATCH = 32
const MOST_WORKERS = 4
/** A thread with this much work gets no more: it does not run dry, and the rest can still be overtaken here. */
const AHEAD = 128
/** Urgent batches in a row before the others have a turn. */
const URGENT_IN_A_ROW = 3
/** Signatures of all strangers together: a quarter of one core. */
const STRANGERS: Rate = { burst: 10_000, perSecond: 5_000 }
/** The cost of the rule for vertices, in native checks: about 0.3 ms for a yes, and 1.8 ms more for a no. */
const COST_OF_YES = 5
const COST_OF_NO = 25
/** How soon to check again whether strangers may have a turn. */
const LOOK_MS = 20
/**
 * Finding that a check is a copy of another takes this thread about a sixteenth of what the check takes one of the others,
 * and is charged as that. This many are looked at before everything else here has its turn: a few milliseconds.
 */
const LOOKED_AT = 1_024
const COPIES_PER_CHECK = 16
const WARNED_EVERY_MS = 60_000
/** Signatures of verified transactions; at least half are remembered, the latest ones: as in four full mempools of payments. */
const VERIFIED_SIGNATURES = 80_000

export interface Options {
  /** Threads. */
  readonly most: number
  /** Limit for all strangers together. */
  readonly strangers: Rate
  readonly start: () => Worker
  /** Those known so far; what is verified here is added. */
  readonly verified: VerifiedTransactions
}

const standard = (): Options => ({
  most: Math.min(MOST_WORKERS, Math.max(1, availableParallelism() - 1)),
  strangers: STRANGERS,
  start: () => Threads.start("node/signatures/SignatureProgram"),
  verified: new VerifiedTransactions(VERIFIED_SIGNATURES),
})

export interface Lane {
  readonly owner: Owner
  /** Whether a round waits for it. */
  readonly isUrgent: boolean
}

/** Clients' transactions: the door has its own limits, and waits behind rounds. */
const DOOR: Lane = { owner: { peer: "the door", standing: "member" }, isUrgent: false }

/** A caller's request: which of these checks hold. */
interface Job {
  readonly checks: ReadonlyArray<Check>
  /** 1 for each valid one, filled in as the answers come. */
  readonly results: Uint8Array
  /** Results still to come; also 0 once a no has decided by the rule for vertices. */
  missing: number
  readonly lane: Lane
  readonly isByZip215: boolean
  readonly complete: (results: Uint8Array) => void
}

/** A job's checks from one index up to another: large jobs are spread over the threads. */
interface Piece {
  readonly job: Job
  readonly from: number
  readonly to: number
}

/** One check of a job, at its place there. */
interface Place {
  readonly job: Job
  readonly at: number
}

/** A check that a thread has, and the places that wait for the same one. */
interface UnderWay extends Place {
  readonly others: Array<Place>
}

type Batch = ReadonlyArray<UnderWay>

const allOf = ({ job, from, to }: Piece): Batch =>
  Array.from({ length: to - from }, (_, i) => ({ job, at: from + i, others: [] }))

const countOf = (pieces: ReadonlyArray<Piece>): number => pieces.reduce((count, { from, to }) => count + to - from, 0)

const isByZip215 = (batch: Batch): boolean => batch[0]?.job.isByZip215 ?? false

/** In native checks. */
const costOf = (batch: Batch): number => batch.length * (isByZip215(batch) ? COST_OF_YES : 1)

const checksIn = (batch: Batch): ReadonlyArray<Check> => batch.flatMap(({ job, at }) => job.checks[at] ?? [])

const answerOf = (check: Check, byZip215: boolean): number =>
  (byZip215 ? isValid(check) : isStrictlyValid(check)) ? 1 : 0

/** Fills in one of a job's results. */
const settle = ({ job, at }: Place, result: number): void => {
  if (job.missing === 0) return
  job.results[at] = result
  const isDecided = job.isByZip215 && result === 0
  job.missing = isDecided ? 0 : job.missing - 1
  if (job.missing === 0) job.complete(job.results)
}

interface Surroundings {
  readonly start: () => Worker
  readonly onAnswered: (batch: Batch, results: Uint8Array) => void
  readonly onFault: (error: unknown) => void
  /** With the batches that it has not answered. */
  readonly onGone: (thread: Thread, unanswered: ReadonlyArray<Batch>) => void
}

/** A thread, and the batches that it has not answered yet, in order. */
class Thread {
  readonly #worker: Worker
  readonly #waiting: Array<Batch> = []
  /** Its unanswered work, in native checks. */
  load = 0

  constructor({ start, onAnswered, onFault, onGone }: Surroundings) {
    this.#worker = start()
    // It must not keep an otherwise idle process alive.
    this.#worker.unref()
    this.#worker.on("message", (results: Reply) => {
      const batch = this.#waiting.shift() ?? []
      this.load -= costOf(batch)
      onAnswered(batch, results)
    })
    // The exit event follows, and its handler deals with unanswered batches.
    this.#worker.on("error", onFault)
    this.#worker.on("exit", () => onGone(this, this.#waiting.splice(0)))
  }

  give(batch: Batch): void {
    const bytes = CheckBatch.pack(checksIn(batch))
    const request: Request = { count: batch.length, bytes, isByZip215: isByZip215(batch) }
    this.#waiting.push(batch)
    this.load += costOf(batch)
    this.#worker.postMessage(request, [bytes])
  }

  end(): Promise<unknown> {
    return this.#worker.terminate()
  }
}

export class SignatureThreads {
  readonly #most: number
  #jobs: Array<Job> = []
  /** The number of checks in them. */
  #gathered = 0
  /** Checks that no thread has yet. */
  readonly #urgent = new FairQueue<Piece>()
  readonly #others = new FairQueue<Piece>()
  /** Checks by the rule for vertices. */
  readonly #doubted = new FairQueue<Piece>()
  readonly #strangers: Allowance
  #isLooking = false
  #isToGoOn = false
  /** Checks that may be looked at before everything else in this thread has its turn. */
  #looks = LOOKED_AT
  /** Checks of transactions that a thread has, by signature. */
  readonly #underWay = new Map<Signature, UnderWay>()
  #threads: Array<Thread> = []
  #urgentInARow = 0
  #isTurnOfDoubted = false
  #isEnded = false
  #checked = 0
  #waiting = 0

  readonly #start: () => Worker
  readonly #warn: (error: unknown) => void
  readonly verified: VerifiedTransactions
  #warnedAt = Number.NEGATIVE_INFINITY

  private constructor({ most, strangers, start, verified }: Options, warn: (error: unknown) => void) {
    this.#most = most
    this.#start = start
    this.#warn = warn
    this.verified = verified
    this.#strangers = new Allowance(strangers, performance.now())
  }

  /** Threads start when there is first something for them to do, and end with the scope. */
  static make(options: Partial<Options> = {}): Effect.Effect<SignatureThreads, never, Scope.Scope> {
    return Effect.acquireRelease(
      Effect.map(Effect.runtime<never>(), (runtime) => {
        const warn = (error: unknown): void => {
          Runtime.runFork(runtime)(log.error("a thread that checks signatures has failed", { error: String(error) }))
        }
        return new SignatureThreads({ ...standard(), ...options }, warn)
      }),
      (threads) => Effect.promise(() => threads.#end()),
    )
  }

  /** Signatures checked so far; one that the rule for vertices judges again counts twice. */
  get checked(): number {
    return this.#checked
  }

  /** Signatures without a verdict yet. */
  get waiting(): number {
    return this.#waiting
  }

  /** 1 for each valid signature. */
  results(checks: ReadonlyArray<Check>): Effect.Effect<Uint8Array> {
    return Effect.async<Uint8Array>((resume) => this.check(checks, (results) => resume(Effect.succeed(results))))
  }

  /** The same for callers without a fiber, and for those that rounds wait for. */
  check(checks: ReadonlyArray<Check>, complete: (results: Uint8Array) => void, lane: Lane = DOOR): void {
    const results = new Uint8Array(checks.length)
    if (checks.length === 0) {
      complete(results)
      return
    }
    const counted = this.#counted(checks.length, complete)
    this.#jobs.push({ checks, results, missing: checks.length, lane, isByZip215: false, complete: counted })
    this.#gathered += checks.length
    if (this.#gathered >= WORTH_THE_WAY) queueMicrotask(() => this.#dispatch())
    else if (this.#jobs.length === 1) setImmediate(() => this.#dispatch())
  }

  /**
   * Whether all of these hold by ZIP-215: signatures in a vertex that the native verifier refused. Not checked in this
   * thread unless another has died of it. A caller gets no answer if the node ends.
   */
  checkByZip215(checks: ReadonlyArray<Check>, complete: (holds: boolean) => void, owner: Owner): void {
    if (checks.length === 0) {
      complete(true)
      return
    }
    const job: Job = {
      checks,
      results: new Uint8Array(checks.length),
      missing: checks.length,
      lane: { owner, isUrgent: false },
      isByZip215: true,
      complete: this.#counted(checks.length, (results) => {
        const holds = !results.includes(0)
        if (!holds) this.#doubted.charge(owner, COST_OF_NO)
        complete(holds)
      }),
    }
    this.#doubted.push(owner, { job, from: 0, to: checks.length })
    this.#give()
  }

  /** Counts a job while it waits and when it is done. */
  #counted(checks: number, complete: Job["complete"]): Job["complete"] {
    this.#waiting += checks
    return (results) => {
      this.#waiting -= checks
      complete(results)
    }
  }

  #answered(batch: Batch, results: Uint8Array): void {
    this.#checked += batch.length
    for (const [i, underWay] of batch.entries()) this.#answer(underWay, results[i] ?? 0)
  }

  #answerHere(batch: Batch): void {
    const byZip215 = isByZip215(batch)
    this.#answered(
      batch,
      Uint8Array.from(checksIn(batch), (check) => answerOf(check, byZip215)),
    )
  }

  #answer(underWay: UnderWay, result: number): void {
    const { job, at, others } = underWay
    const signature = job.checks[at]?.signature
    if (signature !== undefined && this.#underWay.get(signature) === underWay) this.#underWay.delete(signature)
    settle(underWay, result)
    if (result === 1 && !job.isByZip215) this.#remember(underWay)
    for (const other of others) settle(other, result)
  }

  /** Remembers the transaction that this check belongs to, once each of its signatures holds. They lie side by side. */
  #remember({ job: { checks, results }, at }: Place): void {
    const transaction = checks[at]?.transaction
    if (transaction === undefined) return
    let first = at
    while (checks[first - 1]?.transaction === transaction) first--
    for (let i = first; checks[i]?.transaction === transaction; i++) if (results[i] !== 1) return
    this.verified.add(transaction)
  }

  /** Puts the check at this place into a batch, unless it is verified, or under way already. */
  #begin(place: Place, batch: Array<UnderWay>): void {
    const check = place.job.checks[place.at]
    if (check?.transaction === undefined) {
      batch.push({ ...place, others: [] })
      return
    }
    if (this.verified.has(check.transaction)) {
      settle(place, 1)
      return
    }
    const same = this.#underWay.get(check.signature)
    const { transaction, publicKey } = same?.job.checks[same.at] ?? {}
    if (same !== undefined && transaction?.id === check.transaction.id && publicKey === check.publicKey) {
      same.others.push(place)
      return
    }
    const underWay = { ...place, others: [] }
    this.#underWay.set(check.signature, underWay)
    batch.push(underWay)
  }

  #dispatch(): void {
    const jobs = this.#jobs
    this.#jobs = []
    this.#gathered = 0
    const pieces = jobs.map((job): Piece => ({ job, from: 0, to: job.checks.length }))
    // Strangers' checks never run here, not even a few: everything else waits for this thread.
    const isOursAlone = jobs.every(({ lane }) => lane.owner.standing !== "stranger")
    if (this.#isEnded || (isOursAlone && countOf(pieces) <= NOT_WORTH_THE_WAY)) {
      for (const piece of pieces) this.#answerHere(allOf(piece))
      return
    }
    for (const piece of pieces) {
      const { owner, isUrgent } = piece.job.lane
      const lane = isUrgent ? this.#urgent : this.#others
      lane.push(owner, piece)
    }
    this.#give()
  }

  /** Called even when a thread that is ending has answered once more; it gets nothing then. */
  #give(): void {
    this.#looks = LOOKED_AT
    while (!this.#isEnded && this.#urgent.size + this.#others.size + this.#doubted.size > 0) {
      const thread = this.#leastLoaded()
      if (thread.load >= AHEAD) return
      const batch = this.#next()
      if (batch.length > 0) thread.give(batch)
      if (this.#looks === 0) {
        this.#goOn()
        return
      }
      if (batch.length === 0) {
        this.#lookLater()
        return
      }
    }
  }

  #goOn(): void {
    if (this.#isToGoOn) return
    this.#isToGoOn = true
    setImmediate(() => {
      this.#isToGoOn = false
      this.#give()
    })
  }

  #lookLater(): void {
    if (this.#isLooking) return
    this.#isLooking = true
    setTimeout(() => {
      this.#isLooking = false
      this.#give()
    }, LOOK_MS).unref()
  }

  /** While all three lanes are busy, urgent checks get three quarters, and the others an eighth each. */
  #next(): Batch {
    const isTheirTurn = this.#urgentInARow >= URGENT_IN_A_ROW && this.#others.size + this.#doubted.size > 0
    const urgent = isTheirTurn ? [] : this.#batchOf(this.#urgent)
    this.#urgentInARow = urgent.length === 0 ? 0 : this.#urgentInARow + 1
    if (urgent.length > 0) return urgent
    const patient = this.#nextPatient()
    return patient.length > 0 ? patient : this.#batchOf(this.#urgent)
  }

  #nextPatient(): Batch {
    this.#isTurnOfDoubted = !this.#isTurnOfDoubted
    const doubted = this.#isTurnOfDoubted ? this.#batchOfDoubted() : []
    if (doubted.length > 0) return doubted
    const others = this.#batchOf(this.#others)
    return others.length > 0 || this.#isTurnOfDoubted ? others : this.#batchOfDoubted()
  }

  /** Checks of one job, so that a no ends the batch, and at most a batch in time. Drops jobs that a no has decided. */
  #batchOfDoubted(): Batch {
    for (let next = this.#doubted.next(); next !== undefined; next = this.#doubted.next()) {
      const { owner, item } = next
      if (item.job.missing === 0) continue
      const to = Math.min(item.to, item.from + Math.ceil(BATCH / COST_OF_YES))
      if (to < item.to) this.#doubted.pushFirst(owner, { ...item, from: to })
      this.#doubted.charge(owner, (to - item.from) * COST_OF_YES)
      return allOf({ ...item, to })
    }
    return []
  }

  /** As many as fit into one batch, which may be part of a large job. */
  #batchOf(lane: FairQueue<Piece>): Batch {
    const batch: Array<UnderWay> = []
    const now = performance.now()
    const strangersMay = this.#strangers.take(0, now) === 0
    const mayHave = ({ standing }: Owner): boolean => strangersMay || standing !== "stranger"
    while (batch.length < BATCH && this.#looks > 0) {
      const next = lane.next(mayHave)
      if (next === undefined) break
      const { owner, item } = next
      const before = batch.length
      let at = item.from
      for (; at < item.to && batch.length < BATCH && this.#looks > 0; at++, this.#looks--) {
        this.#begin({ job: item.job, at }, batch)
      }
      if (at < item.to) lane.pushFirst(owner, { ...item, from: at })
      const begun = batch.length - before
      const cost = begun + (at - item.from - begun) / COPIES_PER_CHECK
      lane.charge(owner, cost)
      if (owner.standing === "stranger") this.#strangers.take(cost, now)
    }
    return batch
  }

  #leastLoaded(): Thread {
    const idlest = this.#threads.reduce<Thread | undefined>(
      (best, thread) => (best === undefined || thread.load < best.load ? thread : best),
      undefined,
    )
    if (idlest !== undefined && (idlest.load === 0 || this.#threads.length >= this.#most)) return idlest
    const thread = new Thread({
      start: this.#start,
      // The thread goes on before anybody acts on what it said.
      onAnswered: (batch, results) => {
        this.#give()
        this.#answered(batch, results)
      },
      onFault: (error) => this.#failed(error),
      onGone: (gone, unanswered) => {
        this.#threads = this.#threads.filter((other) => other !== gone)
        for (const batch of unanswered) this.#answerHere(batch)
        this.#give()
      },
    })
    this.#threads.push(thread)
    return thread
  }

  /** The next batch starts another thread. If none can start, the main thread does all the work, slowly: hence the warning. */
  #failed(error: unknown): void {
    const now = performance.now()
    if (now - this.#warnedAt < WARNED_EVERY_MS) return
    this.#warnedAt = now
    this.#warn(error)
  }

  async #end(): Promise<void> {
    this.#isEnded = true
    await Promise.all(this.#threads.map((thread) => thread.end()))
    // The node takes in no more vertices, so their doubted signatures stay undecided.
    for (const lane of [this.#urgent, this.#others]) {
      for (let next = lane.next(); next !== undefined; next = lane.next()) this.#answerHere(allOf(next.item))
    }
  }
}
