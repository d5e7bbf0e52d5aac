/**
 * Scores peers' behaviour. Actions that no honest node takes cost points, which decay with time. Enough points end the
 * connection; more cause a ban. Late, slow or repeated messages cost nothing.
 */
import type { PeerId } from "../replica/messages/Peer.js"
import * as AddressGroup from "./AddressGroup.js"

const DISCONNECTED_AT = 50
const BANNED_AT = 100
export const BAN_MS = 600_000
/** Each further ban lasts twice as long, up to this limit. */
const LONGEST_BAN_MS = 86_400_000
/** The time in which one point decays. */
const POINT_MS = 10_000
/** Limit of remembered peers; those with the fewest points are forgotten first. */
const MAX_REMEMBERED = 4_096
/** With this many banned peers on one host, only peers with a good record may connect from there. */
export const BANS_PER_ADDRESS = 5

/** Points for each offence. Honest peers commit none of these. */
const OFFENCES = {
  /** Bytes that do not decode, or a message on the wrong lane. */
  malformed: 30,
  /** A well-formed message, vertex or state with a wrong signature or root, or against a rule. */
  invalid: 30,
  /** Longer than any valid message. */
  oversize: 50,
  /** Questions faster than a peer that waits for answers would ask. */
  flood: 10,
  /** More pieces than any node sends, for seconds: tiny pieces that are expensive to read. */
  pieces: 20,
  /** A message that was begun and never finished. */
  unfinished: 20,
  /** Gossip or frames that no version of this program writes. */
  misframed: 50,
} as const

export type Offence = keyof typeof OFFENCES

export type Consequence = "none" | "disconnect" | "ban"

interface Record {
  points: number
  at: number
  bannedUntil: number
  bans: number
  /** The address group it connected from. */
  group: string | null
}

export class Conduct {
  readonly #records = new Map<PeerId, Record>()

  get remembered(): number {
    return this.#records.size
  }

  /** `host`: where the peer connected from, without the port. */
  offend(peer: PeerId, host: string | null, offence: Offence, now: number): Consequence {
    const record = this.#worn(peer, now)
    record.points += OFFENCES[offence]
    record.group = host === null ? null : AddressGroup.hostGroup(host)
    if (record.points < DISCONNECTED_AT) return "none"
    if (record.points < BANNED_AT) return "disconnect"
    record.bannedUntil = now + Math.min(LONGEST_BAN_MS, BAN_MS * 2 ** record.bans)
    record.bans++
    record.points = 0
    return "ban"
  }

  points(peer: PeerId, now: number): number {
    return this.#records.has(peer) ? this.#worn(peer, now).points : 0
  }

  isBanned(peer: PeerId, now: number): boolean {
    return (this.#records.get(peer)?.bannedUntil ?? 0) > now
  }

  /** Whether so many peers from this host are banned that the next one is probably no better. */
  isAddressSuspect(host: string, now: number): boolean {
    const group = AddressGroup.hostGroup(host)
    let banned = 0
    for (const record of this.#records.values()) if (record.group === group && record.bannedUntil > now) banned++
    return banned >= BANS_PER_ADDRESS
  }

  #worn(peer: PeerId, now: number): Record {
    const known = this.#records.get(peer)
    if (known === undefined) return this.#remember(peer, now)
    known.points = Math.max(0, known.points - (now - known.at) / POINT_MS)
    known.at = now
    return known
  }

  #remember(peer: PeerId, now: number): Record {
    if (this.#records.size >= MAX_REMEMBERED) this.#forgetLeast(now)
    const record = { points: 0, at: now, bannedUntil: 0, bans: 0, group: null }
    this.#records.set(peer, record)
    return record
  }

  #forgetLeast(now: number): void {
    const weight = ({ points, bannedUntil }: Record): number => (bannedUntil > now ? BANNED_AT : 0) + points
    let least: readonly [PeerId, number] | undefined
    for (const [peer, record] of this.#records) {
      const own = weight(record)
      if (least === undefined || own < least[1]) least = [peer, own]
    }
    if (least !== undefined) this.#records.delete(least[0])
  }
}
