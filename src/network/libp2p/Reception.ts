/** Has both ends of a connection greet, decides who gets a place, and keeps the sessions with those who have one. */
import type { Connection, Stream } from "@libp2p/interface"
import type { Signer } from "../../protocol/identity/Keys.js"
import * as Counter from "../../protocol/numbers/Counter.js"
import type { PeerId } from "../../replica/messages/Peer.js"
import * as Frames from "../Frames.js"
import * as Hello from "../Hello.js"
import type { Peer } from "../Network.js"
import * as Places from "../Places.js"
import type { Standing, Standings } from "../Standing.js"
import type { Arrivals } from "./Arrivals.js"
import type * as Channel from "./Channel.js"
import type { Discipline } from "./Discipline.js"
import * as Greeting from "./Greeting.js"
import type { Lines } from "./Lines.js"
import { type Notice, type Notices, reasonOf } from "./Notices.js"
import { Session } from "./Session.js"
import * as Transport from "./Transport.js"

export const GREETING_LIMIT_MS = 10_000

/** Why a connection ended that a bug of this node has ended. */
export const BUG = new Error("this node failed at it")

/** Who comes and goes. */
export interface Listener {
  /** Everybody there is, whenever that changes. */
  readonly changed: (peers: ReadonlyArray<Peer>) => void
  /** The greeting went well. */
  readonly met: (session: Session) => void
  readonly lost: (session: Session) => void
  /** The greeting did not go well, for a connection that was dialled from here. */
  readonly missed: (address: string, peer: PeerId) => void
}

/** What this node says of itself when it greets. */
export interface Self {
  readonly id: PeerId
  readonly port: number
}

export interface Around {
  readonly self: () => Self
  readonly hello: Omit<Hello.Hello, "challenge" | "port" | "version">
  readonly signer: Signer | null
  readonly standings: Standings
  readonly protocolOf: (channel: Channel.Channel) => string
  readonly listener: Listener
  readonly notices: Notices
  readonly discipline: Discipline
  readonly arrivals: Arrivals
  readonly lines: Lines
  /** Milliseconds. */
  readonly now: () => number
}

/** A multiaddress without the peer id at its end. */
const withoutPeer = (address: string): string => address.replace(/\/p2p\/[^/]+$/, "")

const nothing = () => {}

/** A promise that somebody else keeps, and whether it is kept. */
const pending = <A>() => {
  let keep: (value: A) => void = nothing
  const promise = new Promise<A>((resolve) => {
    keep = resolve
  })
  return { promise, keep }
}

export class Reception {
  readonly #around: Around
  readonly #sessions = new Map<PeerId, Session>()
  /** For every connection: its session, once it is greeted, or none. */
  readonly #greetings = new Map<string, ReturnType<typeof pending<Session | null>>>()

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

  /** The session of a connection, once both ends have greeted; null when it gets none. */
  async greeted(connection: Connection): Promise<Session | null> {
    return (await this.#greetings.get(connection.id)?.promise) ?? null
  }

  standingOf(peer: PeerId): Standing {
    return this.#around.standings.of(peer, this.#sessions.get(peer)?.facts.validator ?? null)
  }

  /** How many places for strangers are taken. */
  get strangers(): number {
    return this.#strangers.length
  }

  /** Strangers that came by themselves, with what speaks for each. */
  get #strangers(): ReadonlyArray<Places.Held> {
    return this.sessions
      .filter(({ facts }) => facts.connection.direction === "inbound" && this.standingOf(facts.peer) === "stranger")
      .map(({ facts: { peer, host, connectedSince }, news }) => {
        return { peer, host, connectedSince, news, points: this.#around.discipline.points(peer) }
      })
  }

  /** Why a peer that has greeted gets no place; null when it has one, which may have been another's. */
  #findPlace(peer: PeerId, host: string, standing: Standing): string | null {
    if (standing === "stranger" && this.#around.discipline.isSuspect(peer, host)) {
      return `several others from ${host} are banned`
    }
    const others = this.#strangers.filter((held) => held.peer !== peer)
    const verdict = Places.judge(others, standing, host, this.#around.now())
    switch (verdict._tag) {
      case "Admitted":
        return null
      case "Refused":
        return verdict.reason
      case "Instead": {
        const rival = this.#sessions.get(verdict.of)
        if (rival !== undefined) this.#leave(rival.facts.connection, "its place is given to another peer", "debug")
        return null
      }
    }
  }

  opened(connection: Connection): void {
    const { arrivals, self } = this.#around
    const greeting = pending<Session | null>()
    this.#greetings.set(connection.id, greeting)
    // As it came in, which was before anybody knew who it is.
    const arrival = withoutPeer(connection.remoteAddr.toString())
    arrivals.arrived(arrival, () => this.#leave(connection, "others wait to greet", "debug"))
    greeting.promise.finally(() => arrivals.done(arrival))
    if (connection.remotePeer.toString() === self().id) {
      this.#leave(connection, "it is this node itself", "debug")
      return
    }
    if (connection.direction === "outbound") {
      connection
        .newStream(Greeting.PROTOCOL)
        .then((stream) => this.greet(connection, stream))
        .catch((error: unknown) => this.#leave(connection, reasonOf(error), "debug"))
    } else {
      const timer = setTimeout(() => this.#leave(connection, "it did not greet", "debug"), GREETING_LIMIT_MS)
      timer.unref()
      greeting.promise.finally(() => clearTimeout(timer))
    }
  }

  closed(connection: Connection): void {
    const { discipline, notices, listener } = this.#around
    this.#greetings.get(connection.id)?.keep(null)
    this.#greetings.delete(connection.id)
    const peer = connection.remotePeer.toString() as PeerId
    const session = this.#sessions.get(peer)
    if (session?.facts.connection.id !== connection.id) return
    session.end()
    this.#sessions.delete(peer)
    discipline.left(session.facts)
    notices.say("info", "peer disconnected", { peer, address: session.facts.address })
    listener.lost(session)
    listener.changed(this.peers)
  }

  /** Greets over this stream, which either end may have opened. */
  greet(connection: Connection, stream: Stream): Promise<void> {
    const { self, hello: own, signer, discipline, notices } = this.#around
    const { id, port } = self()
    const other = connection.remotePeer.toString()
    const hello = { ...own, version: Hello.PROTOCOL_VERSION, port, challenge: Hello.drawChallenge() }
    return Greeting.greet({ id, hello, signer }, other, stream)
      .then(
        (greeted) => this.#admit(connection, greeted),
        (error: unknown) => {
          const host = Transport.hostOf(connection.remoteAddr)
          if (error instanceof Greeting.NoGreeting || error instanceof Frames.FrameTooLong) {
            discipline.offend(other as PeerId, host, "malformed", error.message)
          }
          this.#leave(connection, reasonOf(error), error instanceof Greeting.Strangers ? "warn" : "debug")
        },
      )
      .catch((error: unknown) => {
        notices.failed(other, "greeting", error)
        connection.abort(BUG)
      })
  }

  #admit(connection: Connection, { hello, validator }: Greeting.Greeted): void {
    const { standings, lines, protocolOf, notices, listener, now } = this.#around
    const peer = connection.remotePeer.toString() as PeerId
    const rival = this.#sessions.get(peer)
    if (connection.status !== "open") return
    if (rival !== undefined && this.#prefers(rival.facts.connection, connection)) {
      this.#leave(connection, "there is a connection already", "debug")
      return
    }
    const host = Transport.hostOf(connection.remoteAddr) ?? ""
    const standing = standings.of(peer, validator)
    const refusal = connection.direction === "inbound" ? this.#findPlace(peer, host, standing) : null
    if (refusal !== null) {
      this.#leave(connection, refusal, "debug")
      return
    }
    const address = addressOf(connection, host, hello.port)
    const facts = { peer, connection, hello, validator, address, host, connectedSince: Counter.timestamp(now()) }
    const session = new Session(facts, lines.meterOf(peer), protocolOf, now)
    this.#sessions.set(peer, session)
    this.#greetings.get(connection.id)?.keep(session)
    if (rival !== undefined) {
      rival.end()
      close(rival.facts.connection)
    }
    notices.say("info", "peer connected", { peer, address, direction: connection.direction, validator })
    listener.met(session)
    listener.changed(this.peers)
  }

  /** Of two connections to one peer both ends must keep the same: the one that the lower peer id has dialled. */
  #prefers(known: Connection, fresh: Connection): boolean {
    if (known.status !== "open" || known.direction === fresh.direction) return false
    const lower = this.#around.self().id < known.remotePeer.toString() ? "outbound" : "inbound"
    return known.direction === lower
  }

  #leave(connection: Connection, reason: string, level: Notice["level"]): void {
    const { listener, notices } = this.#around
    const peer = connection.remotePeer.toString() as PeerId
    const address = withoutPeer(connection.remoteAddr.toString())
    this.#greetings.get(connection.id)?.keep(null)
    if (connection.direction === "outbound") listener.missed(address, peer)
    notices.complain(level, `connection to ${address} refused: ${reason}`, { peer, address })
    close(connection)
  }
}

/** Where others can reach it: as it was dialled, or the port that it names at the address that it is seen at. */
const addressOf = (connection: Connection, host: string, port: number): string => {
  if (connection.direction === "outbound" || port === 0) return withoutPeer(connection.remoteAddr.toString())
  return `/${host.includes(":") ? "ip6" : "ip4"}/${host}/tcp/${port}`
}

const close = (connection: Connection): void => {
  connection
    .close()
    .catch((error: unknown) => connection.abort(error instanceof Error ? error : new Error(String(error))))
}
