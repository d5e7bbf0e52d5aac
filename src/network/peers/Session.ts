/** One connected peer after the greeting: its outgoing messages, and limits on incoming ones. */
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

export interface Counted {
  readonly meter: Meter
  readonly account: Account
}

/**
 * Delivered messages occupy a room until they are taken in. Rooms are per kind, so that relayed messages do not block
 * others.
 */
export type Room = "own" | Relays.Channel

/** Beyond these limits, nothing more of the kind is read. */
const ROOMS: { readonly [room in Room]: { readonly bytes: number; readonly messages: number } } = {
  own: { bytes: 8_388_608, messages: 256 },
  transactions: { bytes: 4_194_304, messages: 256 },
  votes: { bytes: 262_144, messages: 64 },
}
/** Reading, judging and answering a message costs as much as two pieces. */
const PIECES_PER_MESSAGE = 2
/** Limit of unanswered questions; beyond it no further question is read. */
const OPEN_QUESTIONS = 64
/** Limit of answers the peer has not read; beyond it no further question is read. */
const UNREAD_ANSWER_BYTES = 4_194_304
/** How often to check for room if nothing signals it. */
const LOOK_MS = 100
/** No peer that waits for its answers asks faster. */
const QUESTIONS: Rate = { burst: 500, perSecond: 100 }
/** Unrequested closing checkpoints, which a peer may offer repeatedly to a node that seems to be behind. */
const OFFERS: Rate = { burst: 16, perSecond: 4 }
/** Useless votes. Honest peers relay fewer, since they judge votes by the same rules first. */
const VAIN_VOTES: Rate = { burst: 512, perSecond: 32 }
/** A peer that takes nothing for this long is gone. */
const STALLED_MS = 30_000
/** A message that is incomplete after this time never completes. */
const UNFINISHED_MS = 60_000

export interface Facts {
  readonly peer: PeerId
  readonly connection: Connection
  readonly hello: Hello
  readonly validator: Address | null
  readonly address: string
  readonly host: string
  /** Of the host, widest first, ending with the host's group. */
  readonly networks: ReadonlyArray<string>
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

  /** Queues a message for this peer; false if the peer reads so slowly that there is no room. */
  send(channel: Channel.OfReplica, message: Uint8Array): boolean {
    return !this.#isOver && this.#account.hasRoom() && this.facts.connection.lanes.send(channel, message)
  }

  answered(): void {
    this.#openQuestions = Math.max(0, this.#openQuestions - 1)
    this.#wakeAll()
  }

  /** Opens the lanes: each message is taken once there is room for it. */
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

  /** Resolves when a message of this size can be taken; undefined if it need not wait. */
  #pause(channel: Channel.OfReplica, bytes: number): Promise<void> | undefined {
    // One piece can hold thousands of messages, each of which takes time.
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

  /** Counts closing checkpoints; false if they were not requested and an honest peer would not offer so many. */
  offers(): boolean {
    if (this.#closingsAwaited === 0) return this.#offers.take(1, this.#clock.now()) === 0
    this.#closingsAwaited--
    return true
  }

  /** Counts a useless vote; false if no honest peer would have relayed so many. */
  passesOnInVain(): boolean {
    return this.#vainVotes.take(1, this.#clock.now()) === 0
  }

  /** Counts a message that was handed on. Call the result once it is taken in. */
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

  get news(): number {
    return this.#news
  }

  get hasUnfinished(): boolean {
    return this.facts.connection.lanes.unfinishedMs > UNFINISHED_MS
  }

  get isStalled(): boolean {
    return this.facts.connection.lanes.stalledMs > STALLED_MS
  }

  /** Stops all traffic in both directions. */
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
