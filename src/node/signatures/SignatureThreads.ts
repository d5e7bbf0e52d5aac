/**
 * Checks signatures in other threads (`CheckingThreads`). A check takes 50 microseconds, during which this thread could
 * serve no request and run no round; handing it over takes a few. Batches are large enough to be worth the trip but not
 * much larger: a caller waiting for one check waits for its whole batch, and the thread for the last check to be
 * packed. Very few checks are done here. `SignatureLanes` decides the order, and `Deduplication` what need not be
 * checked again.
 *
 * Signatures are first checked by the strict rule. Its rejection is not final for a signature in a vertex, which is
 * then checked by the rule for vertices.
 */
import { availableParallelism } from "node:os"
import type { Worker } from "node:worker_threads"
import { Effect, Runtime, type Scope } from "effect"
import * as Threads from "#threads"
import type { Rate } from "../../network/Allowance.js"
import { type Check, VerifiedTransactions } from "../../protocol/transaction/Verification.js"
import * as Log from "../log/Log.js"
import { allOf, type Batch, resultsOf } from "./Batch.js"
import { CheckingThreads } from "./CheckingThreads.js"
import { Deduplication } from "./Deduplication.js"
import type { Owner } from "./FairQueue.js"
import { type Job, type Lane, whole } from "./Job.js"
import { SignatureLanes } from "./SignatureLanes.js"

const log = Log.for("node")

/** Up to this many are checked directly in this thread. */
const NOT_WORTH_THE_WAY = 3
/** This many are sent at once, without waiting for more in this turn of the event loop. */
const WORTH_THE_WAY = 16
const MOST_WORKERS = 4
/** Signatures of all strangers together: a quarter of a core. */
const STRANGERS: Rate = { burst: 10_000, perSecond: 5_000 }
const LOOK_MS = 20
const WARNED_EVERY_MS = 60_000
/**
 * Remembered signatures of verified transactions, of which at least the latest half is kept: as many as in four full
 * mempools of payments.
 */
const VERIFIED_SIGNATURES = 80_000

export interface Options {
  readonly most: number
  readonly strangers: Rate
  readonly start: () => Worker
  /** Known verified transactions; those verified here are added. */
  readonly verified: VerifiedTransactions
}

const standard = (): Options => ({
  most: Math.min(MOST_WORKERS, Math.max(1, availableParallelism() - 1)),
  strangers: STRANGERS,
  start: () => Threads.start("node/signatures/SignatureProgram"),
  verified: new VerifiedTransactions(VERIFIED_SIGNATURES),
})

/** Clients' transactions, which have their own limits and wait behind rounds. */
const DOOR: Lane = { owner: { peer: "the door", standing: "member" }, isUrgent: false }

export class SignatureThreads {
  readonly verified: VerifiedTransactions
  readonly #copies: Deduplication
  readonly #lanes: SignatureLanes
  readonly #threads: CheckingThreads
  readonly #warn: (error: unknown) => void
  #warnedAt = Number.NEGATIVE_INFINITY
  /** Jobs from this turn of the event loop. */
  #jobs: Array<Job> = []
  #gathered = 0
  #isLooking = false
  #isToGoOn = false
  #isEnded = false
  #checked = 0
  #waiting = 0

  private constructor({ most, strangers, start, verified }: Options, warn: (error: unknown) => void) {
    this.verified = verified
    this.#copies = new Deduplication(verified)
    this.#lanes = new SignatureLanes(strangers, this.#copies)
    this.#warn = warn
    this.#threads = new CheckingThreads(most, {
      start,
      // Feeds the thread before acting on its results.
      onAnswered: (batch, results) => {
        this.#give()
        this.#answered(batch, results)
      },
      onFault: (error) => this.#failed(error),
      onGone: (unanswered) => {
        for (const batch of unanswered) this.#answerHere(batch)
        this.#give()
      },
    })
  }

  /** Threads start on demand and end with the scope. */
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

  /** Signatures checked so far; one that is checked again by the rule for vertices counts twice. */
  get checked(): number {
    return this.#checked
  }

  get waiting(): number {
    return this.#waiting
  }

  /** 1 for each valid signature. */
  results(checks: ReadonlyArray<Check>): Effect.Effect<Uint8Array> {
    return Effect.async<Uint8Array>((resume) => this.check(checks, (results) => resume(Effect.succeed(results))))
  }

  /** `results` for callers without a fiber, and for checks that rounds wait for. */
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
   * Whether all of these are valid by ZIP-215: signatures in a vertex that the native verifier refused. Runs in this
   * thread only if another thread died of it. A caller gets no answer if the node ends.
   */
  checkByZip215(checks: ReadonlyArray<Check>, complete: (holds: boolean) => void, owner: Owner): void {
    if (checks.length === 0) {
      complete(true)
      return
    }
    this.#lanes.push({
      checks,
      results: new Uint8Array(checks.length),
      missing: checks.length,
      lane: { owner, isUrgent: false },
      isByZip215: true,
      complete: this.#counted(checks.length, (results) => {
        const holds = !results.includes(0)
        if (!holds) this.#lanes.chargeNo(owner)
        complete(holds)
      }),
    })
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

  #dispatch(): void {
    const jobs = this.#jobs
    const gathered = this.#gathered
    this.#jobs = []
    this.#gathered = 0
    // Strangers' work never runs on this thread, however small: everything else waits for it.
    const isOursAlone = jobs.every(
      ({ lane: { owner } }) => owner.standing !== "stranger" && owner.standing !== "relayed",
    )
    if (this.#isEnded || (isOursAlone && gathered <= NOT_WORTH_THE_WAY)) {
      for (const job of jobs) this.#answerHere(allOf(whole(job)))
      return
    }
    for (const job of jobs) this.#lanes.push(job)
    this.#give()
  }

  /** Also called when an ending thread has answered once more; it gets nothing then. */
  #give(): void {
    this.#lanes.renewLooks()
    while (!this.#isEnded && !this.#lanes.isEmpty) {
      const thread = this.#threads.free()
      if (thread === undefined) return
      const batch = this.#lanes.next()
      if (batch.length > 0) thread.give(batch)
      if (!this.#lanes.hasLooks) {
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

  #answered(batch: Batch, results: Uint8Array): void {
    this.#checked += batch.length
    batch.forEach((underWay, i) => {
      this.#copies.end(underWay, results[i] ?? 0)
    })
  }

  #answerHere(batch: Batch): void {
    this.#answered(batch, resultsOf(batch))
  }

  /**
   * The next batch starts another thread. If none can start, the main thread does all the work, slowly: hence the
   * warning.
   */
  #failed(error: unknown): void {
    const now = performance.now()
    if (now - this.#warnedAt < WARNED_EVERY_MS) return
    this.#warnedAt = now
    this.#warn(error)
  }

  async #end(): Promise<void> {
    this.#isEnded = true
    await this.#threads.end()
    // The node takes in no more vertices, so signatures left to the rule for vertices stay undecided.
    for (const piece of this.#lanes.drain()) this.#answerHere(allOf(piece))
  }
}
