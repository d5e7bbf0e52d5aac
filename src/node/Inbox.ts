/** A list with one reader, who is woken when something comes in. */
import { Effect } from "effect"

export class Inbox<A> {
  #items: Array<A> = []
  #wake: () => void = () => {}

  push(item: A): void {
    this.#items.push(item)
    this.#wake()
  }

  /** Lets the reader look around although nothing came in. */
  wake(): void {
    this.#wake()
  }

  get isEmpty(): boolean {
    return this.#items.length === 0
  }

  take(limit: number): ReadonlyArray<A> {
    return this.#items.splice(0, limit)
  }

  /**
   * Until something comes in. An interruption loses nothing: items wait in the list, not with the reader, and to wake one
   * who has gone does nothing.
   */
  readonly arrival: Effect.Effect<void> = Effect.async<void>((resume) => {
    this.#wake = () => resume(Effect.void)
    if (!this.isEmpty) resume(Effect.void)
  })
}
