/** Tracks each peer's traffic: its meter for incoming data, and its unsent outgoing data. */
import type { PeerId } from "../../replica/messages/Peer.js"
import type { Standing } from "../Standing.js"
import type { Clock } from "./Clock.js"
import { Meter } from "./Meter.js"
import type { Outflow } from "./Wire.js"

/** A peer that takes nothing for this long is gone. */
const STALLED_MS = 30_000
/** A meter is dropped this long after its last use, when its allowance is full again. */
const FORGOTTEN_MS = 30_000
const COUNTED_EVERY_MS = 1_000

export interface Around {
  readonly standing: (peer: PeerId) => Standing
  readonly flooded: (peer: PeerId, what: string) => void
}

interface Watched {
  readonly outflow: Outflow
  written: number
  /** Since when the peer has taken nothing although data is queued. */
  since: number
}

export class Traffic {
  readonly #around: Around
  readonly #clock: Clock
  readonly #meters = new Map<PeerId, Meter>()
  readonly #watched = new Map<PeerId, Array<Watched>>()
  #strangers = 0
  #countedAt = Number.NEGATIVE_INFINITY

  constructor(around: Around, clock: Clock) {
    this.#around = around
    this.#clock = clock
  }

  /** One meter for all connections of a peer, including reconnections soon after. */
  meterOf(peer: PeerId): Meter {
    const known = this.#meters.get(peer)
    if (known !== undefined) return known
    const meter = new Meter({
      standing: () => this.#around.standing(peer),
      strangers: () => this.#countStrangers(),
      flooded: (what) => this.#around.flooded(peer, what),
      clock: this.#clock,
    })
    this.#meters.set(peer, meter)
    return meter
  }

  #countStrangers(): number {
    const now = this.#clock.now()
    if (Math.abs(now - this.#countedAt) < COUNTED_EVERY_MS) return this.#strangers
    this.#countedAt = now
    const peers = [...this.#watched.keys()]
    this.#strangers = peers.filter((peer) => this.#around.standing(peer) === "stranger").length
    return this.#strangers
  }

  opened(peer: PeerId, outflow: Outflow): void {
    const watched = { outflow, written: outflow.written, since: this.#clock.now() }
    this.#watched.set(peer, [...(this.#watched.get(peer) ?? []), watched])
  }

  closed(peer: PeerId): void {
    this.#watched.delete(peer)
  }

  /** Peers that do not read. Call periodically. */
  stalled(): ReadonlyArray<PeerId> {
    const stalled: Array<PeerId> = []
    const before = this.#clock.now() - STALLED_MS
    for (const [peer, all] of this.#watched) {
      for (const each of all) this.#look(each)
      if (all.some(({ since }) => since < before)) stalled.push(peer)
    }
    return stalled
  }

  #look(watched: Watched): void {
    const { unsentBytes, written } = watched.outflow
    if (unsentBytes > 0 && written === watched.written) return
    watched.written = written
    watched.since = this.#clock.now()
  }

  sweep(): void {
    const before = this.#clock.now() - FORGOTTEN_MS
    for (const [peer, { usedAt }] of this.#meters) {
      if (usedAt < before && !this.#watched.has(peer)) this.#meters.delete(peer)
    }
  }
}
