/**
 * Messages in lanes over one line of bytes. A message is cut into pieces, and lanes with something to send take turns,
 * so that no lane waits for another. Each piece needs credit, which the reader grants for each lane as it takes
 * messages in: a reader that stops reading one lane stops its sender there and nowhere else. Both sides of a connection
 * use one of these each. It knows neither sockets nor time, apart from the clock for its sender's waiting.
 *
 * Every frame begins with a head of four bytes: its kind and its lane, then a number of three bytes (little-endian). For
 * a piece, the number is the length of the piece, which follows.
 */
import { Assembly } from "../Assembly.js"
import * as Channel from "./Channel.js"

/** Something that no honest node sends. */
export class Violation extends Error {
  readonly offence: "misframed" | "oversize"

  constructor(what: string, offence: "misframed" | "oversize" = "misframed") {
    super(what)
    this.offence = offence
  }
}

export const HEAD_BYTES = 4
/** With its head it fills one record of TLS. */
export const PIECE_BYTES = 16_380
/** Frames that are written together. */
const GATHERED_BYTES = 4 * (HEAD_BYTES + PIECE_BYTES)
/** What a piece costs of the credit besides its length: the memory around it. */
export const PIECE_COST = 64
/** More than any window: the other side cannot make this node count beyond it. */
const MOST_CREDIT = 0x7fff_ffff
const MOST_NUMBER = 0xff_ffff

export const KIND = { last: 0, part: 1, credit: 2, ping: 3, pong: 4 } as const

const numberAt = (bytes: Uint8Array): number => (bytes[1] ?? 0) + (bytes[2] ?? 0) * 256 + (bytes[3] ?? 0) * 65_536

/** Fails for a head that no honest node's frame has. */
export const frameLength = (start: Uint8Array): number | undefined => {
  if (start.length < HEAD_BYTES) return undefined
  const kind = (start[0] ?? 0) >> 4
  if (kind > KIND.pong) throw new Violation("a frame of no known kind")
  if (kind > KIND.part) return HEAD_BYTES
  const length = numberAt(start)
  if (length > PIECE_BYTES) throw new Violation(`a piece of ${length} bytes`)
  return HEAD_BYTES + length
}

/** Takes a message. It returns a promise if the next message of the lane must wait for it. */
export type Take = (message: Uint8Array) => Promise<unknown> | undefined

export interface Line {
  /** Writes; false if the line wants nothing more before `drained`. */
  readonly write: (bytes: Uint8Array) => boolean
  /** Calls this once the present turn of the event loop is over, so that all its messages go out together. */
  readonly soon: (act: () => void) => void
  readonly now: () => number
}

/** The messages that wait on one lane. */
class Outbound {
  readonly #held: (more: number) => void
  #messages: Array<Uint8Array> = []
  /** The first message that is not sent, and how much of it is. */
  #first = 0
  #sent = 0
  bytes = 0
  credit = 0
  /** Since when nothing was sent although something waits. */
  waitsSince: number | null = null

  constructor(held: (more: number) => void) {
    this.#held = held
  }

  push(message: Uint8Array): void {
    this.#messages.push(message)
    this.#hold(message.length)
  }

  #hold(more: number): void {
    this.bytes += more
    this.#held(more)
  }

  get isEmpty(): boolean {
    return this.#first === this.#messages.length
  }

  /** How long the next piece is, if there is credit for it within `room`; undefined if it must wait. */
  #next(room: number): number | undefined {
    const message = this.#messages[this.#first]
    if (message === undefined) return undefined
    const rest = message.length - this.#sent
    const length = Math.min(rest, PIECE_BYTES)
    // A part that is shorter than it must be would only be one more piece.
    return length + HEAD_BYTES <= room && length + PIECE_COST <= this.credit ? length : undefined
  }

  get canSend(): boolean {
    return this.#next(Number.POSITIVE_INFINITY) !== undefined
  }

  /** Writes the next frame there, if it fits; returns how many bytes that are. */
  take(target: Uint8Array, at: number, end: number, lane: number): number {
    const length = this.#next(end - at)
    const message = this.#messages[this.#first]
    if (length === undefined || message === undefined) return 0
    const isLast = this.#sent + length === message.length
    writeHead(target, at, isLast ? KIND.last : KIND.part, lane, length)
    const isWhole = length === message.length
    target.set(isWhole ? message : message.subarray(this.#sent, this.#sent + length), at + HEAD_BYTES)
    this.#sent += length
    if (isLast) this.#forget()
    this.#hold(-length)
    this.credit -= length + PIECE_COST
    return HEAD_BYTES + length
  }

  #forget(): void {
    this.#messages[this.#first] = NOTHING
    this.#first++
    this.#sent = 0
    if (this.#first === this.#messages.length) {
      this.#messages = []
      this.#first = 0
    } else if (this.#first >= 1_024 && 2 * this.#first >= this.#messages.length) {
      this.#messages = this.#messages.slice(this.#first)
      this.#first = 0
    }
  }

  clear(): void {
    this.#messages = []
    this.#first = 0
    this.#sent = 0
    this.#hold(-this.bytes)
    this.waitsSince = null
  }
}

const NOTHING = new Uint8Array(0)

const writeHead = (target: Uint8Array, at: number, kind: number, lane: number, number: number): void => {
  target[at] = kind * 16 + lane
  target[at + 1] = number & 255
  target[at + 2] = (number >> 8) & 255
  target[at + 3] = (number >> 16) & 255
}

/** A piece that outlives the bytes it came in. It is copied unless it is most of these. */
const kept = (piece: Uint8Array): Uint8Array =>
  piece.length * 2 > piece.buffer.byteLength ? piece : new Uint8Array(piece)

interface Receiving {
  readonly window: number
  readonly limit: number
  readonly take: Take
  readonly now: () => number
  /** There is enough to grant anew. */
  readonly granted: () => void
  readonly failed: (error: unknown) => void
  /** Told of every change of the bytes that wait here. */
  readonly held: (more: number) => void
}

/** What the other side sends on one lane. */
class Inbound {
  readonly limit: number
  readonly window: number
  readonly #take: Take
  readonly #now: () => number
  readonly #granted: () => void
  readonly #failed: (error: unknown) => void
  readonly #counted: (more: number) => void
  /** What the other side may still send. */
  left: number
  /** Taken in and not granted anew. */
  owed = 0
  /** Pieces that wait while the lane does, each with whether it is the last of its message. */
  #held: Array<{ readonly piece: Uint8Array; readonly isLast: boolean }> = []
  #parts: Array<Uint8Array> = []
  #bytes = 0
  #isHeld = false
  #begunAt: number | null = null

  constructor({ window, limit, take, now, granted, failed, held }: Receiving) {
    this.window = window
    this.limit = limit
    this.left = window
    this.#take = take
    this.#now = now
    this.#granted = granted
    this.#failed = failed
    this.#counted = held
  }

  /** How long the other side has let this node wait for the rest of a message. A slow reader here is not its fault. */
  get waitingMs(): number {
    return this.#begunAt === null || this.#isHeld ? 0 : this.#now() - this.#begunAt
  }

  add(piece: Uint8Array, isLast: boolean): void {
    this.left -= piece.length + PIECE_COST
    if (this.left < 0) throw new Violation("more than was granted")
    if (!this.#isHeld) {
      this.#accept(piece, isLast)
      return
    }
    this.#held.push({ piece: kept(piece), isLast })
    this.#counted(piece.length + PIECE_COST)
  }

  #accept(piece: Uint8Array, isLast: boolean): void {
    this.owed += piece.length + PIECE_COST
    if (4 * this.owed >= this.window) this.#granted()
    this.#bytes += piece.length
    if (this.#bytes > this.limit) {
      throw new Violation(`a message of ${this.#bytes} bytes, at most ${this.limit} allowed`, "oversize")
    }
    if (!isLast) {
      if (piece.length === 0) throw new Violation("an empty part of a message")
      this.#parts.push(kept(piece))
      this.#counted(piece.length)
      this.#begunAt ??= this.#now()
      return
    }
    const message = this.#parts.length === 0 ? kept(piece) : this.#joined(piece)
    this.#bytes = 0
    this.#begunAt = null
    const wait = this.#take(message)
    if (wait !== undefined) this.#hold(wait)
  }

  #joined(last: Uint8Array): Uint8Array {
    const message = new Uint8Array(this.#bytes)
    let at = 0
    for (const part of this.#parts) {
      message.set(part, at)
      at += part.length
    }
    message.set(last, at)
    this.#parts = []
    this.#counted(last.length - message.length)
    return message
  }

  #hold(wait: Promise<unknown>): void {
    this.#isHeld = true
    const goOn = () => {
      this.#isHeld = false
      let at = 0
      for (let next = this.#held[0]; next !== undefined && !this.#isHeld; next = this.#held[++at]) {
        this.#counted(-next.piece.length - PIECE_COST)
        this.#accept(next.piece, next.isLast)
      }
      this.#held.splice(0, at)
    }
    wait.then(goOn).catch(this.#failed)
  }
}

export class Lanes {
  readonly #line: Line
  readonly #failed: (error: unknown) => void
  readonly #out: ReadonlyArray<Outbound> = Channel.all.map((channel) => {
    const out = new Outbound((more) => this.#hold(more))
    // Both sides know of this one from the beginning.
    if (channel === Channel.FIRST) out.credit = Channel.LIMITS[channel].windowBytes
    return out
  })
  readonly #in: Array<Inbound | undefined> = Channel.all.map(() => undefined)
  readonly #assembly = new Assembly(frameLength)
  /** Since when a frame has been incomplete. */
  #begunAt: number | null = null
  #heldBytes = 0
  #counted: (more: number) => void = () => {}
  #turn = 0
  #isDue = false
  #isFull = false
  #isOver = false
  /** At most one of each waits, whatever the other side asks. */
  #ping: number | null = null
  #pong: number | null = null
  #pinged: { readonly token: number; readonly at: number } | null = null
  #latencyMs: number | null = null

  /** `failed`: a violation, or a bug, that showed outside of `received`. */
  constructor(line: Line, failed: (error: unknown) => void) {
    this.#line = line
    this.#failed = failed
  }

  /** Counts what waits here, in both directions, there as well: now, and whenever it changes. */
  countIn(held: (more: number) => void): void {
    this.#counted = held
    held(this.#heldBytes)
  }

  #hold(more: number): void {
    this.#heldBytes += more
    this.#counted(more)
  }

  /** Queues a message; false if the other side takes data so slowly that there is no room: the message is lost. */
  send(channel: Channel.Channel, message: Uint8Array): boolean {
    const out = this.#outOf(channel)
    if (this.#isOver || (out.bytes > 0 && out.bytes + message.length > Channel.LIMITS[channel].waitingBytes))
      return false
    out.push(message)
    out.waitsSince ??= this.#line.now()
    this.#flushSoon()
    return true
  }

  #outOf(channel: Channel.Channel): Outbound {
    const out = this.#out[Channel.all.indexOf(channel)]
    if (out === undefined) throw new Error(`no lane ${channel}`)
    return out
  }

  /** Bytes of messages that wait on a lane. */
  unsent(channel: Channel.Channel): number {
    return this.#outOf(channel).bytes
  }

  /** For how long the other side has taken nothing of a lane on which something waits. */
  get stalledMs(): number {
    const now = this.#line.now()
    return Math.max(...this.#out.map(({ waitsSince }) => (waitsSince === null ? 0 : now - waitsSince)))
  }

  /** For how long a message that the other side began has not come to its end. */
  get unfinishedMs(): number {
    const ofFrame = this.#begunAt === null ? 0 : this.#line.now() - this.#begunAt
    return Math.max(ofFrame, ...this.#in.map((each) => each?.waitingMs ?? 0))
  }

  /** The last measured round trip; null before the first. */
  get latencyMs(): number | null {
    return this.#latencyMs
  }

  /** Lets the other side send on this lane. */
  accept(channel: Channel.Channel, window: number, take: Take): void {
    const lane = Channel.all.indexOf(channel)
    const { messageBytes: limit } = Channel.LIMITS[channel]
    const granted = () => this.#flushSoon()
    const held = (more: number) => this.#hold(more)
    const inbound = new Inbound({ window, limit, take, now: this.#line.now, granted, failed: this.#failed, held })
    this.#in[lane] = inbound
    if (channel === Channel.FIRST) return
    // The other side knows of nothing yet.
    inbound.left = 0
    inbound.owed = window
    this.#flushSoon()
  }

  /** Asks for a sign of life. */
  ping(): void {
    const token = ((this.#pinged?.token ?? 0) + 1) & MOST_NUMBER
    this.#pinged = { token, at: this.#line.now() }
    this.#ping = token
    this.#flushSoon()
  }

  /** The line takes more. */
  drained(): void {
    this.#isFull = false
    this.flush()
  }

  /** Nothing more goes out. */
  end(): void {
    this.#isOver = true
    for (const out of this.#out) out.clear()
  }

  /** Takes what arrived, cut anywhere; returns how many frames it completed. Fails with a `Violation`. */
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
        if (out === undefined) throw new Violation("credit for a lane that there is not")
        out.credit += numberAt(frame)
        if (out.credit > MOST_CREDIT) throw new Violation("more credit than any reader has room for")
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

  /** Writes at once as much as the line takes, and as there is credit for. */
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

  /** Grants, and signs of life. */
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
