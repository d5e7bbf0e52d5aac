/** All peers of this node: connects the wire, the policy for peers, and the node. */
import * as Address from "../../protocol/identity/Address.js"
import type * as Vertex from "../../protocol/vertex/Vertex.js"
import type { Answer, DiskQuestion, Gossip, Question } from "../../replica/messages/Message.js"
import type { PeerId } from "../../replica/messages/Peer.js"
import type { Offence } from "../Conduct.js"
import * as Frames from "../Frames.js"
import * as Hello from "../Hello.js"
import * as MessageCodec from "../MessageCodec.js"
import type { Peer, Received } from "../Network.js"
import { Volume } from "../Volume.js"
import { Arrivals } from "./Arrivals.js"
import * as Channel from "./Channel.js"
import { type Around as AroundDialling, Dialling } from "./Dialling.js"
import { Discipline } from "./Discipline.js"
import * as Greeting from "./Greeting.js"
import { Holdings } from "./Holdings.js"
import { Intake } from "./Intake.js"
import { type LogEntry, PeerLog, reasonOf } from "./PeerLog.js"
import * as Reception from "./Reception.js"
import type { Session } from "./Session.js"
import { Traffic } from "./Traffic.js"
import type { Connection, Policy, Protocol, Stream, Wire } from "./Wire.js"

export interface Listener {
  /** Bytes of a message, not judged yet. */
  readonly heard: (received: Received) => void
  /** All peers, whenever that changes. */
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
  readonly #holdings: Holdings
  readonly #reception: Reception.Reception
  readonly #dialling: Dialling
  readonly #intake: Intake
  /** What went over the line, without what the layers below add. */
  readonly volume = new Volume()

  private constructor(options: Options) {
    const { wire, listener, clock } = options
    const standingOf = (peer: PeerId) => this.#reception.standingOf(peer)
    const log = new PeerLog(listener.logged, clock.now)
    const discipline = new Discipline(log, wire, clock.now)
    this.#options = options
    this.#self = options.signer && Address.fromPublicKey(options.signer.publicKey)
    this.#log = log
    this.#discipline = discipline
    this.#arrivals = new Arrivals(Reception.GREETING_LIMIT_MS, clock.now)
    this.#traffic = new Traffic(
      { standing: standingOf, flooded: (peer, what) => discipline.offendPeer(peer, "pieces", what) },
      clock,
    )
    this.#holdings = new Holdings({
      standing: standingOf,
      now: clock.now,
      cut: (peer) => this.#lose(peer, "it holds more of this node's memory than there is for strangers"),
    })
    this.#reception = new Reception.Reception({
      ...options,
      protocolOf: (channel) => this.protocolOf(channel),
      met: (session) => this.#dialling.met(session),
      lost: (session) => this.#dialling.lost(session),
      missed: (connection) => this.#dialling.missed(connection),
      changed: () => listener.changed(this.peers),
      log,
      discipline,
      arrivals: this.#arrivals,
      traffic: this.#traffic,
      holdings: this.#holdings,
    })
    this.#dialling = new Dialling({ ...options, reception: this.#reception, protocol: this.protocolOf("peers") })
    this.#intake = new Intake({
      heard: listener.heard,
      standingOf,
      log,
      discipline,
      volume: this.volume,
      passOn: (from, bytes) => this.#passOn(from, bytes),
    })
  }

  static async start(options: Options): Promise<Switchboard> {
    const board = new Switchboard(options)
    await options.wire.start(board.#policy)
    return board
  }

  /** Where it listens, with its peer id. */
  get addresses(): ReadonlyArray<string> {
    return this.#options.wire.addresses
  }

  get sessions(): ReadonlyArray<Session> {
    return this.#reception.sessions
  }

  get peers(): ReadonlyArray<Peer> {
    return this.#reception.peers
  }

  /** How many places for strangers are taken. */
  get strangers(): number {
    return this.#reception.strangers
  }

  /** How often a bug of this node ended something that it did for a peer. */
  get failures(): number {
    return this.#log.failures
  }

  /** Addresses to be tried after a restart. */
  get remembered(): ReadonlyArray<string> {
    return this.#dialling.remembered
  }

  session(peer: PeerId): Session | undefined {
    return this.#reception.session(peer)
  }

  protocolOf(name: string): string {
    return `/udg/${Hello.PROTOCOL_VERSION}/${this.#options.hello.genesisHash}/${name}`
  }

  get #protocols(): ReadonlyArray<Protocol> {
    return [
      {
        name: Greeting.PROTOCOL,
        maxInbound: 1,
        take: (connection, stream) => this.#reception.greet(connection, stream),
      },
      this.#dialling.exchange,
      ...Channel.all.map((channel) => ({
        name: this.protocolOf(channel),
        maxInbound: 2,
        take: (connection: Connection, stream: Stream) => this.#listen(channel, connection, stream),
      })),
    ]
  }

  /** Nothing that the wire calls may throw: it would end the process. */
  get #policy(): Policy {
    const [transactions, votes] = [this.protocolOf("transactions"), this.protocolOf("votes")]
    return {
      protocols: this.#protocols,
      topics: [transactions, votes],
      refusesHost: (address, host) => !this.#arrivals.comes(address, host),
      arrived: (address, cut) => this.#arrivals.arrived(address, cut),
      refusesPeer: (peer) => this.#discipline.isBanned(peer),
      meterOf: (peer) => this.#traffic.meterOf(peer),
      multiplexed: (peer, outflow) => this.#traffic.opened(peer, outflow),
      opened: (connection) =>
        this.#log.contain(
          connection.peer,
          "opening",
          () => this.#reception.opened(connection),
          () => connection.abort(Reception.BUG),
        ),
      closed: (connection) => this.#log.contain(connection.peer, "closing", () => this.#closed(connection), nothing),
      gossipMeterOf: async (connection) => (await this.#reception.greeted(connection))?.gossip ?? null,
      gossiped: (from, topic, bytes, relay) =>
        this.#log.contain(
          from,
          "gossip",
          () => this.#intake.gossiped(this.session(from), topic === transactions, bytes, relay),
          nothing,
        ),
      violated: (peer, offence, violation) => {
        this.#discipline.offendPeer(peer, offence, violation.message)
        this.#discipline.cut(peer, violation)
      },
      failed: (peer, where, error) => this.#log.failed(peer, where, error),
    }
  }

  #closed(connection: Connection): void {
    if (this.#discipline.connectionsOf(connection.peer).length === 0) this.#traffic.closed(connection.peer)
    this.#reception.closed(connection)
  }

  async #listen(channel: Channel.Channel, connection: Connection, stream: Stream): Promise<void> {
    const session = await this.#reception.greeted(connection)
    if (session === null) throw new Error("no greeting")
    await this.#intake.read(session, channel, stream)
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
    const frame = Frames.framed(MessageCodec.encode(message))
    this.volume.sent(message._tag, this.#reception.standingOf(to), frame.length)
    session.send(channel, frame)
  }

  /** Vertices go by stream. So do transactions if that reaches every member, and nobody else is there to be told. */
  broadcast(gossip: Gossip): void {
    const { sessions } = this
    if (sessions.length === 0) return
    if (gossip._tag === "Vertices") {
      for (const vertex of gossip.vertices) {
        this.#tell(sessions, "vertices", MessageCodec.encode({ _tag: "Vertices", vertices: [vertex] }))
      }
    } else if (gossip._tag === "Transactions" && this.#isAmongMembers) {
      this.#tell(sessions, "transactions", MessageCodec.encode(gossip))
    } else this.#publish(gossip)
  }

  get #isAmongMembers(): boolean {
    const validators = this.sessions.map(({ facts }) => facts.validator)
    return this.#self !== null && this.#options.standings.areTheOthers(this.#self, validators)
  }

  /** In one frame made once. */
  #tell(sessions: ReadonlyArray<Session>, channel: "vertices" | "transactions", bytes: Uint8Array): void {
    const frame = Frames.framed(bytes)
    const tag = channel === "vertices" ? "Vertices" : "Transactions"
    for (const session of sessions) {
      this.volume.sent(tag, this.#reception.standingOf(session.facts.peer), frame.length)
      session.send(channel, frame)
    }
  }

  /**
   * The sender tells all members itself: whoever told them again would do so as often as there are members. Other peers
   * of this node may have nobody else to tell them.
   */
  #passOn(from: PeerId, bytes: Uint8Array): void {
    const isToBeTold = ({ facts: { peer } }: Session) => peer !== from && this.#reception.standingOf(peer) !== "member"
    this.#tell(this.sessions.filter(isToBeTold), "transactions", bytes)
  }

  #publish(gossip: Gossip): void {
    const topic = this.protocolOf(gossip._tag === "Transactions" ? "transactions" : "votes")
    const bytes = MessageCodec.encode(gossip)
    this.volume.sent(gossip._tag, "topic", bytes.length)
    this.#options.wire
      .publish(topic, bytes)
      .catch((error: unknown) => this.#log.write("debug", "gossip not sent", { reason: reasonOf(error) }))
  }

  misbehaved(peer: PeerId, what: string, offence: Offence): void {
    this.#discipline.offend({ peer, host: this.session(peer)?.facts.host ?? null }, offence, what)
  }

  /** Dials peers and looks after connections. To be called every now and then. */
  tend(): void {
    this.#log.contain("all", "dialling", () => this.#dialling.tick(), nothing)
    this.#log.contain("all", "looking after connections", () => this.sweep(), nothing)
  }

  /** Ends connections to peers that do not read, do not greet, or do not finish a message. */
  sweep(): void {
    for (const { isStalled, hasUnfinished, facts } of this.sessions) {
      if (hasUnfinished) {
        this.#discipline.offend(facts, "unfinished", "a message that was begun and does not come to its end")
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
