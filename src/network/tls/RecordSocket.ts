/**
 * A socket that hands TLS a few records at a time, and counts a stranger's records before they are decrypted. Node
 * decrypts everything the kernel has, megabytes within one call, and a record that only changes keys takes twenty
 * microseconds without any event. Counting costs each message some microseconds, which members are spared.
 */
import type { Socket } from "node:net"
import { Duplex } from "node:stream"

/** Records decrypted between two checks: about a millisecond's worth if all change keys. */
const AT_ONCE = 64
const HEAD_BYTES = 5

class Counter {
  readonly #head = new Uint8Array(HEAD_BYTES)
  #filled = 0
  /** Bytes left of the current record. */
  #left = 0

  /** The longest prefix of these bytes in which at most `most` records begin, and how many begin there. */
  cut(bytes: Uint8Array, most: number): { readonly end: number; readonly records: number } {
    let [at, records] = [0, 0]
    while (at < bytes.length) {
      if (this.#left > 0) {
        const skipped = Math.min(this.#left, bytes.length - at)
        this.#left -= skipped
        at += skipped
        continue
      }
      if (records === most) break
      this.#head[this.#filled++] = bytes[at++] ?? 0
      if (this.#filled < HEAD_BYTES) continue
      this.#filled = 0
      this.#left = (this.#head[3] ?? 0) * 256 + (this.#head[4] ?? 0)
      records++
    }
    return { end: at, records }
  }
}

export class RecordSocket extends Duplex {
  readonly #raw: Socket
  readonly #counter = new Counter()
  #waiting: Buffer | null = null
  #seen = 0
  #isWanted = false
  #isFeeding = false
  #isHeld = false
  /** Called with the number of records so far, after each batch is decrypted. */
  counted: (records: number) => void = () => {}

  get count(): number {
    return this.#seen
  }

  constructor(raw: Socket) {
    super({ readableHighWaterMark: AT_ONCE })
    this.#raw = raw
    raw.on("data", (bytes: Buffer) => {
      raw.pause()
      this.#waiting = bytes
      this.#feed()
    })
    raw.on("end", () => this.push(null))
    raw.on("close", () => this.destroy())
    raw.on("error", (error) => this.destroy(error))
  }

  override _read(): void {
    this.#isWanted = true
    this.#feed()
  }

  /** Withholds data from TLS until released. A paused TLS socket still decrypts records without data. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld
    this.#feed()
  }

  #feed(): void {
    // `push` can call `_read` again.
    if (this.#isFeeding) return
    this.#isFeeding = true
    while (this.#isReady && this.#waiting !== null) {
      const bytes = this.#waiting
      const { end, records } = this.#counter.cut(bytes, AT_ONCE)
      this.#waiting = end === bytes.length ? null : bytes.subarray(end)
      this.#seen += records
      this.#isWanted = this.push(bytes.subarray(0, end))
      this.counted(this.#seen)
    }
    this.#isFeeding = false
    if (this.#isReady && this.#waiting === null) this.#raw.resume()
  }

  get #isReady(): boolean {
    return this.#isWanted && !this.#isHeld && !this.destroyed
  }

  override _write(bytes: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#raw.write(bytes, done)
  }

  override _final(done: () => void): void {
    this.#raw.end(done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#raw.destroy()
    done(error)
  }
}
