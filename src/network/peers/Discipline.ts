/** Enforces the verdicts of `Conduct`: cuts the connections of misbehaving peers and keeps them out. */
import type { PeerId } from "../../replica/messages/Peer.js"
import { Conduct, type Consequence, type Offence } from "../Conduct.js"
import type { PeerLog } from "./PeerLog.js"
import type { Facts } from "./Session.js"
import type { Wire } from "./Wire.js"

/** An unbanned peer that stayed this long may reconnect even from an address with many banned peers. */
const TRUSTED_AFTER_MS = 60_000
const MAX_TRUSTED = 1_024

const LOGGED: { readonly [consequence in Consequence]: string } = {
  none: "peer broke the protocol",
  disconnect: "peer disconnected for breaking the protocol",
  ban: "peer banned for breaking the protocol",
}

export interface Offender {
  readonly peer: PeerId
  readonly host: string | null
}

export class Discipline {
  readonly #log: PeerLog
  readonly #wire: Pick<Wire, "connections">
  readonly #now: () => number
  readonly #conduct = new Conduct()
  readonly #trusted = new Set<PeerId>()

  constructor(log: PeerLog, wire: Pick<Wire, "connections">, now: () => number) {
    this.#log = log
    this.#wire = wire
    this.#now = now
  }

  isBanned(peer: PeerId): boolean {
    return this.#conduct.isBanned(peer, this.#now())
  }

  points(peer: PeerId): number {
    return this.#conduct.points(peer, this.#now())
  }

  /** Whether many peers from that host are banned and this one has no good record. */
  isSuspect(peer: PeerId, host: string): boolean {
    return this.#conduct.isAddressSuspect(host, this.#now()) && !this.#trusted.has(peer)
  }

  /** Trusts a peer that behaved well for long enough to reconnect from any address. */
  left({ peer, connectedSince }: Facts): void {
    const hasStayed = this.#now() - connectedSince >= TRUSTED_AFTER_MS
    if (hasStayed && this.points(peer) === 0 && !this.isBanned(peer) && this.#trusted.size < MAX_TRUSTED)
      this.#trusted.add(peer)
  }

  offend({ peer, host }: Offender, offence: Offence, what: string): void {
    const consequence = this.#conduct.offend(peer, host, offence, this.#now())
    const fields = { peer, address: host, offence, what }
    this.#log.complain(consequence === "none" ? "debug" : "warn", LOGGED[consequence], fields)
    if (consequence === "none") return
    this.#trusted.delete(peer)
    this.cut(peer, new Error(what))
  }

  /** `offend` for a peer of which only the id is known. */
  offendPeer(peer: PeerId, offence: Offence, what: string): void {
    const [connection] = this.connectionsOf(peer)
    this.offend({ peer, host: connection?.host ?? null }, offence, what)
  }

  cut(peer: PeerId, error: Error): void {
    for (const connection of this.connectionsOf(peer)) connection.abort(error)
  }

  connectionsOf(peer: PeerId): Wire["connections"] {
    return this.#wire.connections.filter((connection) => connection.peer === peer)
  }
}
