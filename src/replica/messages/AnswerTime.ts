/**
 * How long to wait for one large answer before the next peer is asked for the same. It follows the time that such
 * answers really take, since receiving and checking one can take longer than a patience: on a busy machine or a slow
 * link, further copies would only delay each other. Silence, which liars can cause as well, extends it only a little.
 */

/** After silence, in patiences. */
const MOST_FOR_SILENCE = 4

/** Unless one patience is longer. */
const MOST_MS = 8_000

export class AnswerTime {
  readonly #patienceMs: number
  #ms: number

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs
    this.#ms = patienceMs
  }

  get ms(): number {
    return this.#ms
  }

  /** Nobody answered in this time. */
  silence(): void {
    this.#ms = Math.max(this.#ms, this.#bounded(Math.min(2 * this.#ms, MOST_FOR_SILENCE * this.#patienceMs)))
  }

  /** A large answer took this long. At most halves the time at once. */
  took(ms: number): void {
    this.#ms = this.#bounded(Math.max(2 * ms, this.#ms >> 1))
  }

  #bounded(ms: number): number {
    return Math.max(this.#patienceMs, Math.min(MOST_MS, ms))
  }
}
