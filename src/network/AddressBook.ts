/**
 * The addresses of other nodes, and the order in which to try them; each failure delays the next try.
 *
 * Addresses are not signed, because a node does not know how others see it. Only proofs in a greeting count: a peer
 * proves its id, and a validator's node its validator's key, to the node at the other end. So an address of a member of
 * the committee comes only from a connection on which that key was proven, and only its own node can add one. A relay
 * can sit in between and have its own address taken for the member's. Therefore no address of a member replaces the
 * first one, and addresses that answered a dial stay apart from those that a connection came from. Addresses heard from
 * other peers prove nothing: few are kept from each source and for each peer, and they go first.
 */
import { isIP } from "node:net"
import { Option } from "effect"
import * as Hex from "../protocol/encoding/Hex.js"
import * as Address from "../protocol/identity/Address.js"
import type { PeerId } from "../replica/messages/Peer.js"
import * as PeerAddress from "./PeerAddress.js"

/** Between the operator's word and hearsay; a member is kept as long as it has its seat. */
export type Origin = "named" | "member" | "met" | "told"

/** How an address became known, regardless of seats: `came` is where a connection from outside seems to listen. */
type Source = "named" | "met" | "came" | "told"

export interface Candidate {
  /** As HOST:PORT. */
  readonly address: string
  readonly origin: Origin
  /** The peer that answered there, or must. */
  readonly peer: PeerId | null
  /** The validator whose key was proven by the peer that answered there, or came from there. */
  readonly validator: Address.Address | null
  /** What to dial. With a key, no other peer may answer. */
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

/** The peer that answered at, or came from, an address. */
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
/** After this many failures in a row an address is forgotten. */
const FORGOTTEN_AFTER: { readonly [origin in Origin]: number } = {
  named: Number.POSITIVE_INFINITY,
  member: Number.POSITIVE_INFINITY,
  met: 20,
  told: 3,
}
const RANK: { readonly [origin in Origin]: number } = { told: 0, met: 1, member: 2, named: 3 }
const SOURCE_RANK: { readonly [source in Source]: number } = { told: 0, came: 1, met: 2, named: 3 }
/** Limits of one validator's addresses: those that answered, and those it came from. */
const ADDRESSES_OF_VALIDATOR = { met: 3, came: 2 } as const
/** Limit of one peer's addresses that are only hearsay. */
const TOLD_OF_PEER = 4

/** Limit of the peers in one message of addresses. */
export const TOLD_AT_ONCE = 32
const MAX_ADDRESS_LENGTH = 128
/** Peers without a seat that are remembered for the next start. */
const REMEMBERED_OTHERS = 128

/** An address without its peer id. */
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

/** An address with the peer id that must answer there, if it is one that peers may pass on. */
const spoken = (text: string): Option.Option<Spoken> =>
  Option.gen(function* () {
    const parsed = yield* text.length > MAX_ADDRESS_LENGTH ? Option.none() : PeerAddress.parse(text)
    const peer = yield* parsed.key
    if (isIP(parsed.host) === 0) return yield* Option.none()
    return { address: withoutPeer(parsed), host: parsed.host, peer }
  })

export class AddressBook {
  /** By target, in the order in which they became known. */
  readonly #entries = new Map<string, Entry>()
  /** Between 0 and 1: keeps nodes that lost each other together from coming back together. */
  readonly #chance: () => number
  readonly #isMember: (validator: Address.Address) => boolean

  constructor(chance: () => number, isMember: (validator: Address.Address) => boolean) {
    this.#chance = chance
    this.#isMember = isMember
  }

  get all(): ReadonlyArray<Candidate> {
    return [...this.#entries.values()].map((entry) => this.#candidateOf(entry))
  }

  /** Whether the operator named this host, or a member answered there. */
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

  /** An address named without a peer id is dialled without one: the node there may get a new key. */
  name(address: PeerAddress.PeerAddress): void {
    const peer = Option.getOrNull(address.key)
    this.#add(withoutPeer(address), PeerAddress.toText(address), "named", { peer, validator: null })
  }

  /** A peer that was dialled has greeted. */
  met(address: string, party: Party): void {
    const entry = this.#learn(address, "met", party)
    if (entry !== undefined) entry.failures = 0
  }

  /** A peer that dialled in has greeted, and claims to listen there. */
  came(address: string, party: Party): void {
    this.#learn(address, "came", party)
  }

  #learn(address: string, source: "met" | "came", party: Party): Entry | undefined {
    const { peer, validator } = party
    const named = this.#entries.get(address)
    if (named !== undefined) {
      // A named address without a peer id means the peer that answers there, not one that comes from there.
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

  /** The same validator at the same address has a new node key: the old one is gone. */
  #dropFormerPeer(address: string, peer: PeerId, validator: Address.Address): void {
    for (const [target, entry] of this.#entries) {
      const isFormer = entry.address === address && entry.validator === validator && entry.peer !== peer
      if (isFormer && entry.source !== "named") this.#entries.delete(target)
    }
  }

  /** Limits the addresses of one validator to the first, the newest, and those that fail least. */
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

  /** Takes addresses from a peer; private ones are believed only from within the same network. */
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

  /** The candidates to try now, the best first; hearsay about a member's peer comes right after the member. */
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

  /** A try begins: there is no second one before it is over, or long past. */
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

  /** The peer that answered there did not greet, or was refused. */
  missed(address: string, peer: PeerId, now: number): void {
    const target = targetOf(address, peer)
    this.failed({ target: this.#entries.has(target) ? target : address }, now)
  }

  /** The connection is over: try again soon. */
  lost(peer: PeerId, now: number): void {
    for (const entry of this.#entries.values()) {
      if (entry.peer === peer) entry.nextAt = now + FIRST_BACKOFF_MS * (0.25 + this.#chance() / 2)
    }
  }

  /** The address leads back to this node. */
  forget({ target }: Candidate): void {
    this.#entries.delete(target)
  }

  /** Records the peer that answered there, so that it is not tried while it is connected. */
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
