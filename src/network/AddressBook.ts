/**
 * Where other nodes may be: those the operator named, those that were met, and those that others told of. Says whom to
 * try next; each failure makes the next try later. Addresses from others prove nothing, so they are few from each and
 * the first to go.
 */
import { isIP } from "node:net"
import { Option } from "effect"
import type { PeerId } from "../consensus/replica/Peer.js"
import * as PeerAddress from "./PeerAddress.js"

/** Between the operator's word and hearsay. */
export type Origin = "named" | "met" | "told"

export interface Place {
  /** A multiaddress without a peer id. */
  readonly address: string
  readonly origin: Origin
  /** Who answered there, or must. */
  readonly peer: PeerId | null
}

interface Entry {
  readonly address: string
  origin: Origin
  peer: PeerId | null
  failures: number
  nextAt: number
}

const MAX_ENTRIES = 512
const FIRST_BACKOFF_MS = 1_000
/** What the operator named is tried again at least this often; anything else less. */
const LONGEST_BACKOFF_MS: { readonly [origin in Origin]: number } = { named: 30_000, met: 600_000, told: 600_000 }
/** So many failures in a row, and it is forgotten; what was named never is. */
const FORGOTTEN_AFTER: { readonly [origin in Origin]: number } = {
  named: Number.POSITIVE_INFINITY,
  met: 20,
  told: 3,
}
const RANK: { readonly [origin in Origin]: number } = { told: 0, met: 1, named: 2 }

/** One peer tells of so many others at a time. */
export const TOLD_AT_ONCE = 32
const MAX_ADDRESS_LENGTH = 128

/** An address without its peer id. */
export const placeOf = (address: PeerAddress.PeerAddress): string =>
  PeerAddress.toMultiaddr({ ...address, peerId: Option.none() })

/** Whether an address means something only on this machine or in this house. */
export const isPrivate = (host: string): boolean =>
  isIP(host) === 4
    ? /^(127|10|192\.168|172\.(1[6-9]|2\d|3[01])|169\.254|0)\./.test(host)
    : /^(::1?$|f[cd]|fe[89ab])/i.test(host)

export class AddressBook {
  readonly #entries = new Map<string, Entry>()
  /** Between 0 and 1: so that nodes that lost each other at once do not all come back at once. */
  readonly #chance: () => number

  constructor(chance: () => number) {
    this.#chance = chance
  }

  get all(): ReadonlyArray<Place> {
    return [...this.#entries.values()]
  }

  name(address: PeerAddress.PeerAddress): void {
    const peer = Option.getOrNull(address.peerId)
    this.#add(placeOf(address), "named", peer === null ? null : (peer as PeerId))
  }

  /** An honest peer was met there; it goes first where others are only hearsay. */
  met(address: string, peer: PeerId): void {
    const entry = this.#add(address, "met", peer)
    if (entry === undefined) return
    entry.peer = peer
    entry.failures = 0
  }

  /** What a peer says; addresses of a house are believed only from within it. */
  told(texts: ReadonlyArray<string>, fromHost: string): void {
    for (const text of texts.slice(0, TOLD_AT_ONCE)) {
      const address = text.length > MAX_ADDRESS_LENGTH ? Option.none() : PeerAddress.parse(text)
      if (Option.isNone(address) || isIP(address.value.host) === 0) continue
      if (isPrivate(address.value.host) && !isPrivate(fromHost)) continue
      const peer = Option.getOrNull(address.value.peerId)
      if (peer !== null) this.#add(placeOf(address.value), "told", peer as PeerId)
    }
  }

  #add(address: string, origin: Origin, peer: PeerId | null): Entry | undefined {
    const known = this.#entries.get(address)
    if (known !== undefined) {
      if (RANK[origin] > RANK[known.origin]) known.origin = origin
      return known
    }
    if (this.#entries.size >= MAX_ENTRIES && !this.#makeRoom(origin)) return undefined
    const entry = { address, origin, peer, failures: 0, nextAt: 0 }
    this.#entries.set(address, entry)
    return entry
  }

  /** The one that failed most among those that count least. */
  #makeRoom(origin: Origin): boolean {
    let worst: Entry | undefined
    for (const entry of this.#entries.values()) {
      if (RANK[entry.origin] > RANK[origin] || entry.origin === "named") continue
      if (worst === undefined || RANK[entry.origin] < RANK[worst.origin] || entry.failures > worst.failures)
        worst = entry
    }
    return worst !== undefined && this.#entries.delete(worst.address)
  }

  /** Whom to try now, the most promising first. */
  due(now: number, isConnected: (place: Place) => boolean): ReadonlyArray<Place> {
    return [...this.#entries.values()]
      .filter((entry) => entry.nextAt <= now && !isConnected(entry))
      .sort((a, b) => RANK[b.origin] - RANK[a.origin] || a.failures - b.failures)
  }

  /** A try begins: no second one before it is over, or long past. */
  trying(address: string, now: number): void {
    const entry = this.#entries.get(address)
    if (entry !== undefined) entry.nextAt = now + LONGEST_BACKOFF_MS.named
  }

  failed(address: string, now: number): void {
    const entry = this.#entries.get(address)
    if (entry === undefined) return
    entry.failures++
    if (entry.failures >= FORGOTTEN_AFTER[entry.origin]) this.#entries.delete(address)
    const backoff = Math.min(LONGEST_BACKOFF_MS[entry.origin], FIRST_BACKOFF_MS * 2 ** (entry.failures - 1))
    entry.nextAt = now + backoff * (0.75 + this.#chance() / 2)
  }

  /** The connection is over: to be tried again soon. */
  lost(peer: PeerId, now: number): void {
    for (const entry of this.#entries.values()) {
      if (entry.peer === peer) entry.nextAt = now + FIRST_BACKOFF_MS * (0.25 + this.#chance() / 2)
    }
  }

  /** It leads back here. */
  forget(address: string): void {
    this.#entries.delete(address)
  }

  /** Who answered there, so that it is not tried while it is connected. */
  answered(address: string, peer: PeerId): void {
    const entry = this.#entries.get(address)
    if (entry !== undefined) entry.peer = peer
  }
}
