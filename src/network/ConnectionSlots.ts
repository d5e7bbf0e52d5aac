/**
 * Decides which inbound connections are admitted. Committee members and named peers always are. Strangers share a fixed
 * number of places; when all are taken, a newcomer replaces the least useful peer of the largest crowd.
 */
import type { PeerId } from "../replica/messages/Peer.js"
import type { Standing } from "./Standing.js"

export const STRANGERS = 128
export const STRANGERS_PER_HOST = 32
/** Limit of connections that have not greeted yet. */
export const UNGREETED = 64
/** The same per host. A committee behind one address greets within a moment. */
export const UNGREETED_PER_HOST = 16
/** After this time a connection from the same host can replace an ungreeted one: a greeting takes four round trips. */
export const GREETS_WITHIN_MS = 2_000
/** A peer that has sent nothing new within this time can be replaced by any other. */
export const PROBATION_MS = 60_000

export interface Held {
  readonly peer: PeerId
  /** Of its host, widest first, ending with the host itself. */
  readonly networks: ReadonlyArray<string>
  readonly connectedSince: number
  /** How many of its messages were new. */
  readonly news: number
  readonly points: number
}

export type Placement =
  | { readonly _tag: "Admitted" }
  | { readonly _tag: "Instead"; readonly of: PeerId }
  | { readonly _tag: "Refused"; readonly reason: string }

const admitted: Placement = { _tag: "Admitted" }

const countBy = <A>(all: Iterable<A>, keyOf: (each: A) => string): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const each of all) {
    const key = keyOf(each)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}

/** Compares points, then news, then connection time. */
const isWorse = (a: Held, b: Held): boolean =>
  a.points !== b.points
    ? a.points > b.points
    : a.news !== b.news
      ? a.news < b.news
      : a.connectedSince > b.connectedSince

const worst = (all: Iterable<Held>): Held | undefined => {
  let found: Held | undefined
  for (const each of all) if (found === undefined || isWorse(each, found)) found = each
  return found
}

const instead = (victim: Held | undefined): Placement | undefined =>
  victim === undefined ? undefined : { _tag: "Instead", of: victim.peer }

/** The network at this depth, 0 being the widest. IPv4 addresses and names have fewer levels; the last one repeats. */
const networkAt = (networks: ReadonlyArray<string>, depth: number): string =>
  networks[Math.min(depth, networks.length - 1)] ?? ""

const DEPTHS = 4

/**
 * The largest crowd: the network with the most peers, the part of it with the most, and so on; ties are kept together.
 * Empty if the newcomer's own network is, or would become, as large.
 */
const crowdOf = <A extends Pick<Held, "networks">>(
  all: ReadonlyArray<A>,
  newcomer?: ReadonlyArray<string>,
): ReadonlyArray<A> => {
  let crowd = all
  let isOwn = newcomer !== undefined
  for (let depth = 0; depth < DEPTHS && crowd.length > 0; depth++) {
    const nameOf = ({ networks }: A) => networkAt(networks, depth)
    const counts = countBy(crowd, nameOf)
    const largest = Math.max(...counts.values())
    const own = newcomer === undefined ? "" : networkAt(newcomer, depth)
    isOwn = isOwn && (counts.get(own) ?? 0) + 1 >= largest
    crowd = crowd.filter((each) => (isOwn ? nameOf(each) === own : counts.get(nameOf(each)) === largest))
  }
  return isOwn ? [] : crowd
}

/** Whether a peer that has greeted gets a place, given the strangers that hold one. */
export const judge = (
  held: ReadonlyArray<Held>,
  standing: Standing,
  networks: ReadonlyArray<string>,
  now: number,
): Placement => {
  if (standing !== "stranger") return admitted
  const group = networks.at(-1)
  if (held.filter((each) => each.networks.at(-1) === group).length >= STRANGERS_PER_HOST) {
    return { _tag: "Refused", reason: `${group} has reached the limit of ${STRANGERS_PER_HOST} connections` }
  }
  if (held.length < STRANGERS) return admitted
  const idle = held.filter(({ news, connectedSince }) => news === 0 && now - connectedSince >= PROBATION_MS)
  const misbehaved = held.filter(({ points }) => points > 0)
  return (
    instead(worst(crowdOf(held, networks))) ??
    instead(worst(misbehaved)) ??
    instead(worst(idle)) ?? {
      _tag: "Refused",
      reason: `all ${STRANGERS} places for strangers are taken by useful peers`,
    }
  )
}

/** A connection that has not greeted: only its origin is known. */
export interface Ungreeted {
  readonly id: string
  readonly networks: ReadonlyArray<string>
  readonly since: number
}

export type Opening =
  | { readonly _tag: "Opened" }
  | { readonly _tag: "InsteadOf"; readonly id: string }
  | { readonly _tag: "Full" }

const oldestOf = (waiting: ReadonlyArray<Ungreeted>): Ungreeted | undefined =>
  waiting.reduce<Ungreeted | undefined>(
    (oldest, each) => (oldest && oldest.since <= each.since ? oldest : each),
    undefined,
  )

/** Whether one more connection may open and greet. If too many wait, it replaces the oldest of the largest crowd. */
export const open = (waiting: ReadonlyArray<Ungreeted>, networks: ReadonlyArray<string>, now: number): Opening => {
  const group = networks.at(-1)
  const ofHost = waiting.filter((each) => each.networks.at(-1) === group)
  if (ofHost.length >= UNGREETED_PER_HOST) {
    const slow = oldestOf(ofHost)
    return slow !== undefined && now - slow.since >= GREETS_WITHIN_MS
      ? { _tag: "InsteadOf", id: slow.id }
      : { _tag: "Full" }
  }
  if (waiting.length < UNGREETED) return { _tag: "Opened" }
  const oldest = oldestOf(crowdOf(waiting))
  return oldest === undefined ? { _tag: "Full" } : { _tag: "InsteadOf", id: oldest.id }
}
