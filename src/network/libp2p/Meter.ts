/**
 * What one peer may cost below the level of messages: bytes as they come, whole messages or not, and pieces. A piece is
 * anything that takes processor time for itself however few bytes it has: an encrypted record, a frame of the multiplexer,
 * a stream that is opened. A peer beyond its rates is not read for a while; one that stays beyond them floods.
 */
import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises"
import { Allowance, type Rate } from "../Allowance.js"
import type { Standing } from "../Standing.js"

interface Rates {
  readonly pieces: Rate
  readonly bytes: Rate
}

const MIB = 1_048_576

/** A piece takes about ten microseconds, so that a stranger gets one hundredth of a core. */
export const RATES: { readonly [standing in Standing]: Rates } = {
  stranger: { pieces: { burst: 2_000, perSecond: 1_000 }, bytes: { burst: 32 * MIB, perSecond: 4 * MIB } },
  named: { pieces: { burst: 20_000, perSecond: 5_000 }, bytes: { burst: 64 * MIB, perSecond: 32 * MIB } },
  member: { pieces: { burst: 20_000, perSecond: 5_000 }, bytes: { burst: 64 * MIB, perSecond: 32 * MIB } },
}

/** Once it has to wait, it waits for as long as makes a few pieces at once possible: timers cost something too. */
const REST_MS = 50
/** Pieces of one connection before others have the thread. */
const PIECES_AT_ONCE = 128
/** Seconds' worth of pieces taken while beyond the rate, after which it is a flood. */
const FLOOD_SECONDS = 5
/** What this node sends is acknowledged in a record and a frame. */
const PIECES_PER_FRAME_SENT = 2

export interface Around {
  /** Who the peer is now. */
  readonly standing: () => Standing
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
  #usedAt: number

  constructor(around: Around) {
    this.#around = around
    const { pieces, bytes } = RATES[around.standing()]
    this.#usedAt = around.now()
    this.#pieces = new Allowance(pieces, this.#usedAt)
    this.#bytes = new Allowance(bytes, this.#usedAt)
  }

  readonly standing = (): Standing => this.#around.standing()

  /** When something came last. */
  get usedAt(): number {
    return this.#usedAt
  }

  /** Something came; a promise when nothing more may be read before it is kept. */
  charge(pieces: number, bytes: number): Promise<unknown> | undefined {
    const now = this.#around.now()
    const rates = RATES[this.#around.standing()]
    this.#usedAt = now
    this.#pieces.change(rates.pieces, now)
    this.#bytes.change(rates.bytes, now)
    const piecesWaitMs = this.#pieces.take(pieces, now)
    const waitMs = Math.max(piecesWaitMs, this.#bytes.take(bytes, now))
    this.#judge(piecesWaitMs > 0 ? pieces : 0, rates)
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

  #judge(beyond: number, { pieces }: Rates): void {
    this.#beyond += beyond
    if (this.#beyond < pieces.perSecond * FLOOD_SECONDS) return
    this.#beyond = 0
    this.#around.flooded("more pieces than any node sends")
  }
}
