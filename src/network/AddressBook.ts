/**
 * Known addresses of other nodes, and the order in which to dial them. Each failure delays the next attempt.
 *
 * Addresses are not signed, because a node does not know how others see it. Only the proofs in a greeting count: of the
 * peer id and, for a validator's node, the validator key. So a member's address comes only from a connection on which
 * its key was proven. A relay can still sit in between and have its own address taken for the member's. Therefore a
 * member's first address is never replaced, and addresses that answered a dial are kept apart from those that a
 * connection came from. Addresses told by other peers prove nothing: few are kept per source and per peer, and they are
 * evicted first.
 */
import { isIP } from "node:net"
import { Option } from "effect"
import * as Hex from "../protocol/encoding/Hex.js"
import * as Address from "../protocol/identity/Address.js"
import type { PeerId } from "../replica/messages/Peer.js"
import * as PeerAddress from "./PeerAddress.js"

/** Members rank below named peers and above hearsay, and are kept as long as they have a seat. */
export type Origin = "named" | "member" | "met" | "told"

/** How an address became known, regardless of seats. `came`: an inbound connection claims to listen there. */
type Source = "named" | "met" | "came" | "told"

export interface Candidate {
  /** As HOST:PORT. */
  readonly address: string
  readonly origin: Origin
  /** The peer that answered there, or must. */
  readonly peer: PeerId | null
  /** The validator whose key was proven on a connection to or from this address. */
  readonly validator: Address.Address | null
  /** What to dial. If it includes a key, no other peer may answer. */
  readonly target: string
}

interface Entry {
  readonly address: string
  readonly target: string
  source: Source
  peer: PeerId | null
  validator: Address.Address | null
  failures: number
  nextAt: number
}

export interface Party {
  readonly peer: PeerId
  readonly validator: Address.Address | null
}

type Identity = Pick<Entry, "peer" | "validator">

/** Limit of addresses of peers that are neither named nor members. */
const MAX_OTHERS = 512
const FIRST_BACKOFF_MS = 1_000
const LONGEST_BACKOFF_MS: { readonly [origin in Origin]: number } = {
  named: 30_000,
  member: 60_000,
  met: 600_000,
  told: 600_000,
}
/** An address is forgotten after this many consecutive failures. */
const FORGOTTEN_AFTER: { readonly [origin in Origin]: number } = {
  named: Number.POSITIVE_INFINITY,
  member: Number.POSITIVE_INFINITY,
  met: 20,
  told: 3,
}
const RANK: { readonly [origin in Origin]: number } = { told: 0, met: 1, member: 2, named: 3 }
const SOURCE_RANK: { readonly [source in Source]: number } = { told: 0, came: 1, met: 2, named: 3 }
/** Limits of one validator's addresses: those that answered a dial, and those it connected from. */
const ADDRESSES_OF_VALIDATOR = { met: 3, came: 2 } as const
/** Limit of one peer's addresses that are only hearsay. */
const TOLD_OF_PEER = 4

/** Limit of addresses in one message. */
export const TOLD_AT_ONCE = 32
const MAX_ADDRESS_LENGTH = 128
/** Peers without a seat that are remembered for the next start. */
const REMEMBERED_OTHERS = 128

const withoutPeer = (address: PeerAddress.PeerAddress): string => PeerAddress.hostPort(address.host, address.port)

/** Whether an address is meaningful only on this machine or in this local network. */
export const isPrivate = (host: string): boolean =>
  isIP(host) === 4
    ? /^(127|10|192\.168|172\.(1[6-9]|2\d|3[01])|169\.254|0)\./.test(host)
    : /^(::1?$|f[cd]|fe[89ab])/i.test(host)

const targetOf = (address: string, peer: PeerId): string => PeerAddress.at(peer, address)

const isValidator = (text: string): text is Address.Address => Hex.isHex(text, Address.BYTES)

interface Spoken {
  readonly address: string
  readonly host: string
  readonly peer: PeerId
}

/** An address that peers may pass on, with the peer id that must answer there. */
const spoken = (text: string): Option.Option<Spoken> =>
  Option.gen(function* () {
    const parsed = yield* text.length > MAX_ADDRESS_LENGTH ? Option.none() : PeerAddress.parse(text)
    const peer = yield* parsed.key
    if (isIP(parsed.host) === 0) return yield* Option.none()
    return { address: withoutPeer(parsed), host: parsed.host, peer }
  })

export class AddressBook {
  readonly #entries = new Map<string, Entry>()
  /** Returns 0 to 1; spreads the reconnections of nodes that lost each other at the same time. */
  readonly #chance: () => number
  readonly #isMember: (validator: Address.Address) => boolean

  constructor(chance: () => number, isMember: (validator: Address.Address) => boolean) {
    this.#chance = chance
    this.#isMember = isMember
  }

  get all(): ReadonlyArray<Candidate> {
    return [...this.#entries.values()].map((entry) => this.#candidateOf(entry))
  }

  /** Whether the operator named this host or a member answered there. */
  knows(host: string): boolean {
    const start = PeerAddress.hostPort(host, 0).slice(0, -1)
    for (const entry of this.#entries.values()) {
      const isTrusted = entry.source === "named" || (entry.source === "met" && this.#originOf(entry) === "member")
      if (isTrusted && entry.address.startsWith(start)) return true
    }
    return false
  }

  #originOf({ source, validator }: Entry): Origin {
    if (source === "named") return "named"
    if (validator !== null && this.#isMember(validator)) return "member"
    return source === "met" ? "met" : "told"
  }

  #candidateOf(entry: Entry): Candidate {
    const { address, target, peer, validator } = entry
    return { address, target, peer, validator, origin: this.#originOf(entry) }
  }

  /** An address named without a peer id is dialled without one, since the node there may get a new key. */
  name(address: PeerAddress.PeerAddress): void {
    const peer = Option.getOrNull(address.key)
    this.#add(withoutPeer(address), PeerAddress.toText(address), "named", { peer, validator: null })
  }

  met(address: string, party: Party): void {
    const entry = this.#learn(address, "met", party)
    if (entry !== undefined) entry.failures = 0
  }

  /** A peer that dialled in has greeted and claims to listen there. */
  came(address: string, party: Party): void {
    this.#learn(address, "came", party)
  }

  #learn(address: string, source: "met" | "came", party: Party): Entry | undefined {
    const { peer, validator } = party
    const named = this.#entries.get(address)
    if (named !== undefined) {
      // A named address without a peer id means the peer that answers there, not one that connects from there.
      if (source !== "met") return undefined
      named.peer = peer
      named.validator = validator
      return named
    }
    if (validator !== null) this.#dropFormerPeer(address, peer, validator)
    else if (source === "came" && !this.#hasRoomFor(address, peer)) return undefined
    const entry = this.#add(address, targetOf(address, peer), source, party)
    if (entry === undefined) return undefined
    entry.validator = validator
    if (validator !== null) this.#limit(validator, entry)
    return entry
  }

  /** The same validator at the same address with a new node key replaces its old entry. */
  #dropFormerPeer(address: string, peer: PeerId, validator: Address.Address): void {
    for (const [target, entry] of this.#entries) {
      const isFormer = entry.address === address && entry.validator === validator && entry.peer !== peer
      if (isFormer && entry.source !== "named") this.#entries.delete(target)
    }
  }

  /** Keeps a validator's first and newest addresses, and those that fail least. */
  #limit(validator: Address.Address, newest: Entry): void {
    const { source } = newest
    if (source !== "met" && source !== "came") return
    const [, ...later] = [...this.#entries.values()].filter(
      (entry) => entry.validator === validator && entry.source === source,
    )
    if (later.length < ADDRESSES_OF_VALIDATOR[source]) return
    const [victim] = later.filter((entry) => entry !== newest).sort((a, b) => b.failures - a.failures)
    if (victim !== undefined) this.#entries.delete(victim.target)
  }

  /** Takes addresses from a peer. Private ones are believed only from within the same network. */
  learn(texts: ReadonlyArray<string>, fromHost: string): void {
    for (const text of texts.slice(0, TOLD_AT_ONCE)) {
      const { address, host, peer } = Option.getOrUndefined(spoken(text)) ?? {}
      if (address === undefined || host === undefined || peer === undefined) continue
      if (isPrivate(host) && !isPrivate(fromHost)) continue
      const target = targetOf(address, peer)
      if (this.#entries.has(address) || !this.#hasRoomFor(address, peer)) continue
      this.#add(address, target, "told", { peer, validator: null })
    }
  }

  /** A peer's hearsay address is replaced only once it has failed. */
  #hasRoomFor(address: string, peer: PeerId): boolean {
    const known = [...this.#entries.values()].filter(
      (entry) => entry.peer === peer && entry.validator === null && SOURCE_RANK[entry.source] < SOURCE_RANK.met,
    )
    if (known.length < TOLD_OF_PEER || known.some((entry) => entry.address === address)) return true
    const [worst] = known.sort((a, b) => b.failures - a.failures)
    return worst !== undefined && worst.failures > 0 && this.#entries.delete(worst.target)
  }

  #add(address: string, target: string, source: Source, { peer, validator }: Identity): Entry | undefined {
    const known = this.#entries.get(target)
    if (known !== undefined) {
      if (SOURCE_RANK[source] <= SOURCE_RANK[known.source]) return known
      known.source = source
      // Hearsay must not become the first of the proven addresses.
      this.#entries.delete(target)
      this.#entries.set(target, known)
      return known
    }
    const entry: Entry = { address, target, source, peer, validator, failures: 0, nextAt: 0 }
    if (!this.#makeRoom(this.#originOf(entry))) return undefined
    this.#entries.set(target, entry)
    return entry
  }

  /** Drops the entries with the most failures, lowest rank first. Named peers and members need no room. */
  #makeRoom(origin: Origin): boolean {
    if (RANK[origin] > RANK.met) return true
    const others = [...this.#entries.values()].filter((entry) => RANK[this.#originOf(entry)] <= RANK.met)
    const excess = others.length + 1 - MAX_OTHERS
    if (excess <= 0) return true
    const rankOf = (entry: Entry) => RANK[this.#originOf(entry)]
    const worst = others
      .filter((entry) => rankOf(entry) <= RANK[origin])
      .sort((a, b) => rankOf(a) - rankOf(b) || b.failures - a.failures)
      .slice(0, excess)
    for (const { target } of worst) this.#entries.delete(target)
    return worst.length === excess
  }

  /** The candidates to try now, best first. Hearsay about a member's peer comes right after members. */
  due(now: number, isConnected: (candidate: Candidate) => boolean): ReadonlyArray<Candidate> {
    const members = new Set<PeerId>()
    for (const entry of this.#entries.values())
      if (entry.peer !== null && this.#originOf(entry) === "member") members.add(entry.peer)
    const rankOf = (entry: Entry): number =>
      Math.max(RANK[this.#originOf(entry)], entry.peer !== null && members.has(entry.peer) ? RANK.member - 0.5 : 0)
    return [...this.#entries.values()]
      .filter((entry) => entry.nextAt <= now && !isConnected(this.#candidateOf(entry)))
      .sort((a, b) => rankOf(b) - rankOf(a) || a.failures - b.failures)
      .map((entry) => this.#candidateOf(entry))
  }

  /** An attempt begins; blocks a second one until it ends or has long timed out. */
  trying({ target }: Candidate, now: number): void {
    const entry = this.#entries.get(target)
    if (entry !== undefined) entry.nextAt = now + LONGEST_BACKOFF_MS.named
  }

  failed({ target }: Pick<Candidate, "target">, now: number): void {
    const entry = this.#entries.get(target)
    if (entry === undefined) return
    const origin = this.#originOf(entry)
    entry.failures++
    if (entry.failures >= FORGOTTEN_AFTER[origin]) this.#entries.delete(target)
    const backoff = Math.min(LONGEST_BACKOFF_MS[origin], FIRST_BACKOFF_MS * 2 ** (entry.failures - 1))
    entry.nextAt = now + backoff * (0.75 + this.#chance() / 2)
  }

  /** The peer that answered there did not greet or was refused. */
  missed(address: string, peer: PeerId, now: number): void {
    const target = targetOf(address, peer)
    this.failed({ target: this.#entries.has(target) ? target : address }, now)
  }

  /** The connection ended: retry soon. */
  lost(peer: PeerId, now: number): void {
    for (const entry of this.#entries.values()) {
      if (entry.peer === peer) entry.nextAt = now + FIRST_BACKOFF_MS * (0.25 + this.#chance() / 2)
    }
  }

  /** The address leads back to this node. */
  forget({ target }: Candidate): void {
    this.#entries.delete(target)
  }

  answered({ target }: Candidate, peer: PeerId): void {
    const entry = this.#entries.get(target)
    if (entry !== undefined) entry.peer = peer
  }

  /** Lines for a file that only this node writes: addresses of members, and others that answered. */
  get remembered(): ReadonlyArray<string> {
    const lines: { readonly [kind in "member" | "met"]: Array<string> } = { member: [], met: [] }
    for (const entry of this.#entries.values()) {
      const origin = this.#originOf(entry)
      if ((origin !== "member" && origin !== "met") || entry.peer === null) continue
      lines[origin].push(entry.validator === null ? entry.target : `${entry.target} ${entry.validator}`)
    }
    return [...lines.member, ...lines.met.slice(-REMEMBERED_OTHERS)]
  }

  /** Restores the addresses of an earlier run. */
  recall(lines: ReadonlyArray<string>): void {
    for (const line of lines) {
      const [target = "", validator = ""] = line.split(" ")
      const { address, peer } = Option.getOrUndefined(spoken(target)) ?? {}
      if (address === undefined || peer === undefined) continue
      this.#learn(address, "met", { peer, validator: isValidator(validator) ? validator : null })
    }
  }
}
