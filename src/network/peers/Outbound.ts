/** The messages queued on one lane, sent piece by piece as credit allows. */
import { HEAD_BYTES, KIND, PIECE_BYTES, PIECE_COST, writeHead } from "./Frame.js"

const NOTHING = new Uint8Array(0)

export class Outbound {
  readonly #held: (more: number) => void
  #messages: Array<Uint8Array> = []
  /** The first unfinished message, and how many of its bytes are sent. */
  #first = 0
  #sent = 0
  bytes = 0
  credit = 0
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

  /** The length of the next piece if the credit and `room` allow it; undefined if it must wait. */
  #next(room: number): number | undefined {
    const message = this.#messages[this.#first]
    if (message === undefined) return undefined
    const rest = message.length - this.#sent
    const length = Math.min(rest, PIECE_BYTES)
    // Sending a shorter part would only add a piece.
    return length + HEAD_BYTES <= room && length + PIECE_COST <= this.credit ? length : undefined
  }

  get canSend(): boolean {
    return this.#next(Number.POSITIVE_INFINITY) !== undefined
  }

  /** Writes the next frame if it fits; returns its length. */
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
