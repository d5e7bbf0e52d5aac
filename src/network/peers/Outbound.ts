/** The messages that wait on one lane, sent piece by piece as far as there is credit. */
import { HEAD_BYTES, KIND, PIECE_BYTES, PIECE_COST, writeHead } from "./Frame.js"

const NOTHING = new Uint8Array(0)

export class Outbound {
  readonly #held: (more: number) => void
  #messages: Array<Uint8Array> = []
  /** The first message that is not sent, and how much of it is. */
  #first = 0
  #sent = 0
  bytes = 0
  credit = 0
  /** Since when nothing was sent although something waits. */
  waitsSince: number | null = null

  constructor(held: (more: number) => void) {
    this.#held = held
  }

  push(message: Uint8Array): void {
    this.#messages.push(message)
    this.#hold(message.length)
  }

  #hold(more: number): void {
    this.bytes += more
    this.#held(more)
  }

  get isEmpty(): boolean {
    return this.#first === this.#messages.length
  }

  /** How long the next piece is, if there is credit for it within `room`; undefined if it must wait. */
  #next(room: number): number | undefined {
    const message = this.#messages[this.#first]
    if (message === undefined) return undefined
    const rest = message.length - this.#sent
    const length = Math.min(rest, PIECE_BYTES)
    // A part that is shorter than it must be would only be one more piece.
    return length + HEAD_BYTES <= room && length + PIECE_COST <= this.credit ? length : undefined
  }

  get canSend(): boolean {
    return this.#next(Number.POSITIVE_INFINITY) !== undefined
  }

  /** Writes the next frame there, if it fits; returns how many bytes that are. */
  take(target: Uint8Array, at: number, end: number, lane: number): number {
    const length = this.#next(end - at)
    const message = this.#messages[this.#first]
    if (length === undefined || message === undefined) return 0
    const isLast = this.#sent + length === message.length
    writeHead(target, at, isLast ? KIND.last : KIND.part, lane, length)
    const isWhole = length === message.length
    target.set(isWhole ? message : message.subarray(this.#sent, this.#sent + length), at + HEAD_BYTES)
    this.#sent += length
    if (isLast) this.#forget()
    this.#hold(-length)
    this.credit -= length + PIECE_COST
    return HEAD_BYTES + length
  }

  #forget(): void {
    this.#messages[this.#first] = NOTHING
    this.#first++
    this.#sent = 0
    if (this.#first === this.#messages.length) {
      this.#messages = []
      this.#first = 0
    } else if (this.#first >= 1_024 && 2 * this.#first >= this.#messages.length) {
      this.#messages = this.#messages.slice(this.#first)
      this.#first = 0
    }
  }

  clear(): void {
    this.#messages = []
    this.#first = 0
    this.#sent = 0
    this.#hold(-this.bytes)
    this.waitsSince = null
  }
}
