/** Whom this node is connected to, and whose turn it is to be asked. */
import type { Address } from "../../protocol/Address.js"
import type { Timestamp } from "../../protocol/Counter.js"
import { Pace } from "../Pace.js"
import type { Connection, PeerId } from "./Peer.js"

const byPeer = (a: Connection, b: Connection): number => (a.peer < b.peer ? -1 : 1)

export class Peers {
  readonly #everyMs: number
  #connections: ReadonlyArray<Connection> = []
  #turn = 0
  #paces = new Map<string, Pace>()

  /** `everyMs`: how often one peer is asked or told one kind of thing. */
  constructor(everyMs: number) {
    this.#everyMs = everyMs
  }

  /** Gives those that are new. */
  connect(connections: ReadonlyArray<Connection>): ReadonlyArray<PeerId> {
    const before = new Set(this.all)
    this.#connections = [...connections].sort(byPeer)
    const now = this.all
    for (const peer of before) if (!now.includes(peer)) this.#paces = withoutPeer(this.#paces, peer)
    return now.filter((peer) => !before.has(peer))
  }

  get all(): ReadonlyArray<PeerId> {
    return this.#connections.map(({ peer }) => peer)
  }

  get validators(): ReadonlyArray<Address> {
    return this.#connections.flatMap(({ validator }) => validator ?? [])
  }

  validatorOf(peer: PeerId): Address | null {
    return this.#connections.find((connection) => connection.peer === peer)?.validator ?? null
  }

  peersOf(validator: Address): ReadonlyArray<PeerId> {
    return this.#connections.filter((connection) => connection.validator === validator).map(({ peer }) => peer)
  }

  /** One after the other; none when there is nobody. */
  next(): PeerId | undefined {
    return this.all[this.#turn++ % Math.max(1, this.#connections.length)]
  }

  /** Whether it is time to tell this peer something of this kind again. */
  isDue(kind: string, peer: PeerId, now: Timestamp): boolean {
    const key = paceKey(kind, peer)
    const pace = this.#paces.get(key) ?? new Pace(this.#everyMs)
    this.#paces.set(key, pace)
    return pace.isDue(now)
  }
}

const paceKey = (kind: string, peer: PeerId): string => `${kind} ${peer}`

const withoutPeer = (paces: ReadonlyMap<string, Pace>, peer: PeerId): Map<string, Pace> =>
  new Map([...paces].filter(([key]) => !key.endsWith(` ${peer}`)))
