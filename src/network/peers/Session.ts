/** One connected peer after the greeting: its outgoing messages, and limits on its incoming ones that wait here. */
import type { Address } from "../../protocol/identity/Address.js"
import type { Timestamp } from "../../protocol/numbers/Natural.js"
import type { PeerId } from "../../replica/messages/Peer.js"
import { Allowance, type Rate } from "../Allowance.js"
import * as Frames from "../Frames.js"
import type { Hello } from "../Hello.js"
import type { Peer, RelayDecision } from "../Network.js"
import * as Channel from "./Channel.js"
import { GossipMeter } from "./GossipMeter.js"
import type { Account } from "./Holdings.js"
import type { Meter } from "./Meter.js"
import type { Clock, Connection } from "./Wire.js"

/** What the traffic of this peer is counted in. */
export interface Counted {
  readonly meter: Meter
  readonly account: Account
  /** Whether so much waits below the streams that nothing more is to be written. */
  readonly isClogged: () => boolean
}

/** What was delivered waits here until it is taken in, in a room for each kind: what is passed on keeps nothing else out. */
export type Room = "own" | "transactions" | "votes"

/** Beyond this nothing more is read of the kind, or, if it comes by gossip, kept. */
const ROOMS: { readonly [room in Room]: { readonly bytes: number; readonly messages: number } } = {
  own: { bytes: 8_388_608, messages: 256 },
  transactions: { bytes: 4_194_304, messages: 256 },
  votes: { bytes: 262_144, messages: 64 },
}
/** To be read, judged and answered, a message costs as much as two pieces. */
const PIECES_PER_MESSAGE = 2
/** Questions that may wait for their answers; beyond this no further question is read. */
const OPEN_QUESTIONS = 64
/** Answers that the peer has not read yet; beyond this no further question is read. */
const UNREAD_ANSWER_BYTES = 4_194_304
/** How often to check whether the line is clogged no more. */
const CLOGGED_MS = 20
/** How often to check for room again if nothing signals it. */
const LOOK_MS = 100
/** No peer that waits for its answers asks more. */
const QUESTIONS: Rate = { burst: 500, perSecond: 100 }
/** Closing checkpoints that a peer may offer unasked: to a node that seems to be behind, and more than once. */
const OFFERS: Rate = { burst: 16, perSecond: 4 }
/** Votes that were of no use. No honest peer relays so many: it judges them by the same rules before. */
const VAIN_VOTES: Rate = { burst: 512, perSecond: 32 }
/** A peer that takes nothing for this long is gone. */
const STALLED_MS = 30_000
/** A message that is not complete this long after its beginning never will be. */
const UNFINISHED_MS = 60_000

export interface Facts {
  readonly peer: PeerId
  readonly connection: Connection
  readonly hello: Hello
  readonly validator: Address | null
  /** A multiaddress without peer id. */
  readonly address: string
  readonly host: string
  readonly connectedSince: Timestamp
}

export const roomOf = (channel: Channel.Channel): Room => (channel === "transactions" ? channel : "own")

export class Session {
  readonly facts: Facts
  readonly meter: Meter
  readonly gossip: GossipMeter
  readonly #account: Account
  readonly #isClogged: () => boolean
  readonly #clock: Clock
  readonly #protocolOf: (channel: Channel.Channel) => string
  readonly #outgoing = new Map<Channel.Channel, Frames.Outgoing>()
  readonly #allowances: ReadonlyMap<Channel.Channel, Allowance>
  readonly #questions: Allowance
  readonly #offers: Allowance
  readonly #vainVotes: Allowance
  readonly #incoming = new Set<Frames.Incoming>()
  #news = 0
  readonly #waiting = {
    own: { bytes: 0, messages: 0 },
    transactions: { bytes: 0, messages: 0 },
    votes: { bytes: 0, messages: 0 },
  }
  #openQuestions = 0
  /** Asked for closing checkpoints, and not answered yet. */
  #closingsAwaited = 0
  #waiters: Array<() => void> = []
  #isOver = false

  constructor(facts: Facts, counted: Counted, protocolOf: (channel: Channel.Channel) => string, clock: Clock) {
    const { meter, account, isClogged } = counted
    this.facts = facts
    this.meter = meter
    this.#account = account
    this.#isClogged = isClogged
    this.#protocolOf = protocolOf
    this.#clock = clock
    this.#allowances = new Map(
      Channel.all.map((channel) => {
        const { burstBytes, bytesPerSecond } = Channel.LIMITS[channel]
        return [channel, new Allowance({ burst: burstBytes, perSecond: bytesPerSecond }, clock.now())]
      }),
    )
    this.#questions = new Allowance(QUESTIONS, clock.now())
    this.#offers = new Allowance(OFFERS, clock.now())
    this.#vainVotes = new Allowance(VAIN_VOTES, clock.now())
    this.gossip = new GossipMeter(meter.standing, clock.now)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get asPeer(): Peer {
    const { peer, connection, hello, validator, address, connectedSince } = this.facts
    return {
      id: peer,
      validator,
      address: `${address}/p2p/${peer}`,
      direction: connection.direction,
      agent: hello.agent,
      latencyMs: connection.latencyMs,
      connectedSince,
    }
  }

  /** Queues a frame for this peer; false if it takes data so slowly that there is no room. */
  send(channel: Channel.Channel, frame: Uint8Array): boolean {
    if (this.#isOver || !this.#account.hasRoom()) return false
    const known = this.#outgoing.get(channel)
    if (known !== undefined) return known.push(frame)
    const opened = new Frames.Outgoing(Channel.LIMITS[channel].waitingBytes, this.#clock.now, this.#account.add)
    this.#outgoing.set(channel, opened)
    opened.push(frame)
    this.#feed(channel, opened).finally(() => {
      if (this.#outgoing.get(channel) === opened) this.#outgoing.delete(channel)
    })
    return true
  }

  /** Sends until the stream breaks; the next frame opens another one. */
  async #feed(channel: Channel.Channel, outgoing: Frames.Outgoing): Promise<void> {
    try {
      const stream = await this.facts.connection.open(this.#protocolOf(channel))
      await stream.sink(this.#paced(outgoing))
    } catch {
      // The peer has closed it, or is gone, which the connection reports itself. Waiting frames are lost.
    } finally {
      outgoing.discard()
    }
  }

  /**
   * In short pieces, each once the line is not clogged. A stream alone does not hold them back: the peer says how much it may
   * be sent, and need not read it.
   */
  async *#paced(outgoing: Frames.Outgoing): AsyncGenerator<Uint8Array, undefined> {
    for await (const piece of outgoing.pieces()) {
      for (let at = 0; at < piece.length; at += Frames.GATHERED_BYTES) {
        while (this.#isClogged() && !this.#isOver) await this.#clock.wait(CLOGGED_MS)
        if (this.#isOver) return undefined
        yield piece.subarray(at, at + Frames.GATHERED_BYTES)
      }
    }
    return undefined
  }

  answered(): void {
    this.#openQuestions = Math.max(0, this.#openQuestions - 1)
    this.#wakeAll()
  }

  /** The messages of a stream, each once there is room for it. */
  async *messages(
    channel: Channel.Channel,
    source: AsyncIterable<Frames.Piece>,
  ): AsyncGenerator<Uint8Array, undefined> {
    const { frameBytes } = Channel.LIMITS[channel]
    const incoming = new Frames.Incoming(source, frameBytes, this.#clock.now, this.#account.add)
    this.#incoming.add(incoming)
    try {
      for await (const bytes of incoming.messages()) {
        await this.#admit(channel, bytes.length)
        if (this.#isOver) return undefined
        yield bytes
      }
      return undefined
    } finally {
      this.#incoming.delete(incoming)
    }
  }

  /** Waits until this many bytes of the channel may be taken in. */
  async #admit(channel: Channel.Channel, bytes: number): Promise<void> {
    // Thousands of messages may lie in one frame, and each takes time of its own.
    const pause = this.meter.charge(PIECES_PER_MESSAGE, 0)
    if (pause !== undefined) await pause
    const waitMs = this.#allowances.get(channel)?.take(bytes, this.#clock.now()) ?? 0
    if (waitMs > 0) await this.#clock.wait(waitMs)
    while (!this.#isOver && this.#isFull(channel)) {
      await new Promise<void>((resolve) => {
        this.#waiters.push(resolve)
        void this.#clock.wait(LOOK_MS).then(resolve)
      })
    }
  }

  #isFull(channel: Channel.Channel): boolean {
    return !this.hasRoom(roomOf(channel)) || (channel === "questions" && this.#hasUnanswered)
  }

  get #hasUnanswered(): boolean {
    const unread = this.#outgoing.get("answers")?.bytes ?? 0
    return this.#openQuestions >= OPEN_QUESTIONS || unread > UNREAD_ANSWER_BYTES
  }

  /** Whether there is room without waiting: messages that cannot be made to wait are dropped. */
  hasRoom(room: Room): boolean {
    const { bytes, messages } = this.#waiting[room]
    return bytes < ROOMS[room].bytes && messages < ROOMS[room].messages
  }

  /** Counts a question; false if no peer that waits for its answers would ask so fast. */
  asks(): boolean {
    this.#openQuestions++
    return this.#questions.take(1, this.#clock.now()) === 0
  }

  asksForClosing(): void {
    this.#closingsAwaited++
  }

  /** Counts closing checkpoints; false if they were not asked for and an honest peer would not offer that many. */
  offers(): boolean {
    if (this.#closingsAwaited === 0) return this.#offers.take(1, this.#clock.now()) === 0
    this.#closingsAwaited--
    return true
  }

  /** Counts a vote that was of no use; false if no honest peer would have passed on so many. */
  passesOnInVain(): boolean {
    return this.#vainVotes.take(1, this.#clock.now()) === 0
  }

  /** A message was handed on; call the result once it was taken in. */
  holds(room: Room, bytes: number): (decision: RelayDecision) => void {
    const waiting = this.#waiting[room]
    waiting.bytes += bytes
    waiting.messages++
    this.#account.add(bytes)
    let isReleased = false
    return (decision) => {
      if (isReleased) return
      isReleased = true
      if (decision === "news") this.#news++
      waiting.bytes -= bytes
      waiting.messages--
      this.#account.add(-bytes)
      this.#wakeAll()
    }
  }

  /** How many of its messages were new. */
  get news(): number {
    return this.#news
  }

  /** It began a message long ago and has not finished it. */
  get hasUnfinished(): boolean {
    return [...this.#incoming].some(({ waitingMs }) => waitingMs > UNFINISHED_MS)
  }

  get isStalled(): boolean {
    return [...this.#outgoing.values()].some(({ waitingMs }) => waitingMs > STALLED_MS)
  }

  /** Nothing more goes out or comes in. */
  end(): void {
    this.#isOver = true
    for (const outgoing of this.#outgoing.values()) outgoing.end()
    this.#account.close()
    this.#wakeAll()
  }

  #wakeAll(): void {
    const waiters = this.#waiters
    this.#waiters = []
    for (const wake of waiters) wake()
  }
}
