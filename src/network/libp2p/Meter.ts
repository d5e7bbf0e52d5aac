/**
 * What one peer may cost below the level of messages: bytes as they come, whole messages or not, and pieces. A piece is
 * anything that takes processor time for itself however few bytes it has: an encrypted record, a frame of the multiplexer,
 * a stream that is opened. A peer beyond its rates is not read for a while; one that stays beyond them floods.
 */
import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises"
import { Allowance, type Rate } from "../Allowance.js"
import type { Standing } from "../Standing.js"

export interface Rates {
  readonly pieces: Rate
  readonly bytes: Rate
}

const MIB = 1_048_576

/** A piece takes some ten microseconds. */
export const RATES: { readonly [standing in Standing]: Rates } = {
  stranger: { pieces: { burst: 1_000, perSecond: 1_000 }, bytes: { burst: 4 * MIB, perSecond: 4 * MIB } },
  named: { pieces: { burst: 20_000, perSecond: 5_000 }, bytes: { burst: 64 * MIB, perSecond: 32 * MIB } },
  member: { pieces: { burst: 20_000, perSecond: 5_000 }, bytes: { burst: 64 * MIB, perSecond: 32 * MIB } },
}

/** What all strangers have together, each its equal part: they are not to take a core, however many come. */
export const STRANGERS_TOGETHER = { pieces: 4_000, bytes: 4 * MIB }
/** Nobody's part is smaller, or honest ones could not even ask. */
const LEAST = { pieces: 32, bytes: 32_768 }

const among = (strangers: number, rate: Rate, together: number, least: number): Rate => {
  const part = Math.max(least, Math.floor(together / Math.max(1, strangers)))
  return { burst: rate.burst, perSecond: Math.min(rate.perSecond, part) }
}

/** The rates of a stranger that is one of so many. */
export const ratesAmong = (strangers: number): Rates => ({
  pieces: among(strangers, RATES.stranger.pieces, STRANGERS_TOGETHER.pieces, LEAST.pieces),
  bytes: among(strangers, RATES.stranger.bytes, STRANGERS_TOGETHER.bytes, LEAST.bytes),
})

/** Once it has to wait, it waits for as long as makes a few pieces at once possible: timers cost something too. */
const REST_MS = 50
/** Pieces of one connection before others have the thread. */
const PIECES_AT_ONCE = 128
/** Seconds' worth of pieces taken while beyond the rate, after which it is a flood. */
const FLOOD_SECONDS = 5
/** In a flood there is next to nothing in a piece. Who has as much to say as this is only slowed down. */
const WORTHY_BYTES = 64
/** What this node sends is acknowledged in a record and a frame. */
const PIECES_PER_FRAME_SENT = 2

export interface Around {
  /** Who the peer is now. */
  readonly standing: () => Standing
  /** The rates of strangers now. */
  readonly strangerRates: () => Rates
  /** It goes on and on beyond its rates. */
  readonly flooded: (what: string) => void
  readonly now: () => number
}

export class Meter {
  readonly #around: Around
  readonly #pieces: Allowance
  readonly #bytes: Allowance
  #sinceTurn = 0
  #beyond = 0
  #beyondBytes = 0
  #usedAt: number

  constructor(around: Around) {
    this.#around = around
    const { pieces, bytes } = this.#rates
    this.#usedAt = around.now()
    this.#pieces = new Allowance(pieces, this.#usedAt)
    this.#bytes = new Allowance(bytes, this.#usedAt)
  }

  readonly standing = (): Standing => this.#around.standing()

  get #rates(): Rates {
    const standing = this.#around.standing()
    return standing === "stranger" ? this.#around.strangerRates() : RATES[standing]
  }

  /** When something came last. */
  get usedAt(): number {
    return this.#usedAt
  }

  /** Something came; a promise when nothing more may be read before it is kept. */
  charge(pieces: number, bytes: number): Promise<unknown> | undefined {
    const now = this.#around.now()
    const rates = this.#rates
    this.#usedAt = now
    this.#pieces.change(rates.pieces, now)
    this.#bytes.change(rates.bytes, now)
    const piecesWaitMs = this.#pieces.take(pieces, now)
    const waitMs = Math.max(piecesWaitMs, this.#bytes.take(bytes, now))
    if (piecesWaitMs > 0) this.#judge(pieces, bytes)
    this.#sinceTurn += pieces
    if (waitMs > 0) {
      this.#sinceTurn = 0
      return sleep(waitMs + REST_MS, undefined, { ref: false })
    }
    if (this.#sinceTurn < PIECES_AT_ONCE) return undefined
    this.#sinceTurn = 0
    return turn()
  }

  /** A frame with content went out: its receipt is no flood. */
  sentFrame(): void {
    this.#pieces.earn(PIECES_PER_FRAME_SENT)
  }

  /** It was asked for an answer that may be as long as this. */
  asked(answerBytes: number): void {
    this.#bytes.earn(answerBytes)
  }

  /** By the full rate: that many others are here is no offence. */
  #judge(pieces: number, bytes: number): void {
    this.#beyond += pieces
    this.#beyondBytes += bytes
    if (this.#beyond < RATES[this.#around.standing()].pieces.perSecond * FLOOD_SECONDS) return
    const isFlood = this.#beyondBytes < this.#beyond * WORTHY_BYTES
    this.#beyond = 0
    this.#beyondBytes = 0
    if (isFlood) this.#around.flooded("more pieces than any node sends")
  }
}
