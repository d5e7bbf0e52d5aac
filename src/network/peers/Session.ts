/** One connected peer after the greeting: its outgoing messages, and limits on its incoming ones that wait here. */
import type { Address } from "../../protocol/identity/Address.js"
import type { Timestamp } from "../../protocol/numbers/Natural.js"
import type { PeerId } from "../../replica/messages/Peer.js"
import { Allowance, type Rate } from "../Allowance.js"
import type { Hello } from "../Hello.js"
import type { Peer, RelayDecision } from "../Network.js"
import * as PeerAddress from "../PeerAddress.js"
import * as Channel from "./Channel.js"
import type { Clock } from "./Clock.js"
import type { Meter } from "./Meter.js"
import type { Account } from "./PeerMemory.js"
import type * as Relays from "./Relays.js"
import type { Connection } from "./Wire.js"

/** What the traffic of this peer is counted in. */
export interface Counted {
  readonly meter: Meter
  readonly account: Account
}

/** What was delivered waits here until it is taken in, in a room for each kind: what is passed on keeps nothing else out. */
export type Room = "own" | Relays.Channel

/** Beyond this nothing more is read of the kind. */
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
  /** As HOST:PORT. */
  readonly address: string
  readonly host: string
  readonly connectedSince: Timestamp
}

const roomOf = (channel: Channel.OfReplica): Room =>
  channel === "transactions" || channel === "votes" ? channel : "own"

export class Session {
  readonly facts: Facts
  readonly meter: Meter
  readonly #account: Account
  readonly #clock: Clock
  readonly #allowances: ReadonlyMap<Channel.OfReplica, Allowance>
  readonly #questions: Allowance
  readonly #offers: Allowance
  readonly #vainVotes: Allowance
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

  constructor(facts: Facts, { meter, account }: Counted, clock: Clock) {
    this.facts = facts
    this.meter = meter
    this.#account = account
    this.#clock = clock
    this.#allowances = new Map(
      Channel.ofReplica.map((channel) => {
        const { burstBytes, bytesPerSecond } = Channel.LIMITS[channel]
        return [channel, new Allowance({ burst: burstBytes, perSecond: bytesPerSecond }, clock.now())]
      }),
    )
    this.#questions = new Allowance(QUESTIONS, clock.now())
    this.#offers = new Allowance(OFFERS, clock.now())
    this.#vainVotes = new Allowance(VAIN_VOTES, clock.now())
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get asPeer(): Peer {
    const { peer, connection, hello, validator, address, connectedSince } = this.facts
    return {
      id: peer,
      validator,
      address: PeerAddress.at(peer, address),
      direction: connection.direction,
      agent: hello.agent,
      latencyMs: connection.lanes.latencyMs,
      connectedSince,
    }
  }

  /** Queues a message for this peer; false if it takes data so slowly that there is no room. */
  send(channel: Channel.OfReplica, message: Uint8Array): boolean {
    return !this.#isOver && this.#account.hasRoom() && this.facts.connection.lanes.send(channel, message)
  }

  answered(): void {
    this.#openQuestions = Math.max(0, this.#openQuestions - 1)
    this.#wakeAll()
  }

  /** Lets the peer send on its lanes: each message is taken once there is room for it. */
  open(take: (channel: Channel.OfReplica, message: Uint8Array) => void): void {
    const standing = this.meter.standing()
    this.facts.connection.lanes.countIn(this.#account.add)
    for (const channel of Channel.ofReplica) {
      this.facts.connection.lanes.accept(channel, Channel.windowOf(channel, standing), (message) => {
        const pause = this.#pause(channel, message.length)
        if (pause === undefined) {
          if (!this.#isOver) take(channel, message)
          return undefined
        }
        return pause.then(() => {
          if (!this.#isOver) take(channel, message)
        })
      })
    }
  }

  /** For as long as a message of this many bytes must wait; undefined if it need not. */
  #pause(channel: Channel.OfReplica, bytes: number): Promise<void> | undefined {
    // Thousands of messages may lie in one piece, and each takes time of its own.
    const pause = this.meter.charge(PIECES_PER_MESSAGE, 0)
    const waitMs = this.#allowances.get(channel)?.take(bytes, this.#clock.now()) ?? 0
    if (pause === undefined && waitMs === 0 && !this.#isFull(channel)) return undefined
    return this.#wait(channel, pause, waitMs)
  }

  async #wait(channel: Channel.OfReplica, pause: Promise<unknown> | undefined, waitMs: number): Promise<void> {
    if (pause !== undefined) await pause
    if (waitMs > 0) await this.#clock.wait(waitMs)
    while (!this.#isOver && this.#isFull(channel)) {
      await new Promise<void>((resolve) => {
        this.#waiters.push(resolve)
        void this.#clock.wait(LOOK_MS).then(resolve)
      })
    }
  }

  #isFull(channel: Channel.OfReplica): boolean {
    const { bytes, messages } = this.#waiting[roomOf(channel)]
    const { bytes: mostBytes, messages: mostMessages } = ROOMS[roomOf(channel)]
    return bytes >= mostBytes || messages >= mostMessages || (channel === "questions" && this.#hasUnanswered)
  }

  get #hasUnanswered(): boolean {
    const unread = this.facts.connection.lanes.unsent("answers")
    return this.#openQuestions >= OPEN_QUESTIONS || unread > UNREAD_ANSWER_BYTES
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
  holds(channel: Channel.OfReplica, bytes: number): (decision: RelayDecision) => void {
    const waiting = this.#waiting[roomOf(channel)]
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
    return this.facts.connection.lanes.unfinishedMs > UNFINISHED_MS
  }

  get isStalled(): boolean {
    return this.facts.connection.lanes.stalledMs > STALLED_MS
  }

  /** Nothing more goes out or comes in. */
  end(): void {
    this.#isOver = true
    this.facts.connection.lanes.end()
    this.#account.close()
    this.#wakeAll()
  }

  #wakeAll(): void {
    const waiters = this.#waiters
    this.#waiters = []
    for (const wake of waiters) wake()
  }
}
