/**
 * A socket whose bytes are handed to TLS a few records at a time. Node decrypts whatever the kernel has, megabytes within one
 * call, and a record that only changes keys takes twenty microseconds and shows nowhere. So a stranger's records are counted
 * before they are decrypted. It costs each message some microseconds, which members are spared.
 */
import type { Socket } from "node:net"
import { Duplex } from "node:stream"

/** Records that are decrypted without a look at what they were: about a millisecond of those that change keys. */
const AT_ONCE = 64
const HEAD_BYTES = 5

/** Counts the records in bytes that are cut anywhere. */
class Counter {
  readonly #head = new Uint8Array(HEAD_BYTES)
  #filled = 0
  /** Of the record that has begun. */
  #left = 0

  /** How many of these bytes have at most so many beginnings of records, and how many those are. */
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
  /** Told how many records there were so far, after the last few of them were decrypted. */
  counted: (records: number) => void = () => {}

  /** How many have begun so far. */
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

  /** Gives TLS nothing more until it is released. A socket that is paused still decrypts what brings no data. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld
    this.#feed()
  }

  #feed(): void {
    // To push is to be asked for more.
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
