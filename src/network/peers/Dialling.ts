/** Keeps this node connected: always to committee members and named peers, and to others while there are too few. */
import type { Address } from "../../protocol/identity/Address.js"
import type { PeerId } from "../../replica/messages/Peer.js"
import { AddressBook, type Candidate, type Origin } from "../AddressBook.js"
import * as PeerAddress from "../PeerAddress.js"
import { RANK, type Standings } from "../Standing.js"
import { AddressExchange } from "./AddressExchange.js"
import type { Clock } from "./Clock.js"
import type { PeerLog } from "./PeerLog.js"
import type { Reception } from "./Reception.js"
import type { Session } from "./Session.js"
import { type Connection, NoPeer, type Wire } from "./Wire.js"

/** The target number of outbound connections. A committee of 100 is connected from both ends together. */
const OUTBOUND_WANTED = 48
const DIALS_AT_ONCE = 8
/** Leaves dials for the rest of the network when many members are away. */
const DIALS_OF_MEMBERS = 6
const DIAL_LIMIT_MS = 10_000
const ASKED_EVERY_MS = 30_000

export interface Around {
  readonly wire: Pick<Wire, "id" | "dial">
  readonly reception: Pick<Reception, "session" | "sessions">
  readonly standings: Standings
  readonly log: Pick<PeerLog, "complain">
  readonly named: ReadonlyArray<PeerAddress.PeerAddress>
  readonly remembered: ReadonlyArray<string>
  readonly clock: Clock
}

export class Dialling {
  readonly #around: Around
  readonly #book: AddressBook
  readonly #dialling: { [origin in Origin]: number } = { named: 0, member: 0, met: 0, told: 0 }
  readonly #exchanges = new WeakMap<Session, AddressExchange>()
  #askedAt = 0

  constructor(around: Around) {
    const { standings, named, remembered } = around
    this.#around = around
    this.#book = new AddressBook(Math.random, (validator) => standings.isMember(validator))
    for (const address of named) this.#book.name(address)
    for (const { address, peer } of this.#book.all) if (peer !== null) standings.name(address, peer)
    this.#book.recall(remembered)
  }

  /** Addresses to try after a restart: members, and peers this node has met. */
  get remembered(): ReadonlyArray<string> {
    return this.#book.remembered
  }

  knows(host: string): boolean {
    return this.#book.knows(host)
  }

  met(session: Session): void {
    const { facts } = session
    const { connection, address, hello, peer, host } = facts
    const exchange = new AddressExchange(connection.lanes, {
      now: this.#around.clock.now,
      tell: () => this.addressesFor(peer),
      learn: (addresses) => this.#book.learn(addresses, host),
    })
    this.#exchanges.set(session, exchange)
    if (connection.direction === "outbound") {
      this.#book.met(address, facts)
      exchange.ask()
    } else if (hello.port !== 0) this.#book.came(address, facts)
  }

  lost({ facts }: Session): void {
    this.#book.lost(facts.peer, this.#around.clock.now())
  }

  missed({ address, peer }: Connection): void {
    this.#book.missed(address, peer, this.#around.clock.now())
  }

  /** Call periodically. */
  tick(): void {
    const now = this.#around.clock.now()
    const { sessions } = this.#around.reception
    const outbound = sessions.filter(({ facts }) => facts.connection.direction === "outbound").length
    const validators = new Set(sessions.flatMap(({ facts: { validator } }) => (validator === null ? [] : [validator])))
    for (const candidate of this.#book.due(now, (each) => this.#isConnected(each, validators))) {
      if (this.#dials >= DIALS_AT_ONCE) break
      if (this.#isWanted(candidate.origin, outbound)) this.#dial(candidate, now)
    }
    if (now - this.#askedAt < ASKED_EVERY_MS) return
    this.#askedAt = now
    const asked = sessions[Math.floor(Math.random() * sessions.length)]
    if (asked !== undefined) this.#exchanges.get(asked)?.ask()
  }

  get #dials(): number {
    return Object.values(this.#dialling).reduce((sum, each) => sum + each, 0)
  }

  #isWanted(origin: Origin, outbound: number): boolean {
    if (origin === "named") return true
    if (origin === "member") return this.#dialling.member < DIALS_OF_MEMBERS
    return outbound + this.#dials < OUTBOUND_WANTED
  }

  /** A member may have returned with a new node key and be connected under that. */
  #isConnected({ peer, validator, origin }: Candidate, validators: ReadonlySet<Address>): boolean {
    const { wire, reception } = this.#around
    if (origin === "member" && validator !== null && validators.has(validator)) return true
    return peer !== null && (peer === wire.id || reception.session(peer) !== undefined)
  }

  #dial(candidate: Candidate, at: number): void {
    const { wire, standings, clock } = this.#around
    const { address, origin, target } = candidate
    this.#dialling[origin]++
    this.#book.trying(candidate, at)
    wire
      .dial(target, DIAL_LIMIT_MS)
      .then((answered) => {
        if (answered === wire.id) {
          this.#book.forget(candidate)
          return
        }
        this.#book.answered(candidate, answered)
        if (origin === "named") standings.name(address, answered)
      })
      .catch((error: unknown) => {
        this.#book.failed(candidate, clock.now())
        this.#explain(candidate, error)
      })
      .finally(() => {
        this.#dialling[origin]--
      })
  }

  /**
   * Logs named peers and members as warnings, and only if something answered: the peer list already shows absent nodes.
   */
  #explain({ address, peer, origin }: Candidate, error: unknown): void {
    if (!(error instanceof NoPeer)) return
    const level = origin === "named" || origin === "member" ? "warn" : "debug"
    this.#around.log.complain(level, `peer not connected: ${error.message}`, { peer: peer ?? address, address })
  }

  /**
   * Connected peers to share with a peer that asks: as many as fit, members first, so that a crowd of strangers cannot
   * hide them.
   */
  addressesFor(asker: PeerId): ReadonlyArray<string> {
    const { reception, standings } = this.#around
    return reception.sessions
      .filter(({ facts }) => facts.peer !== asker && facts.hello.port !== 0)
      .map(({ facts }) => ({ facts, rank: RANK[standings.of(facts.peer, facts.validator)], lot: Math.random() }))
      .sort((a, b) => b.rank - a.rank || a.lot - b.lot)
      .map(({ facts }) => PeerAddress.at(facts.peer, facts.address))
  }
}
