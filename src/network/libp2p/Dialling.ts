/** Keeps this node connected: always to the members of the committee and to those the operator named, to others as long as there are too few. */
import { multiaddr } from "@multiformats/multiaddr"
import type { Address } from "../../protocol/identity/Address.js"
import type { PeerId } from "../../replica/messages/Peer.js"
import * as SteadyClock from "../../turns/SteadyClock.js"
import { AddressBook, type Origin, type Place } from "../AddressBook.js"
import type { PeerAddress } from "../PeerAddress.js"
import { RANK, type Standings } from "../Standing.js"
import * as Exchange from "./Exchange.js"
import type { Session } from "./Session.js"
import type { Switchboard } from "./Switchboard.js"

/** Outbound connections that are looked for; a committee of a hundred is connected by both ends together. */
const OUTBOUND_WANTED = 48
const DIALS_AT_ONCE = 8
/** Where many members are away, the rest of the network is looked for too. */
const DIALS_OF_MEMBERS = 6
const DIAL_LIMIT_MS = 10_000
/** How often somebody is asked for more addresses. */
const ASKED_EVERY_MS = 30_000

export class Dialling {
  readonly #board: Switchboard
  readonly #book: AddressBook
  readonly #standings: Standings
  readonly #dialling: { [origin in Origin]: number } = { named: 0, member: 0, met: 0, told: 0 }
  #askedAt = 0

  constructor(
    board: Switchboard,
    standings: Standings,
    named: ReadonlyArray<PeerAddress>,
    remembered: ReadonlyArray<string>,
  ) {
    this.#board = board
    this.#standings = standings
    this.#book = new AddressBook(Math.random, (validator) => standings.isMember(validator))
    for (const address of named) this.#book.name(address)
    for (const { address, peer } of this.#book.all) if (peer !== null) standings.name(address, peer)
    this.#book.recall(remembered)
  }

  /** Where members are and peers were met, to be tried after a restart. */
  get remembered(): ReadonlyArray<string> {
    return this.#book.remembered
  }

  met({ facts }: Session): void {
    const { connection, address, hello } = facts
    if (connection.direction === "outbound") {
      this.#book.met(address, facts)
      this.#askFrom(facts)
    } else if (hello.port !== 0) this.#book.came(address, facts)
  }

  lost({ facts }: Session): void {
    this.#book.lost(facts.peer, SteadyClock.now())
  }

  missed(address: string, peer: PeerId): void {
    this.#book.missed(address, peer, SteadyClock.now())
  }

  /** Called every now and then. */
  tick(): void {
    const now = SteadyClock.now()
    const sessions = this.#board.sessions
    const outbound = sessions.filter(({ facts }) => facts.connection.direction === "outbound").length
    const validators = new Set(sessions.flatMap(({ facts: { validator } }) => (validator === null ? [] : [validator])))
    for (const place of this.#book.due(now, (each) => this.#isConnected(each, validators))) {
      if (this.#dials >= DIALS_AT_ONCE) break
      if (this.#isWanted(place.origin, outbound)) this.#dial(place, now)
    }
    if (now - this.#askedAt < ASKED_EVERY_MS) return
    this.#askedAt = now
    const asked = sessions[Math.floor(Math.random() * sessions.length)]
    if (asked !== undefined) this.#askFrom(asked.facts)
  }

  get #dials(): number {
    return Object.values(this.#dialling).reduce((sum, each) => sum + each, 0)
  }

  #isWanted(origin: Origin, outbound: number): boolean {
    if (origin === "named") return true
    if (origin === "member") return this.#dialling.member < DIALS_OF_MEMBERS
    return outbound + this.#dials < OUTBOUND_WANTED
  }

  /** A member may have come back with a new node key, under which it is here already. */
  #isConnected({ peer, validator, origin }: Place, validators: ReadonlySet<Address>): boolean {
    if (origin === "member" && validator !== null && validators.has(validator)) return true
    return peer !== null && (peer === this.#board.id || this.#board.session(peer) !== undefined)
  }

  #dial(place: Place, now: number): void {
    const { address, origin, target } = place
    this.#dialling[origin]++
    this.#book.trying(place, now)
    this.#board.transport
      .dial(multiaddr(target), { signal: AbortSignal.timeout(DIAL_LIMIT_MS) })
      .then(({ remotePeer }) => {
        if (remotePeer.equals(this.#board.transport.peerId)) {
          this.#book.forget(place)
          return
        }
        const answered = remotePeer.toString() as PeerId
        this.#book.answered(place, answered)
        if (origin === "named") this.#standings.name(address, answered)
      })
      .catch(() => this.#book.failed(place, SteadyClock.now()))
      .finally(() => {
        this.#dialling[origin]--
      })
  }

  /** Who can be reached, for a peer that asks: as many as fit, members first, so that a crowd of others does not hide them. */
  addressesFor(asker: string): ReadonlyArray<string> {
    return this.#board.sessions
      .filter(({ facts }) => facts.peer !== asker && facts.hello.port !== 0)
      .map(({ facts }) => ({ facts, rank: RANK[this.#standings.of(facts.peer, facts.validator)], lot: Math.random() }))
      .sort((a, b) => b.rank - a.rank || a.lot - b.lot)
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
