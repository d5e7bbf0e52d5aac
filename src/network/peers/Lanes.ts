/**
 * Multiplexes messages over one byte stream. Messages are cut into pieces, and lanes take turns, so that no lane waits
 * for another. Each piece needs credit, which the reader grants per lane as it takes messages in: a reader that pauses
 * one lane stops its sender there and nowhere else. Each side of a connection has one instance. It knows nothing of
 * sockets, and of time only how long its sender waits.
 */
import { Reassembly } from "../Reassembly.js"
import * as Channel from "./Channel.js"
import { frameLength, HEAD_BYTES, KIND, MOST_NUMBER, numberAt, PIECE_BYTES, Violation, writeHead } from "./Frame.js"
import { Inbound, type Take } from "./Inbound.js"
import { Outbound } from "./Outbound.js"

const GATHERED_BYTES = 4 * (HEAD_BYTES + PIECE_BYTES)
/** More than any window, so that the other side cannot overflow the counter. */
const MOST_CREDIT = 0x7fff_ffff

export interface Line {
  /** Writes; false if the line wants nothing more until `drained`. */
  readonly write: (bytes: Uint8Array) => boolean
  /** Runs `act` after the current event loop turn, so that all messages of the turn go out together. */
  readonly soon: (act: () => void) => void
  /** The same for vertices and votes, which may gather for longer. */
  readonly later: (act: () => void) => void
  readonly now: () => number
}

export class Lanes {
  readonly #line: Line
  readonly #failed: (error: unknown) => void
  readonly #out: ReadonlyArray<Outbound> = Channel.all.map((channel) => {
    const out = new Outbound((more) => this.#hold(more))
    // Both sides know this lane's credit from the beginning.
    if (channel === Channel.FIRST) out.credit = Channel.LIMITS[channel].windowBytes
    return out
  })
  readonly #in: Array<Inbound | undefined> = Channel.all.map(() => undefined)
  readonly #assembly = new Reassembly(frameLength)
  #begunAt: number | null = null
  #heldBytes = 0
  #counted: (more: number) => void = () => {}
  #turn = 0
  #isDue = false
  #isDueLater = false
  #isFull = false
  #isOver = false
  /** At most one of each is queued, however often the other side asks. */
  #ping: number | null = null
  #pong: number | null = null
  #pinged: { readonly token: number; readonly at: number } | null = null
  #latencyMs: number | null = null

  /** `failed`: receives violations and bugs that occur outside `received`. */
  constructor(line: Line, failed: (error: unknown) => void) {
    this.#line = line
    this.#failed = failed
  }

  /** Reports the bytes held here in both directions, now and on every change. */
  countIn(held: (more: number) => void): void {
    this.#counted = held
    held(this.#heldBytes)
  }

  #hold(more: number): void {
    this.#heldBytes += more
    this.#counted(more)
  }

  /** Queues a message; false if the other side reads so slowly that there is no room and the message is lost. */
  send(channel: Channel.Channel, message: Uint8Array): boolean {
    const out = this.#outOf(channel)
    if (this.#isOver || (out.bytes > 0 && out.bytes + message.length > Channel.LIMITS[channel].waitingBytes))
      return false
    out.push(message)
    out.waitsSince ??= this.#line.now()
    if (Channel.isOfRounds(channel)) this.#flushLater()
    else this.#flushSoon()
    return true
  }

  #outOf(channel: Channel.Channel): Outbound {
    const out = this.#out[Channel.all.indexOf(channel)]
    if (out === undefined) throw new Error(`no lane ${channel}`)
    return out
  }

  unsent(channel: Channel.Channel): number {
    return this.#outOf(channel).bytes
  }

  /** How long the other side has taken nothing from a lane with queued data. */
  get stalledMs(): number {
    const now = this.#line.now()
    return Math.max(...this.#out.map(({ waitsSince }) => (waitsSince === null ? 0 : now - waitsSince)))
  }

  /** How long the oldest unfinished incoming message has waited for the other side. */
  get unfinishedMs(): number {
    const ofFrame = this.#begunAt === null ? 0 : this.#line.now() - this.#begunAt
    return Math.max(ofFrame, ...this.#in.map((each) => each?.waitingMs ?? 0))
  }

  get latencyMs(): number | null {
    return this.#latencyMs
  }

  accept(channel: Channel.Channel, window: number, take: Take): void {
    const lane = Channel.all.indexOf(channel)
    const { messageBytes: limit } = Channel.LIMITS[channel]
    const granted = () => this.#flushSoon()
    const held = (more: number) => this.#hold(more)
    const inbound = new Inbound({ window, limit, take, now: this.#line.now, granted, failed: this.#failed, held })
    this.#in[lane] = inbound
    if (channel === Channel.FIRST) return
    // The other side does not know this window yet.
    inbound.left = 0
    inbound.owed = window
    this.#flushSoon()
  }

  ping(): void {
    const token = ((this.#pinged?.token ?? 0) + 1) & MOST_NUMBER
    this.#pinged = { token, at: this.#line.now() }
    this.#ping = token
    this.#flushSoon()
  }

  drained(): void {
    this.#isFull = false
    this.flush()
  }

  /** Stops sending and drops what is queued. */
  end(): void {
    this.#isOver = true
    for (const out of this.#out) out.clear()
  }

  /** Takes received bytes with arbitrary boundaries; returns the number of frames they complete. Throws `Violation`. */
  received(bytes: Uint8Array): number {
    let frames = 0
    this.#assembly.add(bytes)
    for (let frame = this.#assembly.next(); frame !== undefined; frame = this.#assembly.next()) {
      frames++
      this.#frame(frame)
    }
    if (!this.#assembly.isWaiting) this.#begunAt = null
    else if (frames > 0 || this.#begunAt === null) this.#begunAt = this.#line.now()
    return frames
  }

  #frame(frame: Uint8Array): void {
    const [kind, lane] = [(frame[0] ?? 0) >> 4, (frame[0] ?? 0) & 15]
    switch (kind) {
      case KIND.last:
      case KIND.part: {
        const inbound = this.#in[lane]
        if (inbound === undefined) throw new Violation("a message on a lane that is not open")
        inbound.add(frame.subarray(HEAD_BYTES), kind === KIND.last)
        return
      }
      case KIND.credit: {
        const out = this.#out[lane]
        if (out === undefined) throw new Violation("credit for an unknown lane")
        out.credit += numberAt(frame)
        if (out.credit > MOST_CREDIT) throw new Violation("more credit than any window allows")
        if (!out.isEmpty) this.#flushSoon()
        return
      }
      case KIND.ping:
        this.#pong = numberAt(frame)
        this.#flushSoon()
        return
      default:
        if (this.#pinged?.token === numberAt(frame)) this.#latencyMs = this.#line.now() - this.#pinged.at
    }
  }

  #flushSoon(): void {
    if (this.#isDue || this.#isFull || this.#isOver) return
    this.#isDue = true
    this.#line.soon(() => {
      this.#isDue = false
      this.flush()
    })
  }

  #flushLater(): void {
    if (this.#isDue || this.#isDueLater || this.#isFull || this.#isOver) return
    this.#isDueLater = true
    this.#line.later(() => {
      this.#isDueLater = false
      this.flush()
    })
  }

  /** Writes as much as the line and the credit allow. */
  flush(): void {
    while (!this.#isFull && !this.#isOver) {
      const filled = this.#fill()
      if (filled === 0) return
      this.#isFull = !this.#line.write(scratch.slice(0, filled))
    }
  }

  #fill(): number {
    let at = this.#control()
    for (let idle = 0; idle < this.#out.length; ) {
      const lane = this.#turn
      const out = this.#out[lane]
      this.#turn = (lane + 1) % this.#out.length
      const end = Math.min(GATHERED_BYTES, at + HEAD_BYTES + PIECE_BYTES)
      const before = at
      // Short messages share a lane's turn.
      for (let took = -1; took !== 0 && out !== undefined; at += took) took = out.take(scratch, at, end, lane)
      if (at === before || out === undefined) idle++
      else {
        idle = 0
        out.waitsSince = out.isEmpty ? null : this.#line.now()
      }
    }
    return at
  }

  #control(): number {
    let at = 0
    const put = (kind: number, lane: number, number: number): void => {
      writeHead(scratch, at, kind, lane, number)
      at += HEAD_BYTES
    }
    for (const [lane, inbound] of this.#in.entries()) {
      if (inbound === undefined || 4 * inbound.owed < inbound.window) continue
      put(KIND.credit, lane, inbound.owed)
      inbound.left += inbound.owed
      inbound.owed = 0
    }
    if (this.#ping !== null) put(KIND.ping, 0, this.#ping)
    if (this.#pong !== null) put(KIND.pong, 0, this.#pong)
    this.#ping = null
    this.#pong = null
    return at
  }
}

/** Filled and copied within one call. */
const scratch = new Uint8Array(GATHERED_BYTES)
