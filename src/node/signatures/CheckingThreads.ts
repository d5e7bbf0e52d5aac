/** The threads that run `SignatureProgram`: the work of each, and the messages to and from it. They start on demand. */
import type { Worker } from "node:worker_threads"
import { type Batch, checksIn, costOf, isByZip215 } from "./Batch.js"
import * as CheckBatch from "./CheckBatch.js"
import type { Reply, Request } from "./SignatureProgram.js"

/** A thread with this much work gets no more: it does not run dry, and the rest can still be reordered here. */
const AHEAD = 128

interface Surroundings {
  readonly start: () => Worker
  readonly onAnswered: (batch: Batch, results: Uint8Array) => void
  readonly onFault: (error: unknown) => void
  /** Receives the batches it has not answered. */
  readonly onGone: (unanswered: ReadonlyArray<Batch>) => void
}

class Thread {
  readonly #worker: Worker
  readonly #waiting: Array<Batch> = []
  #load = 0

  constructor({ start, onAnswered, onFault, onGone }: Surroundings) {
    this.#worker = start()
    // It must not keep an otherwise idle process alive.
    this.#worker.unref()
    this.#worker.on("message", (results: Reply) => {
      const batch = this.#waiting.shift() ?? []
      this.#load -= costOf(batch)
      onAnswered(batch, results)
    })
    // The exit event follows and handles unanswered batches.
    this.#worker.on("error", onFault)
    this.#worker.on("exit", () => onGone(this.#waiting.splice(0)))
  }

  get load(): number {
    return this.#load
  }

  give(batch: Batch): void {
    const bytes = CheckBatch.pack(checksIn(batch))
    const request: Request = { count: batch.length, bytes, isByZip215: isByZip215(batch) }
    this.#waiting.push(batch)
    this.#load += costOf(batch)
    this.#worker.postMessage(request, [bytes])
  }

  end(): Promise<unknown> {
    return this.#worker.terminate()
  }
}

export class CheckingThreads {
  readonly #most: number
  readonly #around: Surroundings
  #threads: Array<Thread> = []

  constructor(most: number, surroundings: Surroundings) {
    this.#most = most
    this.#around = surroundings
  }

  /** The thread for the next batch, unless each has enough to do. */
  free(): Pick<Thread, "give"> | undefined {
    const thread = this.#leastLoaded()
    return thread.load < AHEAD ? thread : undefined
  }

  async end(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end()))
  }

  #leastLoaded(): Thread {
    const idlest = this.#threads.reduce<Thread | undefined>(
      (best, thread) => (best === undefined || thread.load < best.load ? thread : best),
      undefined,
    )
    const isEnough = idlest?.load === 0 || this.#threads.length >= this.#most
    return idlest !== undefined && isEnough ? idlest : this.#another()
  }

  #another(): Thread {
    const thread = new Thread({
      ...this.#around,
      onGone: (unanswered) => {
        this.#threads = this.#threads.filter((other) => other !== thread)
        this.#around.onGone(unanswered)
      },
    })
    this.#threads.push(thread)
    return thread
  }
}
