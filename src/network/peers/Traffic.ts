/** The traffic of each peer: its meter for incoming data, and its waiting outgoing data. */
import type { PeerId } from "../../replica/messages/Peer.js"
import type { Standing } from "../Standing.js"
import { Meter } from "./Meter.js"
import * as Rates from "./Rates.js"
import type { Clock } from "./Wire.js"

/** A peer that takes nothing for this long is gone. */
const STALLED_MS = 30_000
const MIB = 1_048_576
/** Outgoing bytes that may wait for a peer below its streams, each of which the peer itself limits. */
const UNSENT_BYTES = 32 * MIB
/** From as many on, the streams write no more. Gossip does. */
const CLOGGED_BYTES = 8 * MIB
/** The same for all strangers together; each may have a part of it. */
const CLOGGED_BY_STRANGERS = 16 * MIB
/** With twice as many, those go for which most waits. */
const UNSENT_TO_STRANGERS = 2 * CLOGGED_BY_STRANGERS
/** A meter is forgotten this long after its last use, when it is full again. */
const FORGOTTEN_MS = 30_000
/** How often strangers are counted. */
const COUNTED_EVERY_MS = 1_000

/** The outgoing data of one connection. */
export interface Outflow {
  /** Bytes that wait to be written. */
  readonly unsentBytes: number
  /** How many frames were written so far. */
  readonly written: number
}

export interface Around {
  readonly standing: (peer: PeerId) => Standing
  readonly flooded: (peer: PeerId, what: string) => void
}

interface Watched {
  readonly outflow: Outflow
  written: number
  /** Since when the peer has taken nothing although data waits. */
  since: number
}

export class Traffic {
  readonly #around: Around
  readonly #clock: Clock
  readonly #meters = new Map<PeerId, Meter>()
  readonly #watched = new Map<PeerId, Array<Watched>>()
  #strangers = 0
  #strangerRates = Rates.strangerShare(0)
  #countedAt = Number.NEGATIVE_INFINITY

  constructor(around: Around, clock: Clock) {
    this.#around = around
    this.#clock = clock
  }

  /** One meter for all connections of a peer, including those that follow soon. */
  meterOf(peer: PeerId): Meter {
    const known = this.#meters.get(peer)
    if (known !== undefined) return known
    const meter = new Meter({
      standing: () => this.#around.standing(peer),
      strangerRates: () => this.#ratesOfStrangers(),
      flooded: (what) => this.#around.flooded(peer, what),
      clock: this.#clock,
    })
    this.#meters.set(peer, meter)
    return meter
  }

  #ratesOfStrangers(): Rates.Raw {
    this.#countStrangers()
    return this.#strangerRates
  }

  #countStrangers(): void {
    const now = this.#clock.now()
    if (Math.abs(now - this.#countedAt) < COUNTED_EVERY_MS) return
    this.#countedAt = now
    this.#strangers = 0
    for (const peer of this.#watched.keys()) if (this.#around.standing(peer) === "stranger") this.#strangers++
    this.#strangerRates = Rates.strangerShare(this.#strangers)
  }

  /** Whether so much waits to be written to this peer that its streams must wait. */
  isClogged(peer: PeerId): boolean {
    const unsent = this.#unsentTo(peer)
    if (this.#around.standing(peer) !== "stranger") return unsent >= CLOGGED_BYTES
    this.#countStrangers()
    return unsent >= CLOGGED_BY_STRANGERS / Math.max(1, this.#strangers)
  }

  #unsentTo(peer: PeerId): number {
    return (this.#watched.get(peer) ?? []).reduce((sum, { outflow }) => sum + outflow.unsentBytes, 0)
  }

  /** Strangers for which most waits, as long as too much waits for all of them together. */
  *#heaviest(): Generator<PeerId> {
    const strangers = [...this.#watched.keys()]
      .filter((peer) => this.#around.standing(peer) === "stranger")
      .map((peer) => ({ peer, unsent: this.#unsentTo(peer) }))
      .sort((a, b) => b.unsent - a.unsent)
    let together = strangers.reduce((sum, { unsent }) => sum + unsent, 0)
    for (const { peer, unsent } of strangers) {
      if (together <= UNSENT_TO_STRANGERS) return
      together -= unsent
      yield peer
    }
  }

  opened(peer: PeerId, outflow: Outflow): void {
    const watched = { outflow, written: outflow.written, since: this.#clock.now() }
    this.#watched.set(peer, [...(this.#watched.get(peer) ?? []), watched])
  }

  /** The last connection to this peer is closed. */
  closed(peer: PeerId): void {
    this.#watched.delete(peer)
  }

  /** Peers that do not read. To be called every now and then. */
  stalled(): ReadonlyArray<PeerId> {
    const stalled = new Set(this.#heaviest())
    const before = this.#clock.now() - STALLED_MS
    for (const [peer, all] of this.#watched) {
      for (const each of all) this.#look(each)
      if (all.some(({ outflow, since }) => since < before || outflow.unsentBytes > UNSENT_BYTES)) stalled.add(peer)
    }
    return [...stalled]
  }

  #look(watched: Watched): void {
    const { unsentBytes, written } = watched.outflow
    if (unsentBytes > 0 && written === watched.written) return
    watched.written = written
    watched.since = this.#clock.now()
  }

  /** Forgets the meters of peers that are gone. */
  sweep(): void {
    const before = this.#clock.now() - FORGOTTEN_MS
    for (const [peer, { usedAt }] of this.#meters) {
      if (usedAt < before && !this.#watched.has(peer)) this.#meters.delete(peer)
    }
  }
}
