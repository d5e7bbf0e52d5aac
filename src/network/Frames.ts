/** Messages on a stream: each after its length in four bytes, so that a reader knows its size in advance. */

import * as Bytes from "../protocol/encoding/Bytes.js"
import { Assembly, type LengthOf } from "./Assembly.js"

/** A length that no honest node announces. */
export class FrameTooLong extends Error {
  constructor(length: number, limit: number) {
    super(`a message of ${length} bytes, at most ${limit} allowed`)
  }
}

const LENGTH_BYTES = 4

/** A message in wire form: made once, sent to many. */
export const framed = (payload: Uint8Array): Uint8Array => {
  const frame = new Uint8Array(LENGTH_BYTES + payload.length)
  new DataView(frame.buffer).setUint32(0, payload.length, true)
  frame.set(payload, LENGTH_BYTES)
  return frame
}

/** A part of a byte stream, in whatever container. */
export interface Piece {
  subarray(): Uint8Array
}

const lengthWithin =
  (limit: number): LengthOf =>
  (start) => {
    if (start.length < LENGTH_BYTES) return undefined
    const length = new DataView(start.buffer, start.byteOffset, LENGTH_BYTES).getUint32(0, true)
    if (length > limit) throw new FrameTooLong(length, limit)
    return LENGTH_BYTES + length
  }

const nobody = (): void => {}

/** The incoming side of a stream. Records since when a message has been incomplete. */
export class Incoming {
  readonly #source: AsyncIterable<Piece>
  readonly #assembly: Assembly
  readonly #now: () => number
  readonly #held: (more: number) => void
  #begunAt: number | null = null

  /** `held`: told of every change of the memory of an incomplete message. */
  constructor(source: AsyncIterable<Piece>, limit: number, now: () => number, held: (more: number) => void = nobody) {
    this.#source = source
    this.#assembly = new Assembly(lengthWithin(limit))
    this.#now = now
    this.#held = held
  }

  /** How long the other side has let this node wait for the rest of a message. */
  get waitingMs(): number {
    return this.#begunAt === null ? 0 : this.#now() - this.#begunAt
  }

  /** The messages, each in a buffer of its own. Fails with `FrameTooLong` before reading a message that is too long. */
  async *messages(): AsyncGenerator<Uint8Array, undefined> {
    let told = 0
    const tell = (bytes: number): void => {
      this.#held(bytes - told)
      told = bytes
    }
    try {
      for await (const piece of this.#source) {
        this.#assembly.add(piece.subarray())
        for (let frame = this.#assembly.next(); frame !== undefined; frame = this.#assembly.next()) {
          // A slow reader here is not the other side's fault.
          this.#begunAt = null
          tell(0)
          yield frame.slice(LENGTH_BYTES)
        }
        this.#begunAt = this.#assembly.isWaiting ? (this.#begunAt ?? this.#now()) : null
        tell(this.#assembly.heldBytes)
      }
    } finally {
      this.#begunAt = null
      tell(0)
    }
    return undefined
  }
}

/** For streams whose time is limited elsewhere: `waitingMs` is not used. */
export const untimed = (): number => 0

/** The messages of a stream whose time is limited elsewhere. */
export const read = (source: AsyncIterable<Piece>, limit: number): AsyncGenerator<Uint8Array, undefined> =>
  new Incoming(source, limit, untimed).messages()

/** Short messages go out together, in pieces of up to this size: each piece costs both ends a frame and a record. */
export const GATHERED_BYTES = 65_507

/** The outgoing queue of a stream, up to a limit: a peer that does not read must not fill this node's memory. */
export class Outgoing {
  readonly #limit: number
  readonly #now: () => number
  readonly #held: (more: number) => void
  #frames: Array<Uint8Array> = []
  #wake: () => void = () => {}
  #isEnded = false
  #bytes = 0
  /** Since when the reader has taken nothing although data waits. */
  #waitsSince: number | null = null

  /** `held`: told of every change of `bytes`. */
  constructor(limit: number, now: () => number, held: (more: number) => void = nobody) {
    this.#limit = limit
    this.#now = now
    this.#held = held
  }

  /** False if there is no room: the frame is lost, as on a broken line. */
  push(frame: Uint8Array): boolean {
    if (this.#isEnded || (this.#frames.length > 0 && this.#bytes + frame.length > this.#limit)) return false
    this.#frames.push(frame)
    this.#bytes += frame.length
    this.#held(frame.length)
    this.#waitsSince ??= this.#now()
    this.#wake()
    return true
  }

  end(): void {
    this.#isEnded = true
    this.#wake()
  }

  /** Nobody reads any more: what waits is lost. */
  discard(): void {
    this.end()
    this.#frames = []
    this.#held(-this.#bytes)
    this.#bytes = 0
  }

  get bytes(): number {
    return this.#bytes
  }

  get waitingMs(): number {
    return this.#waitsSince === null ? 0 : this.#now() - this.#waitsSince
  }

  /** As many of the first frames as one piece holds; a longer frame is a piece of its own. */
  #takePiece(): Uint8Array | undefined {
    const [first] = this.#frames
    if (first === undefined) return undefined
    let [count, bytes] = [1, first.length]
    for (let next = this.#frames[1]; next !== undefined && bytes + next.length <= GATHERED_BYTES; ) {
      bytes += next.length
      next = this.#frames[++count]
    }
    const taken = this.#frames.splice(0, count)
    this.#bytes -= bytes
    this.#held(-bytes)
    return count === 1 ? first : Bytes.joined(taken, bytes)
  }

  /** Everything that was pushed, in order, in pieces. For one reader. */
  async *pieces(): AsyncGenerator<Uint8Array, undefined> {
    for (;;) {
      const piece = this.#takePiece()
      if (piece !== undefined) {
        this.#waitsSince = this.#frames.length > 0 ? this.#now() : null
        yield piece
      } else if (this.#isEnded) return undefined
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
    }
  }
}
