/**
 * Where other nodes may be, and whom to try next; each failure makes the next try later.
 *
 * Nobody signs addresses, because a node does not know how others see it. What counts is who proved what in a greeting: a
 * peer proves its id, and a validator's node its validator's key, to whoever listens at the other end. So an address of a
 * member of the committee comes only from a connection on which that key was proven, and only its own node can add one. A
 * relay can stand in between and have its own address taken for the member's. Therefore no address of a member takes the
 * place of the first one, and addresses that answered to a dial stay apart from those that a connection came from.
 * Addresses that others tell prove nothing: they are few from each and for each peer, and the first to go.
 */
import { isIP } from "node:net"
import { Option } from "effect"
import * as Hex from "../protocol/encoding/Hex.js"
import * as Address from "../protocol/identity/Address.js"
import type { PeerId } from "../replica/messages/Peer.js"
import * as PeerAddress from "./PeerAddress.js"

/** Between the operator's word and hearsay; a member is kept as long as it has its seat. */
export type Origin = "named" | "member" | "met" | "told"

/** How an address became known, whoever has a seat now: `came` is where a connection from outside seems to listen. */
type Source = "named" | "met" | "came" | "told"

export interface Candidate {
  /** A multiaddress without a peer id. */
  readonly address: string
  readonly origin: Origin
  /** Who answered there, or must. */
  readonly peer: PeerId | null
  /** Whose key was proven by who answered there, or came from there. */
  readonly validator: Address.Address | null
  /** The multiaddress to dial. With a peer id, nobody else may answer. */
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

/** Who answered, or came from, an address. */
export interface Party {
  readonly peer: PeerId
  readonly validator: Address.Address | null
}

type Whoever = Pick<Entry, "peer" | "validator">

/** Of those that are neither named nor members. */
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
/** Addresses of one validator that answered, and that it came from. */
const ADDRESSES_OF_VALIDATOR = { met: 3, came: 2 } as const
/** Addresses of one peer that are only hearsay. */
const TOLD_OF_PEER = 4

/** One peer tells of so many others at a time. */
export const TOLD_AT_ONCE = 32
const MAX_ADDRESS_LENGTH = 128
/** Peers without a seat that are kept for the next start. */
const REMEMBERED_OTHERS = 128

/** An address without its peer id. */
export const withoutPeer = (address: PeerAddress.PeerAddress): string =>
  PeerAddress.toMultiaddr({ ...address, peerId: Option.none() })

/** Whether an address means something only on this machine or in this house. */
export const isPrivate = (host: string): boolean =>
  isIP(host) === 4
    ? /^(127|10|192\.168|172\.(1[6-9]|2\d|3[01])|169\.254|0)\./.test(host)
    : /^(::1?$|f[cd]|fe[89ab])/i.test(host)

const targetOf = (address: string, peer: PeerId): string => `${address}/p2p/${peer}`

const isValidator = (text: string): text is Address.Address => Hex.isHex(text, Address.BYTES)

interface Spoken {
  readonly address: string
  readonly host: string
  readonly peer: PeerId
}

/** An address with the peer id that must answer there, if it is one that others may name. */
const spoken = (text: string): Option.Option<Spoken> =>
  Option.gen(function* () {
    const parsed = yield* text.length > MAX_ADDRESS_LENGTH ? Option.none() : PeerAddress.parse(text)
    const peer = yield* parsed.peerId
    if (isIP(parsed.host) === 0) return yield* Option.none()
    return { address: withoutPeer(parsed), host: parsed.host, peer: peer as PeerId }
  })

export class AddressBook {
  /** By target, in the order in which they became known. */
  readonly #entries = new Map<string, Entry>()
  /** Between 0 and 1: so that nodes that lost each other at once do not all come back at once. */
  readonly #chance: () => number
  readonly #isMember: (validator: Address.Address) => boolean

  constructor(chance: () => number, isMember: (validator: Address.Address) => boolean) {
    this.#chance = chance
    this.#isMember = isMember
  }

  get all(): ReadonlyArray<Candidate> {
    return [...this.#entries.values()].map((entry) => this.#candidateOf(entry))
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

  /** What the operator named without a peer id is dialled without one: the node there may get a new key. */
  name(address: PeerAddress.PeerAddress): void {
    const peer = Option.getOrNull(address.peerId) as PeerId | null
    this.#add(withoutPeer(address), PeerAddress.toMultiaddr(address), "named", { peer, validator: null })
  }

  /** A peer that was dialled has greeted. */
  met(address: string, party: Party): void {
    const entry = this.#learn(address, "met", party)
    if (entry !== undefined) entry.failures = 0
  }

  /** A peer that dialled in has greeted, and says it listens there. */
  came(address: string, party: Party): void {
    this.#learn(address, "came", party)
  }

  #learn(address: string, source: "met" | "came", party: Party): Entry | undefined {
    const { peer, validator } = party
    const named = this.#entries.get(address)
    if (named !== undefined) {
      // A named address without a peer id: whoever answers there is who was meant, whoever comes from there is not.
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

  /** The same validator at the same address with a new node key: the old one does not come back. */
  #dropFormerPeer(address: string, peer: PeerId, validator: Address.Address): void {
    for (const [target, entry] of this.#entries) {
      const isFormer = entry.address === address && entry.validator === validator && entry.peer !== peer
      if (isFormer && entry.source !== "named") this.#entries.delete(target)
    }
  }

  /** Of too many addresses of one validator, the first and the newest one stay, and those that fail least. */
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

  /** What a peer says; addresses of a house are believed only from within it. */
  told(texts: ReadonlyArray<string>, fromHost: string): void {
    for (const text of texts.slice(0, TOLD_AT_ONCE)) {
      const { address, host, peer } = Option.getOrUndefined(spoken(text)) ?? {}
      if (address === undefined || host === undefined || peer === undefined) continue
      if (isPrivate(host) && !isPrivate(fromHost)) continue
      const target = targetOf(address, peer)
      if (this.#entries.has(address) || !this.#hasRoomFor(address, peer)) continue
      this.#add(address, target, "told", { peer, validator: null })
    }
  }

  /** Of one peer, an address that is only hearsay gives way to another one only once it has failed. */
  #hasRoomFor(address: string, peer: PeerId): boolean {
    const known = [...this.#entries.values()].filter(
      (entry) => entry.peer === peer && entry.validator === null && SOURCE_RANK[entry.source] < SOURCE_RANK.met,
    )
    if (known.length < TOLD_OF_PEER || known.some((entry) => entry.address === address)) return true
    const [worst] = known.sort((a, b) => b.failures - a.failures)
    return worst !== undefined && worst.failures > 0 && this.#entries.delete(worst.target)
  }

  #add(address: string, target: string, source: Source, { peer, validator }: Whoever): Entry | undefined {
    const known = this.#entries.get(target)
    if (known !== undefined) {
      if (SOURCE_RANK[source] <= SOURCE_RANK[known.source]) return known
      known.source = source
      // Hearsay must not be the first of what was proven.
      this.#entries.delete(target)
      this.#entries.set(target, known)
      return known
    }
    const entry: Entry = { address, target, source, peer, validator, failures: 0, nextAt: 0 }
    if (!this.#makeRoom(this.#originOf(entry))) return undefined
    this.#entries.set(target, entry)
    return entry
  }

  /** Takes from those that count least the ones that failed most. Named peers and members need no room. */
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

  /** Whom to try now, the most promising first. Hearsay of a member's peer comes right after the member. */
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

  /** A try begins: no second one before it is over, or long past. */
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

  /** Whoever answered there did not greet, or was refused. */
  missed(address: string, peer: PeerId, now: number): void {
    const target = targetOf(address, peer)
    this.failed({ target: this.#entries.has(target) ? target : address }, now)
  }

  /** The connection is over: to be tried again soon. */
  lost(peer: PeerId, now: number): void {
    for (const entry of this.#entries.values()) {
      if (entry.peer === peer) entry.nextAt = now + FIRST_BACKOFF_MS * (0.25 + this.#chance() / 2)
    }
  }

  /** It leads back here. */
  forget({ target }: Candidate): void {
    this.#entries.delete(target)
  }

  /** Who answered there, so that it is not tried while it is connected. */
  answered({ target }: Candidate, peer: PeerId): void {
    const entry = this.#entries.get(target)
    if (entry !== undefined) entry.peer = peer
  }

  /** Lines for a file that only this node writes: where members are, and where others answered. */
  get remembered(): ReadonlyArray<string> {
    const lines: { readonly [kind in "member" | "met"]: Array<string> } = { member: [], met: [] }
    for (const entry of this.#entries.values()) {
      const origin = this.#originOf(entry)
      if ((origin !== "member" && origin !== "met") || entry.peer === null) continue
      lines[origin].push(entry.validator === null ? entry.target : `${entry.target} ${entry.validator}`)
    }
    return [...lines.member, ...lines.met.slice(-REMEMBERED_OTHERS)]
  }

  /** What an earlier run remembered. */
  recall(lines: ReadonlyArray<string>): void {
    for (const line of lines) {
      const [target = "", validator = ""] = line.split(" ")
      const { address, peer } = Option.getOrUndefined(spoken(target)) ?? {}
      if (address === undefined || peer === undefined) continue
      this.#learn(address, "met", { peer, validator: isValidator(validator) ? validator : null })
    }
  }
}
