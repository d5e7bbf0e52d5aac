/**
 * Packs statements with their values into one buffer, which moves to another thread without a copy. Separate values
 * would be cloned one by one, and a byte string with the whole block of memory that contains it.
 */
import type { Value } from "./Connection.js"

const NULL = 0
const NUMBER = 1
const TEXT = 2
const BYTES = 3

const LEAST_BYTES = 4_096
/** A type, then a length or number. */
const HEAD_BYTES = 9
const MOST_BYTES_A_CHARACTER = 3

/** The statement's number on the other side, and how many values it takes. */
export type Step = readonly [number: number, values: number]

export class Parcel {
  #bytes = Buffer.from(new ArrayBuffer(LEAST_BYTES))
  #length = 0
  readonly #steps: Array<Step> = []

  add(number: number, values: ReadonlyArray<unknown>): void {
    this.#steps.push([number, values.length])
    for (const value of values) this.#value(value)
  }

  close(): { readonly steps: ReadonlyArray<Step>; readonly bytes: ArrayBuffer } {
    return { steps: this.#steps, bytes: this.#bytes.buffer }
  }

  #value(value: unknown): void {
    if (value === null) {
      this.#reserve(HEAD_BYTES)
      this.#bytes[this.#length++] = NULL
    } else if (typeof value === "number") {
      this.#reserve(HEAD_BYTES)
      this.#bytes[this.#length] = NUMBER
      this.#bytes.writeDoubleLE(value, this.#length + 1)
      this.#length += HEAD_BYTES
    } else if (typeof value === "string") {
      this.#reserve(HEAD_BYTES + MOST_BYTES_A_CHARACTER * value.length)
      this.#head(TEXT, this.#bytes.write(value, this.#length + 5))
    } else if (value instanceof Uint8Array) {
      this.#reserve(HEAD_BYTES + value.length)
      this.#bytes.set(value, this.#length + 5)
      this.#head(BYTES, value.length)
    } else throw new TypeError(`no column takes a ${typeof value}`)
  }

  #head(kind: number, length: number): void {
    this.#bytes[this.#length] = kind
    this.#bytes.writeUInt32LE(length, this.#length + 1)
    this.#length += 5 + length
  }

  #reserve(length: number): void {
    const needed = this.#length + length
    if (needed <= this.#bytes.length) return
    const larger = Buffer.from(new ArrayBuffer(Math.max(needed, 2 * this.#bytes.length)))
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
  }
}

/** Reads a parcel's values in order. */
export class ParcelReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: ArrayBuffer) {
    this.#bytes = Buffer.from(bytes)
  }

  next(): Value {
    const kind = this.#bytes[this.#at]
    if (kind === NULL) {
      this.#at += 1
      return null
    }
    if (kind === NUMBER) {
      const value = this.#bytes.readDoubleLE(this.#at + 1)
      this.#at += HEAD_BYTES
      return value
    }
    const from = this.#at + 5
    const end = from + this.#bytes.readUInt32LE(this.#at + 1)
    this.#at = end
    return kind === TEXT ? this.#bytes.toString("utf8", from, end) : this.#bytes.subarray(from, end)
  }
}
