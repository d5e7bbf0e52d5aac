/**
 * Whom this node is connected to, and whose turn it is to be asked. The order depends on nothing a peer can choose: ids
 * can be ground, so they do not count; committee members come first, then peers that brought something when they were last
 * asked, and among equals the one that was asked least recently. A peer that brought nothing waits before its next turn.
 */
import type { Address } from "../../protocol/Address.js"
import type { Timestamp } from "../../protocol/Counter.js"
import { Pace } from "../Pace.js"
import type { Connection, PeerId } from "./Peer.js"

/** A peer that brought nothing waits this many paces before its next turn, twice as long each time it happens again. */
const BENCHED_PACES = 16
const MAX_DOUBLINGS = 5

interface Standing {
  connection: Connection
  /** When it was last asked, counted in questions; 0 for never. */
  turn: number
  hasBrought: boolean
  failures: number
  benchedAt: number
  benchedUntil: number
}

/** Who is asked before others: `Best` is the rule for peers that may lie, `Rotation` gives everybody an equal turn. */
export type Order = "Best" | "Rotation"

export class Peers {
  readonly #everyMs: number
  readonly #isMember: (validator: Address) => boolean
  /** In the order in which they connected. */
  #standings = new Map<PeerId, Standing>()
  #turns = 0
  #paces = new Map<string, Pace>()

  /** `everyMs`: how often one peer is asked or told one kind of thing. `isMember`: of the running epoch's committee. */
  constructor(everyMs: number, isMember: (validator: Address) => boolean) {
    this.#everyMs = everyMs
    this.#isMember = isMember
  }

  /** Gives those that are new. */
  connect(connections: ReadonlyArray<Connection>): ReadonlyArray<PeerId> {
    const before = this.#standings
    this.#standings = new Map()
    const present = new Map(connections.map((connection) => [connection.peer, connection]))
    for (const [peer, standing] of before) {
      const connection = present.get(peer)
      if (connection === undefined) this.#paces = withoutPeer(this.#paces, peer)
      else this.#standings.set(peer, { ...standing, connection })
    }
    const added = [...present.values()].filter(({ peer }) => !before.has(peer))
    for (const connection of added) {
      const fresh = { turn: 0, hasBrought: false, failures: 0, benchedAt: 0, benchedUntil: 0 }
      this.#standings.set(connection.peer, { connection, ...fresh })
    }
    return added.map(({ peer }) => peer)
  }

  has(peer: PeerId): boolean {
    return this.#standings.has(peer)
  }

  get all(): ReadonlyArray<PeerId> {
    return [...this.#standings.keys()]
  }

  get validators(): ReadonlyArray<Address> {
    return [...this.#standings.values()].flatMap(({ connection }) => connection.validator ?? [])
  }

  validatorOf(peer: PeerId): Address | null {
    return this.#standings.get(peer)?.connection.validator ?? null
  }

  peersOf(validator: Address): ReadonlyArray<PeerId> {
    return this.all.filter((peer) => this.validatorOf(peer) === validator)
  }

  /** All of them, the first to be asked first. */
  ranked(now: Timestamp, order: Order = "Best"): ReadonlyArray<PeerId> {
    return [...this.#standings.values()]
      .map((standing) => ({ standing, rank: this.#rank(standing, now, order) }))
      .sort((a, b) => firstDifference(a.rank, b.rank))
      .map(({ standing }) => standing.connection.peer)
  }

  #rank(standing: Standing, now: Timestamp, order: Order): ReadonlyArray<number> {
    const { connection, turn, hasBrought } = standing
    const isMember = connection.validator !== null && this.#isMember(connection.validator)
    // A clock that was set back does not make the wait longer.
    const benchedMs = now < standing.benchedAt ? 0 : Math.max(0, standing.benchedUntil - now)
    return order === "Rotation" ? [turn] : [benchedMs, isMember ? 0 : 1, hasBrought ? 0 : 1, turn]
  }

  /** The one whose turn it is, which ends with that; none when there is nobody. */
  next(now: Timestamp, order: Order = "Best"): PeerId | undefined {
    const [peer] = this.ranked(now, order)
    if (peer !== undefined) this.asked(peer)
    return peer
  }

  asked(peer: PeerId): void {
    const standing = this.#standings.get(peer)
    if (standing !== undefined) standing.turn = ++this.#turns
  }

  /** It gave something that was needed. */
  brought(peer: PeerId): void {
    const standing = this.#standings.get(peer)
    if (standing === undefined) return
    standing.hasBrought = true
    standing.failures = 0
    standing.benchedUntil = 0
  }

  /** It was asked, and gave nothing that was needed or took too long. */
  broughtNothing(peer: PeerId, now: Timestamp): void {
    const standing = this.#standings.get(peer)
    if (standing === undefined) return
    standing.hasBrought = false
    standing.benchedAt = now
    standing.benchedUntil = now + BENCHED_PACES * this.#everyMs * 2 ** standing.failures
    standing.failures = Math.min(MAX_DOUBLINGS, standing.failures + 1)
  }

  /** Whether it is time to tell this peer something of this kind again. */
  isDue(kind: string, peer: PeerId, now: Timestamp): boolean {
    const key = paceKey(kind, peer)
    const pace = this.#paces.get(key) ?? new Pace(this.#everyMs)
    this.#paces.set(key, pace)
    return pace.isDue(now)
  }
}

const firstDifference = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): number => {
  for (const [i, own] of a.entries()) {
    const difference = own - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

const paceKey = (kind: string, peer: PeerId): string => `${kind} ${peer}`

const withoutPeer = (paces: ReadonlyMap<string, Pace>, peer: PeerId): Map<string, Pace> =>
  new Map([...paces].filter(([key]) => !key.endsWith(` ${peer}`)))
