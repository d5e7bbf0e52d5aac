/** Messages on a stream: each behind its length in four bytes, so that a reader knows what it is in for. */

/** A length that no honest node announces. */
export class FrameTooLong extends Error {
  constructor(length: number, limit: number) {
    super(`a message of ${length} bytes, at most ${limit} allowed`)
  }
}

const LENGTH_BYTES = 4

/** A message as it goes out: made once, sent to many. */
export const framed = (payload: Uint8Array): Uint8Array => {
  const frame = new Uint8Array(LENGTH_BYTES + payload.length)
  new DataView(frame.buffer).setUint32(0, payload.length, true)
  frame.set(payload, LENGTH_BYTES)
  return frame
}

/** Something that comes in pieces, whatever holds them. */
interface Piece {
  subarray(): Uint8Array
}

/** What has come and was not taken yet. It grows with what really came, never with what was announced. */
class Buffered {
  #pieces: Array<Uint8Array> = []
  length = 0

  add(piece: Uint8Array): void {
    this.#pieces.push(piece)
    this.length += piece.length
  }

  take(count: number): Uint8Array {
    const taken = new Uint8Array(count)
    let at = 0
    while (at < count) {
      const [first] = this.#pieces
      if (first === undefined) throw new RangeError(`${count} bytes asked for, ${at} there`)
      const part = first.subarray(0, count - at)
      taken.set(part, at)
      at += part.length
      if (part.length === first.length) this.#pieces.shift()
      else this.#pieces[0] = first.subarray(part.length)
    }
    this.length -= count
    return taken
  }
}

/** The messages of a stream, each in a buffer of its own. Fails with `FrameTooLong`, before reading what is too long. */
export async function* read(source: AsyncIterable<Piece>, limit: number): AsyncGenerator<Uint8Array, undefined> {
  const buffered = new Buffered()
  let awaited: number | undefined
  for await (const piece of source) {
    buffered.add(piece.subarray())
    for (;;) {
      if (awaited === undefined) {
        if (buffered.length < LENGTH_BYTES) break
        awaited = new DataView(buffered.take(LENGTH_BYTES).buffer).getUint32(0, true)
        if (awaited > limit) throw new FrameTooLong(awaited, limit)
      }
      if (buffered.length < awaited) break
      const length = awaited
      awaited = undefined
      yield buffered.take(length)
    }
  }
  return undefined
}

/** What waits to be sent on one stream, up to a limit: whoever does not read must not fill this node's memory. */
export class Outgoing {
  readonly #limit: number
  readonly #now: () => number
  #frames: Array<Uint8Array> = []
  #wake: () => void = () => {}
  #isEnded = false
  #bytes = 0
  /** Since when the reader has taken nothing although something waits. */
  #waitsSince: number | null = null

  constructor(limit: number, now: () => number) {
    this.#limit = limit
    this.#now = now
  }

  /** False when there is no room: it is lost, as it would be on a broken line. */
  push(frame: Uint8Array): boolean {
    if (this.#isEnded || (this.#frames.length > 0 && this.#bytes + frame.length > this.#limit)) return false
    this.#frames.push(frame)
    this.#bytes += frame.length
    this.#waitsSince ??= this.#now()
    this.#wake()
    return true
  }

  end(): void {
    this.#isEnded = true
    this.#wake()
  }

  get bytes(): number {
    return this.#bytes
  }

  get waitingMs(): number {
    return this.#waitsSince === null ? 0 : this.#now() - this.#waitsSince
  }

  /** For one reader. */
  async *frames(): AsyncGenerator<Uint8Array, undefined> {
    for (;;) {
      const frame = this.#frames.shift()
      if (frame !== undefined) {
        this.#bytes -= frame.length
        this.#waitsSince = this.#frames.length > 0 ? this.#now() : null
        yield frame
      } else if (this.#isEnded) return undefined
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
    }
  }
}
