/**
 * Handles the items of several requests together if they arrive within one turn of the event loop, so that sixteen
 * requests cost one fiber. Each request gets the result that it would have got alone.
 */
import { type Effect, Exit } from "effect"
import type { Run } from "../../effect3/fibers/Run.js"

export interface Options<A, B, E> {
  /** Returns one result for each item, in order. */
  readonly handle: (items: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, E>
  readonly run: Run
}

/** The items of one request. */
interface Request<A, B, E> {
  readonly items: ReadonlyArray<A>
  /** Called once. Must not throw. */
  readonly done: (results: Exit.Exit<ReadonlyArray<B>, E>) => void
}

/** A larger batch would delay other requests and leave signature threads idle until all items are read. */
const FULL_BATCH = 16

export class Batcher<A, B, E> {
  readonly #options: Options<A, B, E>
  #waiting: Array<Request<A, B, E>> = []
  #count = 0

  constructor(options: Options<A, B, E>) {
    this.#options = options
  }

  add(items: ReadonlyArray<A>, done: Request<A, B, E>["done"]): void {
    if (items.length === 0) {
      done(Exit.succeed([]))
      return
    }
    if (this.#waiting.length === 0) setImmediate(() => this.#flush())
    this.#waiting.push({ items, done })
    this.#count += items.length
    if (this.#count >= FULL_BATCH) this.#flush()
  }

  #flush(): void {
    const requests = this.#waiting
    this.#waiting = []
    this.#count = 0
    if (requests.length > 0) this.#handle(requests)
  }

  #handle(requests: ReadonlyArray<Request<A, B, E>>): void {
    const { handle, run } = this.#options
    const done = (exit: Exit.Exit<ReadonlyArray<B>, E>): void => {
      // One request's failure must not affect the others.
      if (Exit.isFailure(exit) && requests.length > 1) for (const request of requests) this.#handle([request])
      else share(requests, exit)
    }
    let effect: Effect.Effect<ReadonlyArray<B>, E>
    try {
      effect = handle(requests.flatMap(({ items }) => items))
    } catch (defect) {
      // No caller can answer here, because this runs in its own turn, for several requests.
      done(Exit.die(defect))
      return
    }
    run(effect, done)
  }
}

/** Gives each request its results. */
const share = <A, B, E>(requests: ReadonlyArray<Request<A, B, E>>, exit: Exit.Exit<ReadonlyArray<B>, E>): void => {
  let end = 0
  for (const { items, done } of requests) {
    const start = end
    end += items.length
    done(part(exit, start, end))
  }
}

const part = <B, E>(exit: Exit.Exit<ReadonlyArray<B>, E>, start: number, end: number): typeof exit => {
  try {
    return Exit.map(exit, (results) => results.slice(start, end))
  } catch (defect) {
    // A faulty handler can return something that throws when it is read.
    return Exit.die(defect)
  }
}
