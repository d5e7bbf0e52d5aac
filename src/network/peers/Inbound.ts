/** Receives one lane of a connection: joins pieces into messages. */
import { PIECE_COST, Violation } from "./Frame.js"

/** Takes a message. Returns a promise if the next message of the lane must wait for it. */
export type Take = (message: Uint8Array) => Promise<unknown> | undefined

/** A piece that outlives its buffer, copied unless it makes up most of the buffer. */
const kept = (piece: Uint8Array): Uint8Array =>
  piece.length * 2 > piece.buffer.byteLength ? piece : new Uint8Array(piece)

interface Receiving {
  readonly window: number
  readonly limit: number
  readonly take: Take
  readonly now: () => number
  /** Enough credit is owed to grant it. */
  readonly granted: () => void
  readonly failed: (error: unknown) => void
  readonly held: (more: number) => void
}

export class Inbound {
  readonly limit: number
  readonly window: number
  readonly #take: Take
  readonly #now: () => number
  readonly #granted: () => void
  readonly #failed: (error: unknown) => void
  readonly #counted: (more: number) => void
  /** Credit left to the other side. */
  left: number
  /** Bytes taken in whose credit has not been granted again. */
  owed = 0
  /** Pieces that wait while the lane is paused, each with whether it ends its message. */
  #held: Array<{ readonly piece: Uint8Array; readonly isLast: boolean }> = []
  #parts: Array<Uint8Array> = []
  #bytes = 0
  #isHeld = false
  #begunAt: number | null = null

  constructor({ window, limit, take, now, granted, failed, held }: Receiving) {
    this.window = window
    this.limit = limit
    this.left = window
    this.#take = take
    this.#now = now
    this.#granted = granted
    this.#failed = failed
    this.#counted = held
  }

  /** How long this node has waited for the rest of a message. Delays by a slow reader on this side do not count. */
  get waitingMs(): number {
    return this.#begunAt === null || this.#isHeld ? 0 : this.#now() - this.#begunAt
  }

  add(piece: Uint8Array, isLast: boolean): void {
    this.left -= piece.length + PIECE_COST
    if (this.left < 0) throw new Violation("more data than the granted credit")
    if (!this.#isHeld) {
      this.#accept(piece, isLast)
      return
    }
    this.#held.push({ piece: kept(piece), isLast })
    this.#counted(piece.length + PIECE_COST)
  }

  #accept(piece: Uint8Array, isLast: boolean): void {
    this.owed += piece.length + PIECE_COST
    if (4 * this.owed >= this.window) this.#granted()
    this.#bytes += piece.length
    if (this.#bytes > this.limit) {
      throw new Violation(`a message of ${this.#bytes} bytes, at most ${this.limit} allowed`, "oversize")
    }
    if (!isLast) {
      if (piece.length === 0) throw new Violation("an empty part of a message")
      this.#parts.push(kept(piece))
      this.#counted(piece.length)
      this.#begunAt ??= this.#now()
      return
    }
    const message = this.#parts.length === 0 ? kept(piece) : this.#joined(piece)
    this.#bytes = 0
    this.#begunAt = null
    const wait = this.#take(message)
    if (wait !== undefined) this.#hold(wait)
  }

  #joined(last: Uint8Array): Uint8Array {
    const message = new Uint8Array(this.#bytes)
    let at = 0
    for (const part of this.#parts) {
      message.set(part, at)
      at += part.length
    }
    message.set(last, at)
    this.#parts = []
    this.#counted(last.length - message.length)
    return message
  }

  #hold(wait: Promise<unknown>): void {
    this.#isHeld = true
    const goOn = () => {
      this.#isHeld = false
      let at = 0
      for (let next = this.#held[0]; next !== undefined && !this.#isHeld; next = this.#held[++at]) {
        this.#counted(-next.piece.length - PIECE_COST)
        this.#accept(next.piece, next.isLast)
      }
      this.#held.splice(0, at)
    }
    wait.then(goOn).catch(this.#failed)
  }
}
