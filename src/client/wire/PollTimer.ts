/** Wakes who waits for news: when there are some, or after a while, which is longer as long as somebody listens for them. */
import * as Exchange from "./Exchange.js"

export class PollTimer {
  #isOpen = false
  #hasRung = false
  #wake: () => void = () => {}
  readonly #intervals: { readonly heard: number; readonly unheard: number }

  constructor(intervals: { readonly heard: number; readonly unheard: number }) {
    this.#intervals = intervals
  }

  /** From now on news ring. What came before was missed, so it rings once. */
  open(): void {
    this.#isOpen = true
    this.ring()
  }

  close(): void {
    this.#isOpen = false
  }

  ring(): void {
    this.#hasRung = true
    this.#wake()
  }

  /** Until it rings, at once if it did since the last wait. Rejects with the signal's reason. */
  async wait(signal: AbortSignal): Promise<void> {
    if (!this.#hasRung) {
      const { heard, unheard } = this.#intervals
      const over = new AbortController()
      this.#wake = () => over.abort()
      const sleeping = Exchange.sleep(this.#isOpen ? heard : unheard, AbortSignal.any([signal, over.signal]))
      await sleeping.catch(() => signal.throwIfAborted())
    }
    this.#hasRung = false
  }
}
