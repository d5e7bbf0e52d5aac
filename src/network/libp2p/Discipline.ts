/** What follows from how peers behave: `Conduct` judges, and here the connection is cut and the peer kept out. */
import type { Connection } from "@libp2p/interface"
import type { PeerId } from "../../replica/messages/Peer.js"
import { Conduct, type Consequence, type Offence } from "../Conduct.js"
import type { Notices } from "./Notices.js"
import type { Facts } from "./Session.js"

/** Whoever was connected for this long and is not banned is let in even where many are banned. */
const TRUSTED_AFTER_MS = 60_000
const MAX_TRUSTED = 1_024

const SAYS: { readonly [consequence in Consequence]: string } = {
  none: "peer did what no honest node does",
  disconnect: "peer disconnected for what no honest node does",
  ban: "peer banned for what no honest node does",
}

export class Discipline {
  readonly #notices: Notices
  readonly #connectionsOf: (peer: PeerId) => ReadonlyArray<Connection>
  readonly #now: () => number
  readonly #conduct = new Conduct()
  readonly #trusted = new Set<PeerId>()

  constructor(notices: Notices, connectionsOf: (peer: PeerId) => ReadonlyArray<Connection>, now: () => number) {
    this.#notices = notices
    this.#connectionsOf = connectionsOf
    this.#now = now
  }

  isBanned(peer: PeerId): boolean {
    return this.#conduct.isBanned(peer, this.#now())
  }

  points(peer: PeerId): number {
    return this.#conduct.points(peer, this.#now())
  }

  /** Many who came from there were banned, and this one is not known to behave. */
  isSuspect(peer: PeerId, host: string): boolean {
    return this.#conduct.isAddressSuspect(host, this.#now()) && !this.#trusted.has(peer)
  }

  /** It has gone. If it behaved long enough, it may come back from anywhere. */
  left({ peer, connectedSince }: Facts): void {
    const hasStayed = this.#now() - connectedSince >= TRUSTED_AFTER_MS
    if (hasStayed && this.points(peer) === 0 && !this.isBanned(peer) && this.#trusted.size < MAX_TRUSTED)
      this.#trusted.add(peer)
  }

  offend(peer: PeerId, host: string | null, offence: Offence, what: string): void {
    const consequence = this.#conduct.offend(peer, host, offence, this.#now())
    const fields = { peer, address: host, offence, what }
    this.#notices.complain(consequence === "none" ? "debug" : "warn", SAYS[consequence], fields)
    if (consequence === "none") return
    this.#trusted.delete(peer)
    this.cut(peer, new Error(what))
  }

  offendSession({ peer, host }: Facts, offence: Offence, what: string): void {
    this.offend(peer, host, offence, what)
  }

  /** Ends all connections to a peer at once. */
  cut(peer: PeerId, error: Error): void {
    for (const connection of this.#connectionsOf(peer)) connection.abort(error)
  }
}
