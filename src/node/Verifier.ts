/**
 * Signatures of what comes to the door, checked in other threads: here a signature costs 50 microseconds in which nobody
 * is served and no round goes on, there it costs this thread one. What comes within one turn of the event loop goes
 * together; a few are not worth the way.
 */
import { createRequire } from "node:module"
import { availableParallelism } from "node:os"
import { Worker } from "node:worker_threads"
import { Effect, type Scope } from "effect"
import { type Check, isValidAtDoor } from "../protocol/Verification.js"

/** So few are checked at once where they are. */
const NOT_WORTH_THE_WAY = 3
/** Signatures a message; more would only let the other threads wait. */
const BATCH = 128
const MOST_WORKERS = 4

const KEY_BYTES = 32
const SIGNATURE_BYTES = 64
const HEAD_BYTES = 4 + KEY_BYTES + SIGNATURE_BYTES

/** A text, so that one bundle, compiled modules and sources start the same thread. Its data is where the library lies. */
const PROGRAM = `
const { parentPort, workerData } = require("node:worker_threads")
const sodium = require(workerData)
parentPort.on("message", ({ count, bytes }) => {
  const view = new DataView(bytes)
  const verdicts = new Uint8Array(count)
  for (let i = 0, at = 0; i < count; i++) {
    const length = view.getUint32(at)
    const key = new Uint8Array(bytes, at + 4, ${KEY_BYTES})
    const signature = new Uint8Array(bytes, at + ${4 + KEY_BYTES}, ${SIGNATURE_BYTES})
    const message = new Uint8Array(bytes, at + ${HEAD_BYTES}, length)
    verdicts[i] = sodium.crypto_sign_verify_detached(signature, message, key) ? 1 : 0
    at += ${HEAD_BYTES} + length
  }
  parentPort.postMessage(verdicts, [verdicts.buffer])
})
`

/** What somebody waits for: whether all of these hold. */
interface Job {
  readonly checks: ReadonlyArray<Check>
  readonly settle: (holds: boolean) => void
}

const countOf = (jobs: ReadonlyArray<Job>): number => jobs.reduce((count, { checks }) => count + checks.length, 0)

const settleHere = (jobs: ReadonlyArray<Job>): void => {
  for (const { checks, settle } of jobs) settle(checks.every(isValidAtDoor))
}

const settleBy = (verdicts: Uint8Array, jobs: ReadonlyArray<Job>): void => {
  let at = 0
  for (const { checks, settle } of jobs) {
    const end = at + checks.length
    settle(verdicts.subarray(at, end).every((verdict) => verdict === 1))
    at = end
  }
}

const packed = (jobs: ReadonlyArray<Job>): ArrayBuffer => {
  const checks = jobs.flatMap((job) => job.checks)
  const bytes = new ArrayBuffer(checks.reduce((length, { message }) => length + HEAD_BYTES + message.length, 0))
  const target = Buffer.from(bytes)
  let at = 0
  for (const { message, publicKey, signature } of checks) {
    target.writeUInt32BE(message.length, at)
    target.write(publicKey, at + 4, "hex")
    target.write(signature, at + 4 + KEY_BYTES, "hex")
    target.set(message, at + HEAD_BYTES)
    at += HEAD_BYTES + message.length
  }
  return bytes
}

/** Jobs together hold at most a batch of checks, or are one. */
const batchesOf = (jobs: ReadonlyArray<Job>): ReadonlyArray<ReadonlyArray<Job>> => {
  const batches: Array<Array<Job>> = []
  let room = 0
  for (const job of jobs) {
    if (job.checks.length > room) {
      batches.push([])
      room = BATCH
    }
    batches.at(-1)?.push(job)
    room -= job.checks.length
  }
  return batches
}

/** A thread, and the batches that it has not answered yet: it answers in their order. */
class Thread {
  readonly #worker: Worker
  readonly #waiting: Array<ReadonlyArray<Job>> = []

  constructor(onGone: (thread: Thread) => void) {
    const library = createRequire(import.meta.url).resolve("sodium-native")
    this.#worker = new Worker(PROGRAM, { eval: true, workerData: library })
    // A node that has nothing else to do may end.
    this.#worker.unref()
    this.#worker.on("message", (verdicts: Uint8Array) => settleBy(verdicts, this.#waiting.shift() ?? []))
    // An error is followed by the exit, where what it has not answered is done.
    this.#worker.on("error", () => {})
    this.#worker.on("exit", () => {
      onGone(this)
      for (const jobs of this.#waiting.splice(0)) settleHere(jobs)
    })
  }

  get load(): number {
    return this.#waiting.length
  }

  give(jobs: ReadonlyArray<Job>): void {
    this.#waiting.push(jobs)
    const bytes = packed(jobs)
    this.#worker.postMessage({ count: countOf(jobs), bytes }, [bytes])
  }

  end(): Promise<unknown> {
    return this.#worker.terminate()
  }
}

export class Verifier {
  readonly #most: number
  #jobs: Array<Job> = []
  #threads: Array<Thread> = []

  private constructor(most: number) {
    this.#most = most
  }

  /** Threads start when there is first something for them to do, and end with the scope. */
  static make(
    most = Math.min(MOST_WORKERS, Math.max(1, availableParallelism() - 1)),
  ): Effect.Effect<Verifier, never, Scope.Scope> {
    return Effect.acquireRelease(
      Effect.sync(() => new Verifier(most)),
      (verifier) => Effect.promise(() => verifier.#end()),
    )
  }

  /** Whether every one of these holds, by the rule for the door. */
  areValid(checks: ReadonlyArray<Check>): Effect.Effect<boolean> {
    return Effect.async<boolean>((resume) => {
      this.#jobs.push({ checks, settle: (holds) => resume(Effect.succeed(holds)) })
      if (this.#jobs.length === 1) setImmediate(() => this.#dispatch())
    })
  }

  #dispatch(): void {
    const jobs = this.#jobs
    this.#jobs = []
    if (countOf(jobs) <= NOT_WORTH_THE_WAY) settleHere(jobs)
    else for (const batch of batchesOf(jobs)) this.#leastLoaded().give(batch)
  }

  #leastLoaded(): Thread {
    const idlest = this.#threads.reduce<Thread | undefined>(
      (best, thread) => (best === undefined || thread.load < best.load ? thread : best),
      undefined,
    )
    if (idlest !== undefined && (idlest.load === 0 || this.#threads.length >= this.#most)) return idlest
    const thread = new Thread((gone) => {
      this.#threads = this.#threads.filter((other) => other !== gone)
    })
    this.#threads.push(thread)
    return thread
  }

  async #end(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end()))
  }
}
