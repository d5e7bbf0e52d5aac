/** The meters of all peers, and the lines to them. */
import type { PeerId } from "../../replica/messages/Peer.js"
import type { Standing } from "../Standing.js"
import { Meter } from "./Meter.js"
import * as Rates from "./Rates.js"

/** A peer that takes nothing for so long is not there any more. */
const STALLED_MS = 30_000
/** What may wait for a peer below the streams: it says itself how much of a stream it takes. */
const UNSENT_BYTES = 33_554_432
/** So long after it has gone its meter is full again. */
const FORGOTTEN_MS = 30_000
/** How often strangers are counted. */
const COUNTED_EVERY_MS = 1_000

/** What goes out on one connection. */
export interface Line {
  /** Bytes that wait to be written. */
  readonly unsentBytes: number
  /** How many frames were written so far. */
  readonly written: number
}

export interface Around {
  readonly standing: (peer: PeerId) => Standing
  readonly flooded: (peer: PeerId, what: string) => void
}

interface Looked {
  readonly line: Line
  written: number
  /** Since when the other side has taken nothing although something waits. */
  since: number
}

export class Lines {
  readonly #around: Around
  readonly #now: () => number
  readonly #meters = new Map<PeerId, Meter>()
  readonly #lines = new Map<PeerId, Array<Looked>>()
  #strangerRates = Rates.lineAmong(0)
  #countedAt = Number.NEGATIVE_INFINITY

  constructor(around: Around, now: () => number) {
    this.#around = around
    this.#now = now
  }

  /** One for all connections of a peer, and for those that follow soon. */
  meterOf(peer: PeerId): Meter {
    const known = this.#meters.get(peer)
    if (known !== undefined) return known
    const meter = new Meter({
      standing: () => this.#around.standing(peer),
      strangerRates: () => this.#ratesOfStrangers(),
      flooded: (what) => this.#around.flooded(peer, what),
      now: this.#now,
    })
    this.#meters.set(peer, meter)
    return meter
  }

  #ratesOfStrangers(): Rates.Line {
    const now = this.#now()
    if (Math.abs(now - this.#countedAt) < COUNTED_EVERY_MS) return this.#strangerRates
    this.#countedAt = now
    let strangers = 0
    for (const peer of this.#lines.keys()) if (this.#around.standing(peer) === "stranger") strangers++
    this.#strangerRates = Rates.lineAmong(strangers)
    return this.#strangerRates
  }

  opened(peer: PeerId, line: Line): void {
    this.#lines.set(peer, [...(this.#lines.get(peer) ?? []), { line, written: line.written, since: this.#now() }])
  }

  /** No connection to it is left. */
  closed(peer: PeerId): void {
    this.#lines.delete(peer)
  }

  /** Peers that do not read what they are sent. To be asked every now and then. */
  stalled(): ReadonlyArray<PeerId> {
    const stalled: Array<PeerId> = []
    for (const [peer, lines] of this.#lines) {
      for (const each of lines) this.#look(each)
      const before = this.#now() - STALLED_MS
      if (lines.some(({ line, since }) => since < before || line.unsentBytes > UNSENT_BYTES)) stalled.push(peer)
    }
    return stalled
  }

  #look(looked: Looked): void {
    const { unsentBytes, written } = looked.line
    if (unsentBytes > 0 && written === looked.written) return
    looked.written = written
    looked.since = this.#now()
  }

  /** Forgets the meters of those who have gone. */
  sweep(): void {
    const before = this.#now() - FORGOTTEN_MS
    for (const [peer, { usedAt }] of this.#meters) {
      if (usedAt < before && !this.#lines.has(peer)) this.#meters.delete(peer)
    }
  }
}
