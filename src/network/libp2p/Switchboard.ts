/** All peers of this node: connects the transport, those who watch over it, and the node. */
import type { Connection, IncomingStreamData } from "@libp2p/interface"
import { TopicValidatorResult } from "@libp2p/interface"
import type { Signer } from "../../protocol/identity/Keys.js"
import type * as Vertex from "../../protocol/vertex/Vertex.js"
import type { Answer, DiskQuestion, Gossip, Question } from "../../replica/messages/Message.js"
import type { PeerId } from "../../replica/messages/Peer.js"
import type { Offence } from "../Conduct.js"
import * as Frames from "../Frames.js"
import type * as GossipRpc from "../GossipRpc.js"
import * as Hello from "../Hello.js"
import * as MessageCodec from "../MessageCodec.js"
import type { Peer, Received, Verdict } from "../Network.js"
import type { Standings } from "../Standing.js"
import { Arrivals } from "./Arrivals.js"
import * as Channel from "./Channel.js"
import { Discipline } from "./Discipline.js"
import * as GossipGuard from "./GossipGuard.js"
import * as Greeting from "./Greeting.js"
import { Intake } from "./Intake.js"
import { Lines } from "./Lines.js"
import type { Violation } from "./MuxerGuard.js"
import { type Notice, Notices, reasonOf } from "./Notices.js"
import * as Reception from "./Reception.js"
import type { Session } from "./Session.js"
import * as Transport from "./Transport.js"

export interface Listener extends Reception.Listener {
  /** Bytes that nobody has judged yet. */
  readonly heard: (received: Received) => void
  readonly noticed: (notice: Notice) => void
}

export interface Options {
  readonly seed: Uint8Array
  readonly listen: string
  readonly hello: Omit<Hello.Hello, "challenge" | "port" | "version">
  readonly signer: Signer | null
  readonly standings: Standings
  readonly listener: Listener
  /** Milliseconds. */
  readonly now: () => number
}

/** What gossip is told of a message: to pass it on, to leave it, or that it is wrong. */
const VERDICTS: { readonly [verdict in Verdict]: TopicValidatorResult } = {
  news: TopicValidatorResult.Accept,
  known: TopicValidatorResult.Ignore,
  refused: TopicValidatorResult.Reject,
}

const nothing = () => {}

export class Switchboard {
  readonly #options: Options
  readonly #notices: Notices
  readonly #discipline: Discipline
  readonly #arrivals: Arrivals
  readonly #lines: Lines
  readonly #reception: Reception.Reception
  readonly #intake: Intake
  #transport: Transport.Transport | null = null
  #port = 0

  private constructor(options: Options) {
    const { listener, now } = options
    this.#options = options
    const notices = new Notices(listener.noticed, now)
    const discipline = new Discipline(notices, (peer) => this.#connectionsOf(peer), now)
    const arrivals = new Arrivals(Reception.GREETING_LIMIT_MS, now)
    const lines = new Lines(
      {
        standing: (peer) => reception.standingOf(peer),
        flooded: (peer, what) => discipline.offend(peer, this.#hostOf(peer), "pieces", what),
      },
      now,
    )
    const reception = new Reception.Reception({
      ...options,
      self: () => ({ id: this.id, port: this.#port }),
      protocolOf: (channel) => this.protocolOf(channel),
      notices,
      discipline,
      arrivals,
      lines,
    })
    this.#notices = notices
    this.#discipline = discipline
    this.#arrivals = arrivals
    this.#lines = lines
    this.#reception = reception
    this.#intake = new Intake({
      heard: (received) => listener.heard(received),
      standingOf: (peer) => reception.standingOf(peer),
      notices,
      discipline,
    })
  }

  static async start(options: Options): Promise<Switchboard> {
    const board = new Switchboard(options)
    await board.#start()
    return board
  }

  get #node(): Transport.Transport {
    if (this.#transport === null) throw new Error("the network is not started")
    return this.#transport
  }

  get id(): PeerId {
    return this.#node.peerId.toString() as PeerId
  }

  /** Where it listens, with its peer id. */
  get addresses(): ReadonlyArray<string> {
    return this.#node.getMultiaddrs().map((address) => address.toString())
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
    return this.#notices.failures
  }

  get transport(): Transport.Transport {
    return this.#node
  }

  session(peer: PeerId): Session | undefined {
    return this.#reception.session(peer)
  }

  protocolOf(name: string): string {
    return `/udg/${Hello.PROTOCOL_VERSION}/${this.#options.hello.genesisHash}/${name}`
  }

  get #topics() {
    return { transactions: this.protocolOf("transactions"), votes: this.protocolOf("votes") }
  }

  async #start(): Promise<void> {
    const { seed, listen, hello } = this.#options
    const topics = Object.values(this.#topics)
    const node = await Transport.start({ seed, listen, agent: hello.agent, topics, gate: this.#gate })
    this.#transport = node
    this.#port = Number(node.getMultiaddrs()[0]?.nodeAddress().port ?? 0)
    this.#watchConnections(node)
    await node.handle(Greeting.PROTOCOL, ({ connection, stream }) => void this.#reception.greet(connection, stream), {
      maxInboundStreams: 1,
    })
    for (const channel of Channel.all) {
      await node.handle(this.protocolOf(channel), (incoming) => this.#listen(channel, incoming), {
        maxInboundStreams: 2,
      })
    }
    this.#watchGossip(node, topics)
  }

  get #gate(): Transport.Gate {
    return {
      refusesHost: (address, host) => !this.#arrivals.comes(address, host),
      arrived: (address, cut) => this.#arrivals.arrived(address, cut),
      refusesPeer: (peer) => this.#discipline.isBanned(peer as PeerId),
      meterOf: (peer) => this.#lines.meterOf(peer),
      opened: (peer, line) => this.#lines.opened(peer, line),
      violated: (peer, violation) => this.#violated(peer, violation),
      gossipMeterOf: async (connection) => (await this.#reception.greeted(connection))?.gossip ?? null,
      gossipedWrongly: (connection, error) => this.#gossipedWrongly(connection, error),
      failed: (peer, where, error) => this.#notices.failed(peer, where, error),
    }
  }

  /** What a listener throws would end the process. */
  #watchConnections(node: Transport.Transport): void {
    const contain = (connection: Connection, where: string, handle: () => void, otherwise: () => void) =>
      this.#notices.contain(connection.remotePeer.toString(), where, handle, otherwise)
    node.addEventListener("connection:open", ({ detail }) =>
      contain(
        detail,
        "opening",
        () => this.#reception.opened(detail),
        () => detail.abort(Reception.BUG),
      ),
    )
    node.addEventListener("connection:close", ({ detail }) =>
      contain(detail, "closing", () => this.#closed(detail), nothing),
    )
    node.addEventListener("peer:disconnect", ({ detail }) => {
      // What identify said of it; new names cost nothing, and every one of them would be kept for hours.
      node.peerStore.delete(detail).catch(nothing)
    })
  }

  #closed(connection: Connection): void {
    const peer = connection.remotePeer.toString() as PeerId
    if (this.#node.getConnections(connection.remotePeer).length === 0) this.#lines.closed(peer)
    this.#reception.closed(connection)
  }

  #watchGossip(node: Transport.Transport, topics: ReadonlyArray<string>): void {
    const { gossip } = node.services
    for (const topic of topics) gossip.subscribe(topic)
    gossip.addEventListener("gossipsub:message", ({ detail: { propagationSource, msg, msgId } }) => {
      const from = propagationSource.toString()
      const report = (verdict: Verdict) => gossip.reportMessageValidationResult(msgId, from, VERDICTS[verdict])
      const isTransactions = msg.topic === this.#topics.transactions
      const take = () => this.#intake.gossiped(this.session(from as PeerId), isTransactions, msg.data, report)
      this.#notices.contain(from, "gossip", take, nothing)
    })
  }

  async #listen(channel: Channel.Channel, { stream, connection }: IncomingStreamData): Promise<void> {
    const session = await this.#reception.greeted(connection)
    if (session === null) stream.abort(new Error("no greeting"))
    else await this.#intake.read(session, channel, stream)
  }

  async stop(): Promise<void> {
    for (const session of this.sessions) session.end()
    await this.#transport?.stop()
  }

  // What goes out.

  send(to: PeerId, message: Question | DiskQuestion | Answer<Vertex.Encoded>): void {
    const session = this.session(to)
    if (session === undefined) return
    const channel = MessageCodec.isQuestion(message) ? "questions" : "answers"
    if (channel === "answers") session.answered()
    if (message._tag === "AskClosing") session.asksForClosing()
    if (channel === "questions") session.meter.asked(MessageCodec.MAX_BYTES)
    session.send(channel, Frames.framed(MessageCodec.encode(message)))
  }

  broadcast(gossip: Gossip): void {
    const { sessions } = this
    if (sessions.length === 0) return
    if (gossip._tag !== "Vertices") {
      this.#publish(gossip)
      return
    }
    for (const vertex of gossip.vertices) {
      const frame = Frames.framed(MessageCodec.encode({ _tag: "Vertices", vertices: [vertex] }))
      for (const session of sessions) session.send("vertices", frame)
    }
  }

  #publish(gossip: Gossip): void {
    const topic = gossip._tag === "Transactions" ? this.#topics.transactions : this.#topics.votes
    this.#node.services.gossip
      .publish(topic, MessageCodec.encode(gossip))
      .catch((error: unknown) => this.#notices.say("debug", "gossip not sent", { reason: reasonOf(error) }))
  }

  // How peers behave.

  misbehaved(peer: PeerId, what: string, offence: Offence): void {
    this.#discipline.offend(peer, this.session(peer)?.facts.host ?? null, offence, what)
  }

  #hostOf(peer: PeerId): string | null {
    const [connection] = this.#connectionsOf(peer)
    return connection === undefined ? null : Transport.hostOf(connection.remoteAddr)
  }

  #connectionsOf(peer: PeerId): ReadonlyArray<Connection> {
    return this.#node.getConnections().filter(({ remotePeer }) => remotePeer.toString() === peer)
  }

  #violated(peer: PeerId, violation: Violation): void {
    this.#discipline.offend(peer, this.#hostOf(peer), "misframed", violation.message)
    this.#discipline.cut(peer, violation)
  }

  #gossipedWrongly(connection: Connection, error: GossipRpc.Malformed | GossipGuard.Flood): void {
    const peer = connection.remotePeer.toString() as PeerId
    const offence = error instanceof GossipGuard.Flood ? "flood" : "misframed"
    this.#discipline.offend(peer, Transport.hostOf(connection.remoteAddr), offence, `gossip: ${error.message}`)
    connection.abort(error)
  }

  /** Looks after everybody. To be called every now and then. */
  tend(tick: () => void): void {
    this.#notices.contain("all", "dialling", tick, nothing)
    this.#notices.contain("all", "looking after connections", () => this.sweep(), nothing)
  }

  /** Lets go of peers that take nothing any more or do not finish what they began. */
  sweep(): void {
    for (const { isStalled, hasUnfinished, facts } of this.sessions) {
      if (hasUnfinished) {
        const what = "a message that was begun and does not come to its end"
        this.#discipline.offendSession(facts, "unfinished", what)
        facts.connection.abort(new Error("it does not finish what it began"))
      }
      if (isStalled) this.#lose(facts.peer)
    }
    for (const peer of this.#lines.stalled()) this.#lose(peer)
    this.#lines.sweep()
    this.#arrivals.sweep()
  }

  #lose(peer: PeerId): void {
    for (const connection of this.#connectionsOf(peer)) {
      const fields = { peer, address: connection.remoteAddr.toString() }
      this.#notices.say("info", "peer does not read what it is sent", fields)
      connection.abort(new Error("it does not read"))
    }
  }
}
