/** Wakes a waiting call on news or after an interval, which is longer while a stream delivers news. */
import * as Exchange from "./Exchange.js"

export class PollTimer {
  #isOpen = false
  #hasRung = false
  #wake: () => void = () => {}
  readonly #intervals: { readonly heard: number; readonly unheard: number }

  constructor(intervals: { readonly heard: number; readonly unheard: number }) {
    this.#intervals = intervals
  }

  /** A stream has started. Earlier news was missed, so it rings once. */
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

  /** Resolves when it rings, at once if it rang since the last wait. Rejects with the signal's reason. */
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
