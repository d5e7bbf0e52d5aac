/** All peers of this node: connects the wire, the peer policy and the node. */
import * as Address from "../../protocol/identity/Address.js"
import type * as Vertex from "../../protocol/vertex/Vertex.js"
import type { Answer, DiskQuestion, Gossip, Question } from "../../replica/messages/Message.js"
import type { PeerId } from "../../replica/messages/Peer.js"
import type { Offence } from "../Conduct.js"
import type { Tag } from "../MessageCodec.js"
import * as MessageCodec from "../MessageCodec.js"
import type { Peer, Received } from "../Network.js"
import { Volume } from "../Volume.js"
import { Arrivals } from "./Arrivals.js"
import { type Around as AroundDialling, Dialling } from "./Dialling.js"
import { Discipline } from "./Discipline.js"
import { Intake } from "./Intake.js"
import { type LogEntry, PeerLog } from "./PeerLog.js"
import { PeerMemory } from "./PeerMemory.js"
import * as Reception from "./Reception.js"
import * as Relays from "./Relays.js"
import type { Session } from "./Session.js"
import { Traffic } from "./Traffic.js"
import type { Connection, Policy, Wire } from "./Wire.js"

export interface Listener {
  /** Message bytes, not yet judged. */
  readonly heard: (received: Received) => void
  readonly changed: (peers: ReadonlyArray<Peer>) => void
  readonly logged: (entry: LogEntry) => void
}

type OfReception = Pick<Reception.Around, "hello" | "signer" | "standings" | "clock">
type OfDialling = Pick<AroundDialling, "named" | "remembered">

export interface Options extends OfReception, OfDialling {
  readonly wire: Wire
  readonly listener: Listener
}

const nothing = () => {}

export class Switchboard {
  readonly #options: Options
  readonly #self: Address.Address | null
  readonly #log: PeerLog
  readonly #discipline: Discipline
  readonly #arrivals: Arrivals
  readonly #traffic: Traffic
  readonly #holdings: PeerMemory
  readonly #reception: Reception.Reception
  readonly #dialling: Dialling
  readonly #intake: Intake
  readonly #known: Relays.Known
  /** Message traffic, without the overhead of the layers below. */
  readonly volume = new Volume()

  private constructor(options: Options) {
    const { wire, listener, clock } = options
    const standingOf = (peer: PeerId) => this.#reception.standingOf(peer)
    const log = new PeerLog(listener.logged, clock.now)
    const discipline = new Discipline(log, wire, clock.now)
    this.#options = options
    this.#known = new Relays.Known(clock.now)
    this.#self = options.signer && Address.fromPublicKey(options.signer.publicKey)
    this.#log = log
    this.#discipline = discipline
    this.#arrivals = new Arrivals(Reception.GREETING_LIMIT_MS, clock, (host) => this.#dialling.knows(host))
    this.#traffic = new Traffic(
      { standing: standingOf, flooded: (peer, what) => discipline.offendPeer(peer, "pieces", what) },
      clock,
    )
    this.#holdings = new PeerMemory({
      standing: standingOf,
      now: clock.now,
      cut: (peer) => this.#lose(peer, "it held memory longest while strangers exceeded their limit"),
    })
    this.#reception = new Reception.Reception({
      ...options,
      met: (session) => {
        this.#dialling.met(session)
        this.#intake.read(session)
      },
      lost: (session) => this.#dialling.lost(session),
      missed: (connection) => this.#dialling.missed(connection),
      changed: () => listener.changed(this.peers),
      log,
      discipline,
      arrivals: this.#arrivals,
      traffic: this.#traffic,
      holdings: this.#holdings,
    })
    this.#dialling = new Dialling({ ...options, log, reception: this.#reception })
    this.#intake = new Intake({
      heard: listener.heard,
      standingOf,
      log,
      discipline,
      volume: this.volume,
      passOn: (told) => this.#passOn(told),
      isKnown: (message, from) => this.#known.has(message, from === "member"),
    })
  }

  static async start(options: Options): Promise<Switchboard> {
    const board = new Switchboard(options)
    await options.wire.start(board.#policy)
    return board
  }

  get addresses(): ReadonlyArray<string> {
    return this.#options.wire.addresses
  }

  get sessions(): ReadonlyArray<Session> {
    return this.#reception.sessions
  }

  get peers(): ReadonlyArray<Peer> {
    return this.#reception.peers
  }

  get strangers(): number {
    return this.#reception.strangers
  }

  get failures(): number {
    return this.#log.failures
  }

  get remembered(): ReadonlyArray<string> {
    return this.#dialling.remembered
  }

  session(peer: PeerId): Session | undefined {
    return this.#reception.session(peer)
  }

  /** Callbacks of the wire must not throw: that would end the process. */
  get #policy(): Policy {
    return {
      refusesHost: (address, host) => !this.#arrivals.comes(address, host),
      knows: (host) => this.#dialling.knows(host),
      arrived: (address, cut) => this.#arrivals.arrived(address, cut),
      vanished: (address) => this.#arrivals.done(address),
      refusesPeer: (peer) => this.#discipline.isBanned(peer),
      meterOf: (peer) => this.#traffic.meterOf(peer),
      opened: (connection) =>
        this.#log.contain(
          connection.peer,
          "opening",
          () => this.#opened(connection),
          () => connection.abort(Reception.BUG),
        ),
      closed: (connection) => this.#log.contain(connection.peer, "closing", () => this.#closed(connection), nothing),
      violated: (connection, violation) => {
        this.#discipline.offend(connection, violation.offence, violation.message)
        connection.abort(violation)
      },
      failed: (peer, where, error) => this.#log.failed(peer, where, error),
    }
  }

  #opened(connection: Connection): void {
    this.#traffic.opened(connection.peer, connection)
    this.#reception.opened(connection)
  }

  #closed(connection: Connection): void {
    if (this.#discipline.connectionsOf(connection.peer).length === 0) this.#traffic.closed(connection.peer)
    this.#reception.closed(connection)
  }

  async stop(): Promise<void> {
    for (const session of this.sessions) session.end()
    await this.#options.wire.stop()
  }

  send(to: PeerId, message: Question | DiskQuestion | Answer<Vertex.Encoded>): void {
    const session = this.session(to)
    if (session === undefined) return
    const channel = MessageCodec.isQuestion(message) ? "questions" : "answers"
    if (channel === "answers") session.answered()
    if (message._tag === "AskClosing") session.asksForClosing()
    if (channel === "questions") session.meter.asked(MessageCodec.MAX_BYTES)
    const bytes = MessageCodec.encode(message)
    this.volume.sent(message._tag, this.#reception.standingOf(to), bytes.length)
    session.send(channel, bytes)
  }

  broadcast(gossip: Gossip): void {
    const { sessions } = this
    if (sessions.length === 0) return
    if (gossip._tag === "Vertices") {
      for (const vertex of gossip.vertices) {
        this.#tell(sessions, "vertices", "Vertices", MessageCodec.encode({ _tag: "Vertices", vertices: [vertex] }))
      }
      return
    }
    const { to, untold } = Relays.ofOwn(this.#self, this.#recipients, this.#options.standings.members, Math.random)
    const channel = gossip._tag === "Transactions" ? "transactions" : "votes"
    const message = MessageCodec.encode(gossip)
    // A peer may send it back before anybody else does.
    this.#known.has(message, true)
    this.#tell(
      to.map(({ session }) => session),
      channel,
      gossip._tag,
      Relays.envelope(untold, message),
    )
  }

  get #recipients(): ReadonlyArray<Relays.Recipient & { readonly session: Session }> {
    return this.sessions.map((session) => {
      const { peer, validator } = session.facts
      const standing = this.#reception.standingOf(peer)
      return { session, peer, member: standing === "member" ? validator : null, isStranger: standing === "stranger" }
    })
  }

  #passOn(told: Relays.Told): void {
    const { channel, tag, message } = told
    const { members } = this.#options.standings
    const { to, untold } = Relays.ofOther(told, this.#self, this.#recipients, members, Math.random)
    if (to.length > 0)
      this.#tell(
        to.map(({ session }) => session),
        channel,
        tag,
        Relays.envelope(untold, message),
      )
  }

  #tell(sessions: ReadonlyArray<Session>, channel: "vertices" | Relays.Channel, tag: Tag, bytes: Uint8Array): void {
    for (const session of sessions) {
      this.volume.sent(tag, this.#reception.standingOf(session.facts.peer), bytes.length)
      session.send(channel, bytes)
    }
  }

  misbehaved(peer: PeerId, what: string, offence: Offence): void {
    this.#discipline.offend({ peer, host: this.session(peer)?.facts.host ?? null }, offence, what)
  }

  /** Dials peers and checks connections. Call periodically. */
  tend(): void {
    this.#log.contain("all", "dialling", () => this.#dialling.tick(), nothing)
    this.#log.contain("all", "checking connections", () => this.sweep(), nothing)
  }

  /** Ends connections to peers that do not read, greet, or finish a message. */
  sweep(): void {
    for (const { isStalled, hasUnfinished, facts } of this.sessions) {
      if (hasUnfinished) {
        this.#discipline.offend(facts, "unfinished", "began a message and did not finish it")
        facts.connection.abort(new Error("it does not finish a message"))
      }
      if (isStalled) this.#lose(facts.peer)
    }
    for (const peer of this.#traffic.stalled()) this.#lose(peer)
    this.#traffic.sweep()
    this.#holdings.sweep()
    this.#arrivals.sweep()
    this.#reception.sweep()
  }

  #lose(peer: PeerId, reason = "it does not read its messages"): void {
    for (const connection of this.#discipline.connectionsOf(peer)) {
      this.#log.write("info", `peer disconnected: ${reason}`, { peer, address: connection.address })
      connection.abort(new Error(reason))
    }
    this.session(peer)?.end()
  }
}
