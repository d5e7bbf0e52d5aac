/**
 * All peers of this node: lets connections in, has both ends greet, and carries messages between the sessions and the
 * node. What is wrong with a peer it is told, or sees in the bytes; `Conduct` says what follows.
 */

import type { Connection, IncomingStreamData, Stream } from "@libp2p/interface"
import { TopicValidatorResult } from "@libp2p/interface"
import type { Answer, DiskQuestion, News, Question } from "../../consensus/replica/Message.js"
import type { PeerId } from "../../consensus/replica/Peer.js"
import * as Counter from "../../protocol/Counter.js"
import type { Signer } from "../../protocol/Keys.js"
import type * as Vertex from "../../protocol/Vertex.js"
import { Conduct, type Consequence, type Offence } from "../Conduct.js"
import * as Frames from "../Frames.js"
import type * as GossipRpc from "../GossipRpc.js"
import * as Hello from "../Hello.js"
import type { Tag } from "../MessageCodec.js"
import * as MessageCodec from "../MessageCodec.js"
import type { Peer, Received, Verdict } from "../Network.js"
import * as Places from "../Places.js"
import type { Standing, Standings } from "../Standing.js"
import { Arrivals } from "./Arrivals.js"
import * as Channel from "./Channel.js"
import * as GossipGuard from "./GossipGuard.js"
import * as Greeting from "./Greeting.js"
import { Lines } from "./Lines.js"
import type { Violation } from "./MuxerGuard.js"
import { Session } from "./Session.js"
import * as Transport from "./Transport.js"

/** Something to be logged. */
export interface Notice {
  readonly level: "debug" | "info" | "warn"
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

export interface Listener {
  /** Bytes that nobody has judged yet. */
  readonly heard: (received: Received) => void
  /** Everybody there is, whenever that changes. */
  readonly changed: (peers: ReadonlyArray<Peer>) => void
  readonly noticed: (notice: Notice) => void
  /** The greeting went well. */
  readonly met: (session: Session) => void
  readonly lost: (session: Session) => void
  /** The greeting did not go well, for a connection that was dialled from here. */
  readonly missed: (address: string, peer: PeerId) => void
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

const GREETING_LIMIT_MS = 10_000
/** How long the same complaint about the same peer is not said again. */
const SAID_AGAIN_MS = 600_000
const MAX_COMPLAINTS = 256
/** Who was connected for so long and not banned is let in also where many are banned. */
const TRUSTED_AFTER_MS = 60_000
const MAX_TRUSTED = 1_024
/** What gossip is told of a message: to pass it on, to leave it, or that it is wrong. */
const VERDICTS: { readonly [verdict in Verdict]: TopicValidatorResult } = {
  news: TopicValidatorResult.Accept,
  known: TopicValidatorResult.Ignore,
  refused: TopicValidatorResult.Reject,
}

/** A multiaddress without the peer id at its end. */
export const withoutPeer = (address: string): string => address.replace(/\/p2p\/[^/]+$/, "")

const nothing = () => {}

const BUG = new Error("this node failed at it")

/** A promise that somebody else keeps, and whether it is kept. */
const pending = <A>() => {
  let keep: (value: A) => void = nothing
  const promise = new Promise<A>((resolve) => {
    keep = resolve
  })
  return { promise, keep }
}

export class Switchboard {
  readonly #options: Options
  readonly #listener: Listener
  readonly #conduct = new Conduct()
  readonly #sessions = new Map<PeerId, Session>()
  /** For every connection: its session, once it is greeted, or none. */
  readonly #greetings = new Map<string, ReturnType<typeof pending<Session | null>>>()
  readonly #complaints = new Map<string, number>()
  readonly #trusted = new Set<PeerId>()
  readonly #now: () => number
  readonly #arrivals: Arrivals
  readonly #lines: Lines
  #failures = 0
  #transport: Transport.Transport | null = null
  #port = 0

  private constructor(options: Options) {
    this.#options = options
    this.#listener = options.listener
    this.#now = options.now
    this.#arrivals = new Arrivals(GREETING_LIMIT_MS, this.#now)
    this.#lines = new Lines(
      {
        standing: (peer) => this.#standingOf(peer),
        flooded: (peer, what) => this.#offend(peer, this.#hostOf(peer), "pieces", what),
      },
      this.#now,
    )
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
    return [...this.#sessions.values()]
  }

  get peers(): ReadonlyArray<Peer> {
    return this.sessions.map((session) => session.asPeer)
  }

  get transport(): Transport.Transport {
    return this.#node
  }

  session(peer: PeerId): Session | undefined {
    return this.#sessions.get(peer)
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
    const gate: Transport.Gate = {
      refusesHost: (address, host) => !this.#arrivals.comes(address, host),
      arrived: (address, cut) => this.#arrivals.arrived(address, cut),
      refusesPeer: (peer) => this.#refusesPeer(peer as PeerId),
      meterOf: (peer) => this.#lines.meterOf(peer),
      opened: (peer, line) => this.#lines.opened(peer, line),
      violated: (peer, violation) => this.#violated(peer, violation),
      gossipMeterOf: async (connection) => (await this.#greetings.get(connection.id)?.promise)?.gossip ?? null,
      gossipedWrongly: (connection, error) => this.#gossipedWrongly(connection, error),
      failed: (peer, where, error) => this.#failed(peer, where, error),
    }
    const node = await Transport.start({ seed, listen, agent: hello.agent, topics, gate })
    this.#transport = node
    this.#port = Number(node.getMultiaddrs()[0]?.nodeAddress().port ?? 0)
    // What a listener throws would end the process.
    node.addEventListener("connection:open", ({ detail }) =>
      this.#contain(
        detail.remotePeer.toString(),
        "opening",
        () => this.#opened(detail),
        () => detail.abort(BUG),
      ),
    )
    node.addEventListener("connection:close", ({ detail }) =>
      this.#contain(detail.remotePeer.toString(), "closing", () => this.#closed(detail), nothing),
    )
    node.addEventListener("peer:disconnect", ({ detail }) => {
      // What identify said of it; new names cost nothing, and every one of them would be kept for hours.
      node.peerStore.delete(detail).catch(nothing)
    })
    await node.handle(Greeting.PROTOCOL, (incoming) => this.#greetedBy(incoming), { maxInboundStreams: 1 })
    for (const channel of Channel.all) {
      await node.handle(this.protocolOf(channel), (incoming) => this.#listen(channel, incoming), {
        maxInboundStreams: 2,
      })
    }
    for (const topic of topics) node.services.gossip.subscribe(topic)
    node.services.gossip.addEventListener("gossipsub:message", ({ detail }) => {
      const source = detail.propagationSource.toString()
      this.#gossiped(source as PeerId, detail.msg.topic, detail.msg.data, (verdict) =>
        node.services.gossip.reportMessageValidationResult(detail.msgId, source, VERDICTS[verdict]),
      )
    })
  }

  async stop(): Promise<void> {
    for (const session of this.#sessions.values()) session.end()
    await this.#transport?.stop()
  }

  // Who may come in.

  #refusesPeer(peer: PeerId): boolean {
    return this.#conduct.isBanned(peer, this.#now())
  }

  /** Strangers that came by themselves, with what speaks for each. */
  get #strangers(): ReadonlyArray<Places.Held> {
    const now = this.#now()
    return this.sessions
      .filter(({ facts }) => facts.connection.direction === "inbound" && this.#standingOf(facts.peer) === "stranger")
      .map(({ facts: { peer, host, connectedSince }, news }) => {
        return { peer, host, connectedSince, news, points: this.#conduct.points(peer, now) }
      })
  }

  /** How many places for strangers are taken. */
  get strangers(): number {
    return this.#strangers.length
  }

  /** How often a bug of this node ended something that it did for a peer. */
  get failures(): number {
    return this.#failures
  }

  /** Why a peer that has greeted gets no place; null when it has one, which may have been another's. */
  #findPlace(peer: PeerId, host: string, standing: Standing): string | null {
    const now = this.#now()
    // Many of those who came from there were banned: of strangers only who has been here and behaved is let in.
    if (standing === "stranger" && this.#conduct.isAddressSuspect(host, now) && !this.#trusted.has(peer)) {
      return `several others from ${host} are banned`
    }
    const others = this.#strangers.filter((held) => held.peer !== peer)
    const verdict = Places.judge(others, standing, host, now)
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

  #opened(connection: Connection): void {
    const greeting = pending<Session | null>()
    this.#greetings.set(connection.id, greeting)
    // As it came in, which was before anybody knew who it is.
    const arrival = withoutPeer(connection.remoteAddr.toString())
    this.#arrivals.arrived(arrival, () => this.#leave(connection, "others wait to greet", "debug"))
    greeting.promise.finally(() => this.#arrivals.done(arrival))
    if (connection.remotePeer.equals(this.#node.peerId)) {
      this.#leave(connection, "it is this node itself", "debug")
      return
    }
    if (connection.direction === "outbound") {
      connection
        .newStream(Greeting.PROTOCOL)
        .then((stream) => this.#greet(connection, stream))
        .catch((error: unknown) => this.#leave(connection, reasonOf(error), "debug"))
    } else {
      const timer = setTimeout(() => this.#leave(connection, "it did not greet", "debug"), GREETING_LIMIT_MS)
      timer.unref()
      greeting.promise.finally(() => clearTimeout(timer))
    }
  }

  #closed(connection: Connection): void {
    this.#greetings.get(connection.id)?.keep(null)
    this.#greetings.delete(connection.id)
    const peer = connection.remotePeer.toString() as PeerId
    if (this.#node.getConnections(connection.remotePeer).length === 0) this.#lines.closed(peer)
    const session = this.#sessions.get(peer)
    if (session?.facts.connection.id !== connection.id) return
    session.end()
    this.#sessions.delete(peer)
    const isTrusted = this.#now() - session.facts.connectedSince >= TRUSTED_AFTER_MS
    const points = this.#conduct.points(peer, this.#now())
    if (isTrusted && points === 0 && !this.#conduct.isBanned(peer, this.#now()) && this.#trusted.size < MAX_TRUSTED)
      this.#trusted.add(peer)
    this.#notice("info", "peer disconnected", { peer, address: session.facts.address })
    this.#listener.lost(session)
    this.#listener.changed(this.peers)
  }

  #greetedBy({ stream, connection }: IncomingStreamData): void {
    this.#greet(connection, stream)
  }

  #greet(connection: Connection, stream: Stream): Promise<void> {
    const { signer } = this.#options
    const other = connection.remotePeer.toString()
    const version = Hello.PROTOCOL_VERSION
    const hello = { ...this.#options.hello, version, port: this.#port, challenge: Hello.drawChallenge() }
    return Greeting.greet({ id: this.id, hello, signer }, other, stream)
      .then(
        (greeted) => this.#admit(connection, greeted),
        (error: unknown) => {
          const host = Transport.hostOf(connection.remoteAddr)
          if (error instanceof Greeting.NoGreeting || error instanceof Frames.FrameTooLong) {
            this.#offend(other as PeerId, host, "malformed", error.message)
          }
          this.#leave(connection, reasonOf(error), error instanceof Greeting.Strangers ? "warn" : "debug")
        },
      )
      .catch((error: unknown) => {
        this.#failed(other, "greeting", error)
        connection.abort(BUG)
      })
  }

  #admit(connection: Connection, { hello, validator }: Greeting.Greeted): void {
    const peer = connection.remotePeer.toString() as PeerId
    const rival = this.#sessions.get(peer)
    if (connection.status !== "open") return
    if (rival !== undefined && this.#prefers(rival.facts.connection, connection)) {
      this.#leave(connection, "there is a connection already", "debug")
      return
    }
    const host = Transport.hostOf(connection.remoteAddr) ?? ""
    const standing = this.#options.standings.of(peer, validator)
    const refusal = connection.direction === "inbound" ? this.#findPlace(peer, host, standing) : null
    if (refusal !== null) {
      this.#leave(connection, refusal, "debug")
      return
    }
    const dialled = withoutPeer(connection.remoteAddr.toString())
    const kind = host.includes(":") ? "ip6" : "ip4"
    const address =
      connection.direction === "outbound" || hello.port === 0 ? dialled : `/${kind}/${host}/tcp/${hello.port}`
    const connectedSince = Counter.timestamp(this.#now())
    const facts = { peer, connection, hello, validator, address, host, connectedSince }
    const session = new Session(facts, this.#lines.meterOf(peer), (channel) => this.protocolOf(channel), this.#now)
    this.#sessions.set(peer, session)
    this.#greetings.get(connection.id)?.keep(session)
    if (rival !== undefined) {
      rival.end()
      this.#close(rival.facts.connection)
    }
    this.#notice("info", "peer connected", { peer, address, direction: connection.direction, validator })
    this.#listener.met(session)
    this.#listener.changed(this.peers)
  }

  /** Of two connections to one peer both ends must keep the same: the one that the lower peer id has dialled. */
  #prefers(known: Connection, fresh: Connection): boolean {
    if (known.status !== "open" || known.direction === fresh.direction) return false
    const lower = this.id < known.remotePeer.toString() ? "outbound" : "inbound"
    return known.direction === lower
  }

  #leave(connection: Connection, reason: string, level: Notice["level"]): void {
    const peer = connection.remotePeer.toString() as PeerId
    const address = withoutPeer(connection.remoteAddr.toString())
    this.#greetings.get(connection.id)?.keep(null)
    if (connection.direction === "outbound") this.#listener.missed(address, peer)
    this.#complain(level, `connection to ${address} refused: ${reason}`, { peer, address })
    this.#close(connection)
  }

  #close(connection: Connection): void {
    connection
      .close()
      .catch((error: unknown) => connection.abort(error instanceof Error ? error : new Error(String(error))))
  }

  // What goes out.

  send(to: PeerId, message: Question | DiskQuestion | Answer<Vertex.Encoded>): void {
    const session = this.#sessions.get(to)
    if (session === undefined) return
    const channel = MessageCodec.isQuestion(message) ? "questions" : "answers"
    if (channel === "answers") session.answered()
    if (message._tag === "AskClosing") session.asksForClosing()
    if (channel === "questions") session.meter.asked(MessageCodec.MAX_BYTES)
    session.send(channel, Frames.framed(MessageCodec.encode(message)))
  }

  broadcast(news: News): void {
    if (this.#sessions.size === 0) return
    if (news._tag !== "Vertices") {
      this.#publish(news)
      return
    }
    for (const vertex of news.vertices) {
      const frame = Frames.framed(MessageCodec.encode({ _tag: "Vertices", vertices: [vertex] }))
      for (const session of this.#sessions.values()) session.send("vertices", frame)
    }
  }

  #publish(news: News): void {
    const topic = news._tag === "Transactions" ? this.#topics.transactions : this.#topics.votes
    this.#node.services.gossip
      .publish(topic, MessageCodec.encode(news))
      .catch((error: unknown) => this.#notice("debug", "gossip not sent", { reason: reasonOf(error) }))
  }

  // What comes in.

  async #listen(channel: Channel.Channel, { stream, connection }: IncomingStreamData): Promise<void> {
    const session = await this.#greetings.get(connection.id)?.promise
    if (session === undefined || session === null) {
      stream.abort(new Error("no greeting"))
      return
    }
    try {
      // Nothing goes back on it.
      await stream.closeWrite()
      for await (const bytes of session.messages(channel, stream.source)) {
        this.#contain(session.facts.peer, channel, () => this.#take(session, channel, bytes), nothing)
      }
    } catch (error) {
      if (error instanceof Frames.FrameTooLong) this.#offendSession(session, "oversize", `${channel}: ${error.message}`)
      stream.abort(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #take(session: Session, channel: Channel.Channel, bytes: Uint8Array): void {
    const tag = this.#tagOf(session, bytes, (_tag) => Channel.takes(channel, { _tag }), channel)
    if (tag === null) return
    if (MessageCodec.isQuestion({ _tag: tag }) && !session.asks()) {
      session.answered()
      this.#offendSession(session, "flood", "more questions than anybody has who waits for answers")
      return
    }
    if (tag === "Closing" && !session.offers()) {
      this.#offendSession(session, "flood", "more closing checkpoints than were asked for and anybody offers")
      return
    }
    const { peer } = session.facts
    const settle = session.holds(bytes.length)
    this.#deliver(channel, { from: peer, standing: this.#standingOf(peer), tag, bytes, settle }, () => {
      if (MessageCodec.isQuestion({ _tag: tag })) session.answered()
    })
  }

  /** A message that cannot be handed on takes up no room, nor the place of a question that waits for its answer. */
  #deliver(where: string, received: Received, lost: () => void = nothing): void {
    const hand = () => this.#listener.heard(received)
    this.#contain(received.from, where, hand, () => {
      received.settle("known")
      lost()
    })
  }

  /** Nothing else is read here: reading costs more than a sender pays, so it is left to who judges it in fair turns. */
  #tagOf(session: Session, bytes: Uint8Array, belongs: (tag: Tag) => boolean, where: string): Tag | null {
    const tag = MessageCodec.tagOf(bytes)
    if (tag !== undefined && belongs(tag)) return tag
    const what = tag === undefined ? `kind of message ${bytes[0]}` : `a ${tag} where none belongs`
    this.#offendSession(session, "malformed", `${where}: ${what}`)
    return null
  }

  #gossiped(from: PeerId, topic: string, bytes: Uint8Array, report: (verdict: Verdict) => void): void {
    const take = () => {
      const session = this.#sessions.get(from)
      if (session === undefined || !session.hasRoom) report("known")
      else this.#takeGossip(session, topic, bytes, report)
    }
    this.#contain(from, "gossip", take, nothing)
  }

  #takeGossip(session: Session, topic: string, bytes: Uint8Array, report: (verdict: Verdict) => void): void {
    const isTransactions = topic === this.#topics.transactions
    const belongs = (tag: Tag): boolean =>
      MessageCodec.isNews({ _tag: tag }) && tag !== "Vertices" && (tag === "Transactions") === isTransactions
    const tag = this.#tagOf(session, bytes, belongs, "gossip")
    if (tag === null) {
      report("refused")
      return
    }
    const settle = session.holds(bytes.length)
    const { peer } = session.facts
    this.#deliver("gossip", {
      from: peer,
      standing: this.#standingOf(peer),
      tag,
      bytes,
      settle: (verdict) => {
        settle(verdict)
        report(verdict)
      },
    })
  }

  #standingOf(peer: PeerId): Standing {
    return this.#options.standings.of(peer, this.#sessions.get(peer)?.facts.validator ?? null)
  }

  /** What throws here is a bug of this node, which must not be a way to stop it: `otherwise` ends what it was about. */
  #contain(peer: string, where: string, handle: () => void, otherwise: () => void): void {
    try {
      handle()
    } catch (error) {
      this.#failed(peer, where, error)
      otherwise()
    }
  }

  /** Counts a bug, and says it once for each peer and cause. */
  #failed(peer: string, where: string, error: unknown): void {
    this.#failures++
    this.#complain("warn", `a bug in what this node does for a peer (${where}): ${reasonOf(error)}`, { peer })
  }

  /** Looks after everybody. To be called every now and then. */
  tend(tick: () => void): void {
    this.#contain("all", "dialling", tick, nothing)
    this.#contain("all", "looking after connections", () => this.sweep(), nothing)
  }

  // How peers behave.

  misbehaved(peer: PeerId, what: string, offence: Offence): void {
    const session = this.#sessions.get(peer)
    this.#offend(peer, session?.facts.host ?? null, offence, what)
  }

  #hostOf(peer: PeerId): string | null {
    const [connection] = this.#connectionsOf(peer)
    return connection === undefined ? null : Transport.hostOf(connection.remoteAddr)
  }

  #connectionsOf(peer: PeerId): ReadonlyArray<Connection> {
    return this.#node.getConnections().filter(({ remotePeer }) => remotePeer.toString() === peer)
  }

  #violated(peer: PeerId, violation: Violation): void {
    this.#offend(peer, this.#hostOf(peer), "misframed", violation.message)
    for (const connection of this.#connectionsOf(peer)) connection.abort(violation)
  }

  #gossipedWrongly(connection: Connection, error: GossipRpc.Malformed | GossipGuard.Flood): void {
    const peer = connection.remotePeer.toString() as PeerId
    const offence = error instanceof GossipGuard.Flood ? "flood" : "misframed"
    this.#offend(peer, Transport.hostOf(connection.remoteAddr), offence, `gossip: ${error.message}`)
    connection.abort(error)
  }

  #offendSession({ facts }: Session, offence: Offence, what: string): void {
    this.#offend(facts.peer, facts.host, offence, what)
  }

  #offend(peer: PeerId, host: string | null, offence: Offence, what: string): void {
    const consequence = this.#conduct.offend(peer, host, offence, this.#now())
    this.#complain(consequence === "none" ? "debug" : "warn", SAYS[consequence], { peer, address: host, offence, what })
    if (consequence === "none") return
    this.#trusted.delete(peer)
    for (const connection of this.#connectionsOf(peer)) connection.abort(new Error(what))
  }

  /** Peers that take nothing any more are let go. */
  sweep(): void {
    for (const session of this.sessions) {
      const { isStalled, hasUnfinished, facts } = session
      if (hasUnfinished) {
        this.#offendSession(session, "unfinished", "a message that was begun and does not come to its end")
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
      this.#notice("info", "peer does not read what it is sent", { peer, address: connection.remoteAddr.toString() })
      connection.abort(new Error("it does not read"))
    }
  }

  #notice(level: Notice["level"], message: string, fields: Notice["fields"]): void {
    this.#listener.noticed({ level, message, fields })
  }

  /** Once in a while about each peer: whoever comes back every second must not fill the log. */
  #complain(level: Notice["level"], message: string, fields: Notice["fields"] & { readonly peer: string }): void {
    const now = this.#now()
    const key = `${fields.peer} ${level} ${message}`
    const isFresh = now - (this.#complaints.get(key) ?? Number.NEGATIVE_INFINITY) >= SAID_AGAIN_MS
    if (this.#complaints.size >= MAX_COMPLAINTS) this.#complaints.clear()
    if (isFresh) this.#complaints.set(key, now)
    this.#notice(isFresh ? level : "debug", message, fields)
  }
}

const SAYS: { readonly [consequence in Consequence]: string } = {
  none: "peer did what no honest node does",
  disconnect: "peer disconnected for what no honest node does",
  ban: "peer banned for what no honest node does",
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
