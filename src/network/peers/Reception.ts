/** Greets new connections, decides which peers get a place, and keeps their sessions. */
import type { Address } from "../../protocol/identity/Address.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import type { PeerId } from "../../replica/messages/Peer.js"
import * as AddressGroup from "../AddressGroup.js"
import * as ConnectionSlots from "../ConnectionSlots.js"
import * as Hello from "../Hello.js"
import type { Peer } from "../Network.js"
import * as PeerAddress from "../PeerAddress.js"
import type { Standing, Standings } from "../Standing.js"
import type { Arrivals } from "./Arrivals.js"
import type { Clock } from "./Clock.js"
import type { Discipline } from "./Discipline.js"
import * as Greeting from "./Greeting.js"
import { KeyHolders } from "./KeyHolders.js"
import { type LogEntry, type PeerLog, reasonOf } from "./PeerLog.js"
import type { PeerMemory } from "./PeerMemory.js"
import { Session } from "./Session.js"
import type { Traffic } from "./Traffic.js"
import type { Connection, Wire } from "./Wire.js"

export const GREETING_LIMIT_MS = 10_000

/** The least time between two moments at which connections without a proof end. */
const RENEWAL_MS = 120_000

/** The reason for ending a connection after a bug of this node. */
export const BUG = new Error("internal error of this node")

export interface Around {
  readonly wire: Pick<Wire, "id" | "port">
  readonly hello: Omit<Hello.Hello, "challenge" | "port" | "version">
  readonly signer: Hello.Prover | null
  readonly standings: Standings
  readonly met: (session: Session) => void
  readonly lost: (session: Session) => void
  /** A connection dialled by this node got no session. */
  readonly missed: (connection: Connection) => void
  readonly changed: () => void
  readonly log: PeerLog
  readonly discipline: Discipline
  readonly arrivals: Arrivals
  readonly traffic: Traffic
  readonly holdings: PeerMemory
  readonly clock: Clock
}

class Newcomer {
  readonly connection: Connection
  readonly since: number
  isDecided = false
  isRefused = false

  constructor(connection: Connection, since: number) {
    this.connection = connection
    this.since = since
  }
}

export class Reception {
  readonly #around: Around
  readonly #sessions = new Map<PeerId, Session>()
  readonly #holders = new KeyHolders()
  readonly #newcomers = new Map<Connection, Newcomer>()
  /** Connections on which this node has not proven its validator. */
  readonly #unproven = new Set<Connection>()
  #renewedAt = Number.NEGATIVE_INFINITY

  constructor(around: Around) {
    this.#around = around
  }

  get sessions(): ReadonlyArray<Session> {
    return [...this.#sessions.values()]
  }

  get peers(): ReadonlyArray<Peer> {
    return this.sessions.map((session) => session.asPeer)
  }

  session(peer: PeerId): Session | undefined {
    return this.#sessions.get(peer)
  }

  standingOf(peer: PeerId): Standing {
    return this.#standing(peer, this.#sessions.get(peer)?.facts.validator ?? null)
  }

  #standing(peer: PeerId, validator: Address | null): Standing {
    const isOneOfMany = validator !== null && !this.#holders.isFirst(validator, peer)
    return this.#around.standings.of(peer, isOneOfMany ? null : validator)
  }

  get strangers(): number {
    return this.#strangers.length
  }

  /**
   * Strangers that dialled in, with the facts for judging each. Closing connections have already given up their place.
   */
  get #strangers(): ReadonlyArray<ConnectionSlots.Held> {
    return this.sessions
      .filter(({ facts: { connection, peer } }) => {
        return connection.direction === "inbound" && connection.isOpen && this.standingOf(peer) === "stranger"
      })
      .map(({ facts: { peer, networks, connectedSince }, news }) => {
        return { peer, networks, connectedSince, news, points: this.#around.discipline.points(peer) }
      })
  }

  /** Why a greeted peer gets no place; null if it gets one, possibly another peer's. */
  #findPlace(peer: PeerId, host: string, networks: ReadonlyArray<string>, standing: Standing): string | null {
    if (standing === "stranger" && this.#around.discipline.isSuspect(peer, host)) {
      return `several other peers from ${host} are banned`
    }
    const others = this.#strangers.filter((held) => held.peer !== peer)
    const verdict = ConnectionSlots.judge(others, standing, networks, this.#around.clock.now())
    switch (verdict._tag) {
      case "Admitted":
        return null
      case "Refused":
        return verdict.reason
      case "Instead": {
        const rival = this.#sessions.get(verdict.of)
        if (rival !== undefined) this.#drop(rival.facts.connection, "another peer takes its place", "debug")
        return null
      }
    }
  }

  opened(connection: Connection): void {
    const { arrivals, wire, clock } = this.#around
    const newcomer = new Newcomer(connection, clock.now())
    this.#newcomers.set(connection, newcomer)
    arrivals.arrived(connection.address, () => this.#refuse(newcomer, "too many connections are waiting to greet"))
    if (connection.peer === wire.id) this.#refuse(newcomer, "the peer is this node itself")
    else void this.#greet(newcomer)
  }

  #decide(newcomer: Newcomer): void {
    newcomer.isDecided = true
    this.#around.arrivals.done(newcomer.connection.address)
  }

  closed(connection: Connection): void {
    const { discipline, log, lost, changed } = this.#around
    const newcomer = this.#newcomers.get(connection)
    if (newcomer !== undefined) this.#decide(newcomer)
    this.#newcomers.delete(connection)
    this.#unproven.delete(connection)
    const { peer } = connection
    const session = this.#sessions.get(peer)
    if (session?.facts.connection !== connection) return
    session.end()
    this.#sessions.delete(peer)
    this.#holders.left(session.facts.validator, peer)
    discipline.left(session.facts)
    log.write("info", "peer disconnected", { peer, address: session.facts.address })
    lost(session)
    changed()
  }

  async #greet(newcomer: Newcomer): Promise<void> {
    const { wire, hello: own, signer, discipline, log } = this.#around
    const { connection } = newcomer
    const hello = { ...own, version: Hello.PROTOCOL_VERSION, port: wire.port, challenge: Hello.drawChallenge() }
    await Greeting.greet({ id: wire.id, hello, signer }, connection.peer, connection.lanes)
      .then(
        (greeted) => this.#admit(newcomer, greeted),
        (error: unknown) => {
          if (error instanceof Greeting.NoGreeting) {
            discipline.offend(connection, "malformed", error.message)
          }
          this.#refuse(newcomer, reasonOf(error), error instanceof Greeting.Strangers ? "warn" : "debug")
        },
      )
      .catch((error: unknown) => {
        log.failed(connection.peer, "greeting", error)
        connection.abort(BUG)
      })
  }

  #admit(newcomer: Newcomer, { hello, validator, isUnproven }: Greeting.Greeted): void {
    const { traffic, holdings, log, met, changed, clock } = this.#around
    const { connection } = newcomer
    const { peer, direction } = connection
    const rival = this.#sessions.get(peer)
    if (!connection.isOpen) return
    if (rival !== undefined && this.#prefers(rival.facts.connection, connection)) {
      this.#refuse(newcomer, "the peer is already connected")
      return
    }
    const { host } = connection
    const networks = AddressGroup.networksAround(host)
    const standing = this.#standing(peer, validator)
    const refusal = direction === "inbound" ? this.#findPlace(peer, host, networks, standing) : null
    if (refusal !== null) {
      this.#refuse(newcomer, refusal)
      return
    }
    const address = addressOf(connection, host, hello.port)
    const connectedSince = Natural.timestamp(clock.now())
    const facts = { peer, connection, hello, validator, address, host, networks, connectedSince }
    if (rival !== undefined && rival.facts.validator !== validator) this.#holders.left(rival.facts.validator, peer)
    this.#holders.came(validator, peer)
    const counted = { meter: traffic.meterOf(peer), account: holdings.open(peer, standing) }
    const session = new Session(facts, counted, clock)
    this.#sessions.set(peer, session)
    if (isUnproven) this.#unproven.add(connection)
    this.#decide(newcomer)
    if (rival !== undefined) {
      rival.end()
      rival.facts.connection.close()
    }
    log.write("info", "peer connected", { peer, address, direction, validator })
    met(session)
    changed()
  }

  /** Of two connections to one peer, both ends must keep the same: the one dialled by the lower peer id. */
  #prefers(known: Connection, fresh: Connection): boolean {
    if (!known.isOpen || known.direction === fresh.direction) return false
    const lower = this.#around.wire.id < known.peer ? "outbound" : "inbound"
    return known.direction === lower
  }

  /** Ends connections that did not greet in time, and those that need a proof. Call periodically. */
  sweep(): void {
    this.#renew()
    const before = this.#around.clock.now() - GREETING_LIMIT_MS
    for (const newcomer of this.#newcomers.values()) {
      if (!newcomer.isDecided && newcomer.since < before) this.#refuse(newcomer, "the peer did not greet in time")
    }
  }

  /**
   * Once the signer is back, ends the connections on which this node could not prove its validator: only a greeting has
   * a proof, and without one the peer treats this node as a stranger. A signer can also refuse proofs or be late with
   * each, so this happens only now and then.
   */
  #renew(): void {
    const { signer, clock } = this.#around
    if (signer?.isAway?.() === true || this.#unproven.size === 0 || clock.now() < this.#renewedAt + RENEWAL_MS) return
    this.#renewedAt = clock.now()
    for (const connection of this.#unproven) this.#drop(connection, "this node proves its key on the next one", "debug")
    this.#unproven.clear()
  }

  /** A greeting can still fail after the connection is refused. */
  #refuse(newcomer: Newcomer, reason: string, level: LogEntry["level"] = "debug"): void {
    const { connection, isRefused } = newcomer
    if (isRefused) return
    newcomer.isRefused = true
    this.#decide(newcomer)
    if (connection.direction === "outbound") this.#around.missed(connection)
    this.#drop(connection, reason, level)
  }

  #drop(connection: Connection, reason: string, level: LogEntry["level"]): void {
    const { peer, address } = connection
    // The message leaves out the address, whose port changes every time, so that repeated complaints are recognised.
    this.#around.log.complain(level, `connection refused: ${reason}`, { peer, address })
    connection.close()
  }
}

/** Where others can reach the peer: the dialled address, or the port it announces at the address it connects from. */
const addressOf = ({ direction, address }: Connection, host: string, port: number): string =>
  direction === "outbound" || port === 0 ? address : PeerAddress.hostPort(host, port)
