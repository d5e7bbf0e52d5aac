/**
 * Meters what one peer costs below the level of messages: bytes, and pieces. A piece is anything that takes processor
 * time regardless of its size: an encrypted record, a frame, a message. A peer beyond its rates is not read for a
 * while; staying beyond them is a flood.
 */
import { setImmediate as turn } from "node:timers/promises"
import { Allowance, type Rate } from "../Allowance.js"
import type { Standing } from "../Standing.js"
import type { Clock } from "./Clock.js"
import * as Rates from "./Rates.js"

/** The least extra wait: pausing for several pieces at once saves timers. */
const REST_MS = 50
/** Pieces of one connection before it yields the thread. */
const PIECES_AT_ONCE = 128
/** Seconds' worth of pieces at the full rate, beyond the peer's own rate, that make a flood. */
const FLOOD_SECONDS = 5
/** The part of the full rate at which they are forgotten. No honest peer is as fast, and a flood is faster. */
const FORGOTTEN = 1 / 4

const tolerated = ({ perSecond }: Rate): Rate => {
  return { burst: FLOOD_SECONDS * perSecond, perSecond: FORGOTTEN * perSecond }
}

/** The pieces of a flood are nearly empty. A peer whose pieces average more bytes than this is only slowed down. */
const WORTHY_BYTES = 64
/** Answers come in pieces of 16 KiB, each in its own record. */
const ANSWERED_PIECE_BYTES = 8_192
/** For the message itself and the remainder of a piece. */
const PIECES_PER_ANSWER = 4
/** Credit covers at most this many open answers. Further ones are read at the peer's rate. */
const CREDITED_ANSWERS = 8

export interface Around {
  readonly standing: () => Standing
  /** The number of connected strangers, roughly. */
  readonly strangers: () => number
  readonly flooded: (what: string) => void
  readonly clock: Clock
}

export class Meter {
  readonly #around: Around
  readonly #pieces: Allowance
  readonly #bytes: Allowance
  #tolerance: Allowance
  #sinceTurn = 0
  #beyond = 0
  #beyondBytes = 0
  #usedAt: number

  constructor(around: Around) {
    this.#around = around
    const { pieces, bytes } = this.#rates
    const now = this.#now()
    this.#usedAt = around.clock.now()
    this.#tolerance = new Allowance(this.#tolerated, this.#usedAt)
    this.#pieces = new Allowance(pieces, now)
    this.#bytes = new Allowance(bytes, now)
  }

  readonly standing = (): Standing => this.#around.standing()

  get #rates(): Rates.Raw {
    const { standing, strangers } = this.#around
    return standing() === "stranger" ? Rates.strangerShare(strangers()) : Rates.RATES[standing()]
  }

  /** How long vertices and votes for this peer wait for more, at present. */
  get gatherMs(): number {
    const { standing, strangers, clock } = this.#around
    return standing() === "stranger" ? Rates.gatherMs(strangers(), clock.spareShare()) : 0
  }

  get #tolerated(): Rate {
    return tolerated(Rates.RATES[this.#around.standing()].pieces)
  }

  #now(): number {
    const { clock, standing } = this.#around
    return standing() === "stranger" ? clock.spareNow() : clock.now()
  }

  get usedAt(): number {
    return this.#usedAt
  }

  /** Charges an arrival; returns a promise if reading must pause. */
  charge(pieces: number, bytes: number): Promise<unknown> | undefined {
    const now = this.#now()
    const rates = this.#rates
    this.#usedAt = this.#around.clock.now()
    this.#pieces.change(rates.pieces, now)
    this.#bytes.change(rates.bytes, now)
    const piecesWaitMs = this.#pieces.take(pieces, now)
    const waitMs = Math.max(piecesWaitMs, this.#bytes.take(bytes, now))
    if (piecesWaitMs > 0) this.#judge(pieces, bytes)
    this.#sinceTurn += pieces
    if (waitMs > 0) {
      this.#sinceTurn = 0
      return this.#around.clock.wait(waitMs + REST_MS)
    }
    if (this.#sinceTurn < PIECES_AT_ONCE) return undefined
    this.#sinceTurn = 0
    return turn()
  }

  /** Credits the peer for an answer of up to this size that this node asked for. */
  asked(answerBytes: number): void {
    const pieces = PIECES_PER_ANSWER + Math.ceil(answerBytes / ANSWERED_PIECE_BYTES)
    this.#pieces.credit(pieces, CREDITED_ANSWERS * pieces)
    this.#bytes.credit(answerBytes, CREDITED_ANSWERS * answerBytes)
  }

  /** Judges by the full rate: that a crowd or a busy machine lowers the peer's own rate is not its offence. */
  #judge(pieces: number, bytes: number): void {
    const now = this.#around.clock.now()
    this.#beyond += pieces
    this.#beyondBytes += bytes
    this.#tolerance.change(this.#tolerated, now)
    if (this.#tolerance.take(pieces, now) === 0) return
    const isFlood = this.#beyondBytes < this.#beyond * WORTHY_BYTES
    this.#tolerance = new Allowance(this.#tolerated, now)
    this.#beyond = 0
    this.#beyondBytes = 0
    if (isFlood) this.#around.flooded("more pieces than any honest node sends")
  }
}
