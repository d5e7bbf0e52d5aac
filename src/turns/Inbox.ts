/**
 * A list with one reader, which wakes when an item arrives. It is for items that arrive a hundred or more times a
 * second: reading a queue as a stream, or racing a wait against a clock, costs ten times as much each time.
 */
import { Effect } from "effect"

/** Items passed on before other fibers get their turn. */
const ITEMS_PER_TURN = 64
/** The longest delay that a timer supports. */
const MAX_DELAY_MS = 2 ** 31 - 1

export class Inbox<A> {
  #items: Array<A> = []
  #wake: () => void = () => {}

  push(item: A): void {
    this.#items.push(item)
    this.#wake()
  }

  /** Wakes the reader even though no item arrived. */
  wake(): void {
    this.#wake()
  }

  get length(): number {
    return this.#items.length
  }

  get isEmpty(): boolean {
    return this.#items.length === 0
  }

  take(limit: number): ReadonlyArray<A> {
    return this.#items.splice(0, limit)
  }

  /**
   * Waits until an item arrives. An interruption loses nothing: items wait in the list, not with the reader, and
   * waking a reader that has gone does nothing.
   */
  readonly arrival: Effect.Effect<void> = Effect.async<void>((resume) => {
    this.#wake = () => resume(Effect.void)
    if (!this.isEmpty) this.#wake()
  })

  /** Like `arrival`, but waits no longer than this. */
  arrivalWithin(milliseconds: number): Effect.Effect<void> {
    return Effect.async<void>((resume) => {
      const timer = setTimeout(() => resume(Effect.void), Math.min(milliseconds, MAX_DELAY_MS))
      this.#wake = () => {
        clearTimeout(timer)
        resume(Effect.void)
      }
      if (!this.isEmpty) this.#wake()
      return Effect.sync(() => clearTimeout(timer))
    })
  }

  /** Passes on every item, forever. If passing on an item fails, the rest wait for the next attempt. */
  readonly handOn = (take: (item: A) => void): Effect.Effect<never> =>
    Effect.forever(
      Effect.map(this.arrival, () => {
        for (let taken = 0; taken < ITEMS_PER_TURN && !this.isEmpty; taken++)
          for (const item of this.take(1)) take(item)
      }),
    )
}
