/** One connected peer after the hellos: what goes to it, and how much of what comes from it may wait here. */
import type { Connection } from "@libp2p/interface"
import type { PeerId } from "../../consensus/replica/Peer.js"
import type { Address } from "../../protocol/Address.js"
import type { Timestamp } from "../../protocol/Counter.js"
import { Allowance } from "../Allowance.js"
import * as Frames from "../Frames.js"
import type { Hello } from "../Hello.js"
import type { Peer } from "../Network.js"
import * as Channel from "./Channel.js"

/** Delivered and not taken in yet: beyond this nothing more is read from the peer. */
const WAITING_BYTES = 8_388_608
const WAITING_MESSAGES = 256
/** Questions that may wait for their answers; beyond this no further question is read. */
const OPEN_QUESTIONS = 64
/** Answers that the peer has not read yet; beyond this no further question is read. */
const UNREAD_ANSWER_BYTES = 4_194_304
/** How often it is looked whether there is room again where nothing tells. */
const LOOK_MS = 100
/** Nobody who waits for answers asks more. */
const QUESTIONS_AT_ONCE = 500
const QUESTIONS_PER_SECOND = 100
/** Closing checkpoints that a peer may offer unasked: to who seems to be behind, and more than once. */
const OFFERS_AT_ONCE = 16
const OFFERS_PER_SECOND = 4
/** A peer that takes nothing for so long is not there any more. */
const STALLED_MS = 30_000

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

export class Session {
  readonly facts: Facts
  readonly #now: () => number
  readonly #protocolOf: (channel: Channel.Channel) => string
  readonly #outgoing = new Map<Channel.Channel, Frames.Outgoing>()
  readonly #allowances: ReadonlyMap<Channel.Channel, Allowance>
  readonly #questions: Allowance
  readonly #offers: Allowance
  #waitingBytes = 0
  #waitingMessages = 0
  #openQuestions = 0
  /** Asked for closing checkpoints, and not answered yet. */
  #closingsAwaited = 0
  #waiters: Array<() => void> = []
  #isOver = false

  constructor(facts: Facts, protocolOf: (channel: Channel.Channel) => string, now: () => number) {
    this.facts = facts
    this.#protocolOf = protocolOf
    this.#now = now
    this.#allowances = new Map(
      Channel.all.map((channel) => {
        const { burstBytes, bytesPerSecond } = Channel.LIMITS[channel]
        return [channel, new Allowance(burstBytes, bytesPerSecond, now())]
      }),
    )
    this.#questions = new Allowance(QUESTIONS_AT_ONCE, QUESTIONS_PER_SECOND, now())
    this.#offers = new Allowance(OFFERS_AT_ONCE, OFFERS_PER_SECOND, now())
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
      latencyMs: connection.rtt ?? null,
      connectedSince,
    }
  }

  /** A frame for this peer; false when it takes so little that there is no room for it. */
  send(channel: Channel.Channel, frame: Uint8Array): boolean {
    if (this.#isOver) return false
    const known = this.#outgoing.get(channel)
    if (known !== undefined) return known.push(frame)
    const opened = new Frames.Outgoing(Channel.LIMITS[channel].waitingBytes, this.#now)
    this.#outgoing.set(channel, opened)
    opened.push(frame)
    this.#feed(channel, opened).finally(() => {
      if (this.#outgoing.get(channel) === opened) this.#outgoing.delete(channel)
    })
    return true
  }

  /** Until the stream breaks; the next frame opens another one. */
  async #feed(channel: Channel.Channel, outgoing: Frames.Outgoing): Promise<void> {
    try {
      const stream = await this.facts.connection.newStream(this.#protocolOf(channel))
      await stream.sink(outgoing.frames())
    } catch {
      // The peer has closed it, or is gone, which the connection says by itself. What waited is lost.
    } finally {
      outgoing.end()
    }
  }

  answered(): void {
    this.#openQuestions = Math.max(0, this.#openQuestions - 1)
    this.#wakeAll()
  }

  /** Waits until so many bytes of this channel may be taken in. */
  async admit(channel: Channel.Channel, bytes: number): Promise<void> {
    const waitMs = this.#allowances.get(channel)?.take(bytes, this.#now()) ?? 0
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs).unref())
    while (!this.#isOver && this.#isFull(channel)) {
      await new Promise<void>((resolve) => {
        this.#waiters.push(resolve)
        setTimeout(resolve, LOOK_MS).unref()
      })
    }
  }

  #isFull(channel: Channel.Channel): boolean {
    return (
      this.#waitingBytes >= WAITING_BYTES ||
      this.#waitingMessages >= WAITING_MESSAGES ||
      (channel === "questions" && this.#hasUnanswered)
    )
  }

  get #hasUnanswered(): boolean {
    const unread = this.#outgoing.get("answers")?.bytes ?? 0
    return this.#openQuestions >= OPEN_QUESTIONS || unread > UNREAD_ANSWER_BYTES
  }

  /** Whether there is room without waiting: what cannot be made to wait is dropped. */
  get hasRoom(): boolean {
    return !this.#isFull("vertices")
  }

  /** A question has come; false when nobody who waits for answers asks so many. */
  asks(): boolean {
    this.#openQuestions++
    return this.#questions.take(1, this.#now()) === 0
  }

  asksForClosing(): void {
    this.#closingsAwaited++
  }

  /** Closing checkpoints have come; false when so many were neither asked for nor are offered by anybody honest. */
  offers(): boolean {
    if (this.#closingsAwaited === 0) return this.#offers.take(1, this.#now()) === 0
    this.#closingsAwaited--
    return true
  }

  /** A message was handed on; call the result once it was taken in. */
  holds(bytes: number): () => void {
    this.#waitingBytes += bytes
    this.#waitingMessages++
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      this.#waitingBytes -= bytes
      this.#waitingMessages--
      this.#wakeAll()
    }
  }

  get isStalled(): boolean {
    return [...this.#outgoing.values()].some(({ waitingMs }) => waitingMs > STALLED_MS)
  }

  /** Nothing more goes out or comes in. */
  end(): void {
    this.#isOver = true
    for (const outgoing of this.#outgoing.values()) outgoing.end()
    this.#wakeAll()
  }

  #wakeAll(): void {
    const waiters = this.#waiters
    this.#waiters = []
    for (const wake of waiters) wake()
  }
}
