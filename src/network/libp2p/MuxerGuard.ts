/**
 * Guards the multiplexer (Yamux) from the decrypted bytes of a connection: by itself it accepts frames of any size at
 * any rate, keeps unread data without a limit, and reads data that belongs to no stream to its end.
 */
import { setTimeout as sleep } from "node:timers/promises"
import type { Stream, StreamMuxer, StreamMuxerFactory } from "@libp2p/interface"
import { Assembly } from "../Assembly.js"
import type { Piece } from "../Frames.js"
import type { Meter } from "../peers/Meter.js"
import type { Outflow } from "../peers/Traffic.js"

/** Something that no honest node sends. */
export class Violation extends Error {}

export const HEAD_BYTES = 12
/** The longest that the library sends; it would accept four gigabytes. */
export const MAX_FRAME_BYTES = 65_536
const TYPE_AT = 1
const FLAGS_AT = 2
const STREAM_AT = 4
const LENGTH_AT = 8
const DATA = 0
const LAST_TYPE = 3
const SYN = 1
const WINDOW_UPDATE = 1
/** A quarter of the smallest window, so that held-back grants never leave the other side without room. */
const LEAST_GRANT_BYTES = 65_536
/** Streams with held-back grants before closed ones are forgotten; more than are open at a time. */
const MOST_HELD = 64

/** To negotiate a stream, hand it over and forget it. */
const PIECES_PER_STREAM = 50
/** Unread bytes of all streams. A hundred strangers have a window each. */
const UNREAD_BYTES = { member: 4_194_304, named: 4_194_304, stranger: 524_288 } as const
/** Unread frames: each takes half a kilobyte, whatever its content. */
const UNREAD_FRAMES = 4_096
const LOOK_MS = 20
/** No honest node proposes longer protocol names, or more of them. */
const NEGOTIATION_BYTES = 512
const NEGOTIATION_LINES = 8
const NEWLINE = 10
/** A frame with this much content deserves a receipt; an answer to the multiplexer's questions does not. */
const CONTENT_BYTES = HEAD_BYTES + 64

/** Fails for a head that no honest node's frame has. */
export const frameLength = (start: Uint8Array): number | undefined => {
  if (start.length < HEAD_BYTES) return undefined
  const type = start[TYPE_AT] ?? 0
  if (start[0] !== 0 || type > LAST_TYPE) throw new Violation("a frame of no known kind")
  if (type !== DATA) return HEAD_BYTES
  const length = new DataView(start.buffer, start.byteOffset).getUint32(LENGTH_AT)
  // An empty frame would wait to be read without counting towards the waiting bytes.
  if (length === 0 || length > MAX_FRAME_BYTES) throw new Violation(`a frame with ${length} bytes`)
  return HEAD_BYTES + length
}

const unreadBytes = (stream: Stream): number =>
  "sourceReadableLength" in stream && typeof stream.sourceReadableLength === "function"
    ? Number(stream.sourceReadableLength())
    : 0

const unsentBytes = (source: StreamMuxer["source"]): number =>
  "readableLength" in source && typeof source.readableLength === "number" ? source.readableLength : 0

/** Frames that wait in the streams of a connection. */
class Unread {
  readonly #muxer: StreamMuxer
  readonly #standing: Meter["standing"]
  readonly #frames = new Map<string, number>()
  /** Upper bounds. Checking every stream at every frame would cost more than the frame. */
  #framesAtMost = 0
  #bytesAtMost = 0

  constructor(muxer: StreamMuxer, standing: Meter["standing"]) {
    this.#muxer = muxer
    this.#standing = standing
  }

  add(frame: Uint8Array): void {
    const stream = String(new DataView(frame.buffer, frame.byteOffset).getUint32(STREAM_AT))
    this.#frames.set(stream, (this.#frames.get(stream) ?? 0) + 1)
    this.#framesAtMost++
    this.#bytesAtMost += frame.length
  }

  /** Whether so much is unread that nothing more may be read. Exact once earlier reads have been handed over. */
  get isFull(): boolean {
    if (!this.#mayBeFull) return false
    this.#look()
    return this.#mayBeFull
  }

  get #mayBeFull(): boolean {
    return this.#bytesAtMost > UNREAD_BYTES[this.#standing()] || this.#framesAtMost >= UNREAD_FRAMES
  }

  #look(): void {
    const waiting = new Map(this.#muxer.streams.map((stream) => [stream.id, unreadBytes(stream)]))
    this.#bytesAtMost = 0
    for (const each of waiting.values()) this.#bytesAtMost += each
    this.#forgetRead(waiting)
  }

  #forgetRead(waiting: ReadonlyMap<string, number>): void {
    this.#framesAtMost = 0
    for (const [stream, count] of this.#frames) {
      if ((waiting.get(stream) ?? 0) === 0) this.#frames.delete(stream)
      else this.#framesAtMost += count
    }
  }
}

/** Whole frames, at the rate of the meter. */
async function* frames(
  source: AsyncIterable<Piece>,
  { meter, violated, failed }: Guarding,
  unread: Unread,
  outgoing: Outgoing,
): AsyncGenerator<Uint8Array> {
  const assembly = new Assembly(frameLength)
  for await (const piece of source) {
    // The line's own errors are not caught here.
    try {
      const bytes = piece.subarray()
      const pause = meter.charge(1, bytes.length)
      if (pause !== undefined) await pause
      assembly.add(bytes)
      for (let frame = assembly.next(); frame !== undefined; frame = assembly.next()) {
        while (unread.isFull && !outgoing.isOver) await sleep(LOOK_MS, undefined, { ref: false })
        const pause = meter.charge(opensStream(frame) ? PIECES_PER_STREAM : 1, 0)
        if (pause !== undefined) await pause
        if (frame[TYPE_AT] === DATA) unread.add(frame)
        yield frame
      }
    } catch (error) {
      if (error instanceof Violation) violated(error)
      else failed(error)
      throw error
    }
  }
}

const opensStream = (frame: Uint8Array): boolean => ((frame[FLAGS_AT + 1] ?? 0) & SYN) !== 0

/** Limits the negotiation of a stream's protocol, which would answer any number of lines. */
async function* negotiating(
  stream: Stream,
  source: Stream["source"],
  violated: Guarding["violated"],
): Stream["source"] {
  let [bytes, lines] = [0, 0]
  for await (const piece of source) {
    if (stream.protocol === undefined) {
      const text = piece.subarray()
      bytes += text.length
      for (const byte of text.subarray(0, NEGOTIATION_BYTES)) if (byte === NEWLINE) lines++
      if (bytes > NEGOTIATION_BYTES || lines > NEGOTIATION_LINES) {
        const violation = new Violation("a stream that does not come to its protocol")
        violated(violation)
        throw violation
      }
    }
    yield piece
  }
}

export interface Guarding {
  readonly meter: Meter
  readonly opened: (outflow: Outflow) => void
  /** The connection must be cut. */
  readonly violated: (violation: Violation) => void
  /** A bug has ended the connection. */
  readonly failed: (error: unknown) => void
}

/**
 * Gathers window grants: the library sends one for each piece it reads, and gets pieces as small as these in return.
 */
export class Grants {
  readonly #held = new Map<string, number>()

  /** The frame to send instead; null if the grant can wait, since the other side has enough room. */
  gathered(frame: Uint8Array): Uint8Array | null {
    const view = new DataView(frame.buffer, frame.byteOffset)
    if (frame.length !== HEAD_BYTES || frame[TYPE_AT] !== WINDOW_UPDATE || view.getUint16(FLAGS_AT) !== 0) return frame
    const stream = String(view.getUint32(STREAM_AT))
    const granted = view.getUint32(LENGTH_AT) + (this.#held.get(stream) ?? 0)
    if (granted < LEAST_GRANT_BYTES) {
      this.#held.set(stream, granted)
      return null
    }
    this.#held.delete(stream)
    const gathered = frame.slice()
    new DataView(gathered.buffer).setUint32(LENGTH_AT, granted)
    return gathered
  }

  /** Forgets closed streams, once in a while. */
  keepOnly(streams: () => ReadonlyArray<Pick<Stream, "id">>): void {
    if (this.#held.size <= MOST_HELD) return
    const open = new Set(streams().map(({ id }) => id))
    for (const stream of this.#held.keys()) if (!open.has(stream)) this.#held.delete(stream)
  }
}

class Outgoing implements Outflow {
  readonly #source: StreamMuxer["source"]
  readonly #streams: () => ReadonlyArray<Pick<Stream, "id">>
  readonly #grants = new Grants()
  written = 0
  /** The connection is closed. */
  isOver = false

  constructor({ source }: StreamMuxer, streams: () => ReadonlyArray<Pick<Stream, "id">>) {
    this.#source = source
    this.#streams = streams
  }

  get unsentBytes(): number {
    return unsentBytes(this.#source)
  }

  async *frames(meter: Meter): StreamMuxer["source"] {
    try {
      for await (const frame of this.#source) {
        this.written++
        if (frame.byteLength >= CONTENT_BYTES) meter.sentFrame()
        const gathered = frame.byteLength === HEAD_BYTES ? this.#grants.gathered(frame.subarray()) : frame
        this.#grants.keepOnly(this.#streams)
        if (gathered !== null) yield gathered
      }
    } finally {
      this.isOver = true
    }
  }
}

/** Multiplexers for one connection with this guard in front. */
export const guarded = (factory: StreamMuxerFactory, guarding: Guarding): StreamMuxerFactory => ({
  protocol: factory.protocol,
  createStreamMuxer: (init = {}) => {
    const muxer = factory.createStreamMuxer({
      ...init,
      onIncomingStream: (stream) => {
        stream.source = negotiating(stream, stream.source, guarding.violated)
        init.onIncomingStream?.(stream)
      },
    })
    const outgoing = new Outgoing(muxer, () => muxer.streams)
    const unread = new Unread(muxer, guarding.meter.standing)
    guarding.opened(outgoing)
    return {
      protocol: muxer.protocol,
      source: outgoing.frames(guarding.meter),
      sink: (source) => muxer.sink(frames(source as AsyncIterable<Piece>, guarding, unread, outgoing)),
      get streams() {
        return muxer.streams
      },
      newStream: (name) => muxer.newStream(name),
      close: (options) => muxer.close(options),
      abort: (error) => muxer.abort(error),
    }
  },
})
