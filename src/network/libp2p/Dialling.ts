/** Keeps this node connected: to those the operator named always, to others as long as there are too few. */
import { multiaddr } from "@multiformats/multiaddr"
import type { PeerId } from "../../consensus/replica/Peer.js"
import { AddressBook, type Place } from "../AddressBook.js"
import type { PeerAddress } from "../PeerAddress.js"
import type { Standings } from "../Standing.js"
import * as Exchange from "./Exchange.js"
import type { Session } from "./Session.js"
import type { Switchboard } from "./Switchboard.js"

/** Outbound connections that are looked for; a committee of a hundred is connected by both ends together. */
const OUTBOUND_WANTED = 48
const DIALS_AT_ONCE = 8
const DIAL_LIMIT_MS = 10_000
/** How often somebody is asked for more addresses. */
const ASKED_EVERY_MS = 30_000
/** Peers that are kept for the next start. */
const REMEMBERED = 128

export class Dialling {
  readonly #board: Switchboard
  readonly #book: AddressBook
  readonly #standings: Standings
  #dialling = 0
  #askedAt = 0

  constructor(
    board: Switchboard,
    standings: Standings,
    named: ReadonlyArray<PeerAddress>,
    remembered: ReadonlyArray<string>,
  ) {
    this.#board = board
    this.#standings = standings
    this.#book = new AddressBook(Math.random)
    for (const address of named) this.#book.name(address)
    for (const { address, peer } of this.#book.all) if (peer !== null) standings.name(address, peer)
    // From this node's own file, so as good as from within the house.
    this.#book.told(remembered, "127.0.0.1")
  }

  /** Where peers were met, to be tried after a restart. */
  get remembered(): ReadonlyArray<string> {
    return this.#book.all
      .filter(({ origin, peer }) => origin === "met" && peer !== null)
      .slice(-REMEMBERED)
      .map(({ address, peer }) => `${address}/p2p/${peer}`)
  }

  #isConnected({ peer }: Place): boolean {
    return peer !== null && (peer === this.#board.id || this.#board.session(peer) !== undefined)
  }

  met({ facts }: Session): void {
    const { connection, address, peer, host, hello } = facts
    if (connection.direction === "outbound") {
      this.#book.met(address, peer)
      this.#askFrom(facts)
    } else if (hello.port !== 0) this.#book.told([`${address}/p2p/${peer}`], host)
  }

  lost({ facts }: Session): void {
    this.#book.lost(facts.peer, Date.now())
  }

  missed(address: string): void {
    this.#book.failed(address, Date.now())
  }

  /** Called every now and then. */
  tick(): void {
    const now = Date.now()
    const outbound = this.#board.sessions.filter(({ facts }) => facts.connection.direction === "outbound").length
    for (const place of this.#book.due(now, (each) => this.#isConnected(each))) {
      if (this.#dialling >= DIALS_AT_ONCE) break
      if (place.origin === "named" || outbound + this.#dialling < OUTBOUND_WANTED) this.#dial(place, now)
    }
    if (now - this.#askedAt < ASKED_EVERY_MS) return
    this.#askedAt = now
    const sessions = this.#board.sessions
    const asked = sessions[Math.floor(Math.random() * sessions.length)]
    if (asked !== undefined) this.#askFrom(asked.facts)
  }

  #dial({ address, peer, origin }: Place, now: number): void {
    this.#dialling++
    this.#book.trying(address, now)
    const target = multiaddr(peer === null ? address : `${address}/p2p/${peer}`)
    this.#board.transport
      .dial(target, { signal: AbortSignal.timeout(DIAL_LIMIT_MS) })
      .then(({ remotePeer }) => {
        if (remotePeer.equals(this.#board.transport.peerId)) {
          this.#book.forget(address)
          return
        }
        const answered = remotePeer.toString() as PeerId
        this.#book.answered(address, answered)
        if (origin === "named") this.#standings.name(address, answered)
      })
      .catch(() => this.#book.failed(address, Date.now()))
      .finally(() => {
        this.#dialling--
      })
  }

  /** Everybody who can be reached, for a peer that asks. */
  addressesFor(asker: string): ReadonlyArray<string> {
    return this.#board.sessions
      .filter(({ facts }) => facts.peer !== asker && facts.hello.port !== 0)
      .map(({ facts }) => `${facts.address}/p2p/${facts.peer}`)
  }

  #askFrom({ connection, host }: Session["facts"]): void {
    connection
      .newStream(this.#board.protocolOf("peers"))
      .then(Exchange.ask)
      .then((addresses) => this.#book.told(addresses, host))
      .catch(() => {
        // It has gone, or does not tell; others do.
      })
  }

  async start(): Promise<void> {
    await this.#board.transport.handle(
      this.#board.protocolOf("peers"),
      ({ stream, connection }) => {
        const asker = connection.remotePeer.toString()
        Exchange.tell(stream, this.addressesFor(asker)).catch((error: unknown) =>
          stream.abort(error instanceof Error ? error : new Error(String(error))),
        )
      },
      { maxInboundStreams: 1 },
    )
  }
}
