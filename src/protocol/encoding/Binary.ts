/**
 * The only wire codec. Integers are little-endian, amounts and counters take eight bytes, hashes and keys are raw,
 * texts and lists have a length prefix. Every decoder built on `decode` accepts exactly the byte strings that its
 * encoder makes: truncated, trailing, over-limit or non-canonical input is a `MalformedBytes`, never an exception or an
 * allocation larger than the input itself.
 */

import { Data, Either } from "effect"
import { toHex } from "#crypto"
import * as HexDigits from "../crypto/HexDigits.js"
import * as Element from "../numbers/Element.js"
import * as Natural from "../numbers/Natural.js"
import * as Sats from "../numbers/Sats.js"
import * as Slab from "./Slab.js"

export class MalformedBytes extends Data.TaggedError("MalformedBytes")<{
  readonly what: string
  readonly offset: number
  readonly reason: string
}> {
  override get message(): string {
    return `${this.what}: ${this.reason} at byte ${this.offset}`
  }
}

const utf8Encoder = new TextEncoder()
// `ignoreBOM` keeps a leading byte-order mark in the text, so that encoding restores the same bytes.
const utf8Decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

export const utf8 = (text: string): Uint8Array => utf8Encoder.encode(text)

const NO_BYTES = new Uint8Array(0)

const wellFormedUtf8 = (text: string): Uint8Array => {
  if (text === "") return NO_BYTES
  if (!text.isWellFormed()) throw new RangeError("a lone surrogate cannot be encoded in UTF-8")
  return utf8(text)
}

/** The number of bytes of a text in UTF-8; undefined for a text with a lone surrogate, which UTF-8 cannot encode. */
export const utf8Length = (text: string): number | undefined => (text.isWellFormed() ? utf8(text).length : undefined)

const INITIAL_CAPACITY = 512
const SPARE_CAPACITY = 65_536
const TWO_TO_32 = 0x1_0000_0000

const requireUnsigned = (value: number, limit: number): void => {
  if (!Number.isInteger(value) || value < 0 || value > limit) {
    throw new RangeError(`not an unsigned integer up to ${limit}: ${value}`)
  }
}

/**
 * Appends encodings to one growing buffer. Throws on a number, text or list too large for its field, which is a bug.
 */
export class Writer {
  #bytes: Uint8Array
  #view: DataView
  #length = 0

  constructor(capacity: number = INITIAL_CAPACITY) {
    this.#bytes = new Uint8Array(capacity)
    this.#view = new DataView(this.#bytes.buffer)
  }

  get length(): number {
    return this.#length
  }

  get capacity(): number {
    return this.#bytes.length
  }

  /** Makes room for `count` bytes. May replace the buffer, so call it before using the buffer. */
  #reserve(count: number): number {
    const offset = this.#length
    const needed = offset + count
    if (needed > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2))
      grown.set(this.#bytes.subarray(0, offset))
      this.#bytes = grown
      this.#view = new DataView(grown.buffer)
    }
    this.#length = needed
    return offset
  }

  u8(value: number): this {
    requireUnsigned(value, 0xff)
    const offset = this.#reserve(1)
    this.#view.setUint8(offset, value)
    return this
  }

  u16(value: number): this {
    requireUnsigned(value, 0xffff)
    const offset = this.#reserve(2)
    this.#view.setUint16(offset, value, true)
    return this
  }

  u32(value: number): this {
    requireUnsigned(value, 0xffff_ffff)
    const offset = this.#reserve(4)
    this.#view.setUint32(offset, value, true)
    return this
  }

  u64(value: number): this {
    requireUnsigned(value, Number.MAX_SAFE_INTEGER)
    const offset = this.#reserve(8)
    const low = value >>> 0
    this.#view.setUint32(offset, low, true)
    // Exact: a multiple of 2^32 times a power of two.
    this.#view.setUint32(offset + 4, (value - low) * 2 ** -32, true)
    return this
  }

  u128(value: bigint): this {
    if (BigInt.asUintN(128, value) !== value) throw new RangeError(`not an unsigned integer of 128 bits: ${value}`)
    const offset = this.#reserve(16)
    this.#view.setBigUint64(offset, BigInt.asUintN(64, value), true)
    this.#view.setBigUint64(offset + 8, value >> 64n, true)
    return this
  }

  boolean(value: boolean): this {
    return this.u8(value ? 1 : 0)
  }

  raw(bytes: Uint8Array): this {
    const offset = this.#reserve(bytes.length)
    this.#bytes.set(bytes, offset)
    return this
  }

  /** Writes the bytes that `hex` encodes straight into the buffer, because most encoded data is keys and hashes. */
  hex(hex: string): this {
    const offset = this.#reserve(hex.length >>> 1)
    HexDigits.write(this.#bytes, offset, hex)
    return this
  }

  text8(text: string): this {
    const bytes = wellFormedUtf8(text)
    return this.u8(bytes.length).raw(bytes)
  }

  text16(text: string): this {
    const bytes = wellFormedUtf8(text)
    return this.u16(bytes.length).raw(bytes)
  }

  list8<A>(items: ReadonlyArray<A>, write: (item: A) => void): this {
    this.u8(items.length)
    for (const item of items) write(item)
    return this
  }

  list16<A>(items: ReadonlyArray<A>, write: (item: A) => void): this {
    this.u16(items.length)
    for (const item of items) write(item)
    return this
  }

  list32<A>(items: ReadonlyArray<A>, write: (item: A) => void): this {
    this.u32(items.length)
    for (const item of items) write(item)
    return this
  }

  /** The written bytes, without a copy, for encodings of megabytes. The writer must not be used again. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  /** Returns a copy of the written bytes and empties the writer. */
  finish(): Uint8Array {
    const bytes = Slab.allot(this.#length)
    bytes.set(this.written)
    this.#length = 0
    return bytes
  }
}

/**
 * Writers kept for the next `encode`, because a new buffer costs more than writing a transaction into it. A nested
 * encoding takes another one; an encoding that throws does not return its writer.
 */
const spares: Array<Writer> = []

export const encode = (write: (writer: Writer) => void): Uint8Array => {
  const writer = spares.pop() ?? new Writer()
  write(writer)
  const bytes = writer.finish()
  if (writer.capacity <= SPARE_CAPACITY) spares.push(writer)
  return bytes
}

/**
 * Reads encodings from a byte string. The first failure sticks, and every later read returns a zero of its kind, so a
 * decoder needs no branch per field. `decode` reports the failure at the end.
 */
export class Reader {
  readonly #bytes: Uint8Array
  #offset = 0
  #failure: { readonly offset: number; readonly reason: string } | undefined

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get offset(): number {
    return this.#offset
  }

  get remaining(): number {
    return this.#bytes.length - this.#offset
  }

  get failure(): { readonly offset: number; readonly reason: string } | undefined {
    return this.#failure
  }

  /** Records why the input is refused, unless an earlier failure is recorded. */
  fail(reason: string): void {
    this.#failure ??= { offset: this.#offset, reason }
  }

  require(holds: boolean, reason: string): void {
    if (!holds) this.fail(reason)
  }

  /** Fails unless exactly these bytes come next, such as the domain of a signature. */
  literal(expected: Uint8Array): void {
    const found = this.raw(expected.length)
    this.require(
      found.length === expected.length && expected.every((byte, i) => byte === found[i]),
      "unexpected first bytes",
    )
  }

  /** Skips `count` bytes and returns their offset, or −1 if there are too few. */
  #take(count: number): number {
    if (this.#failure !== undefined) return -1
    if (this.remaining < count) {
      this.fail(`expected ${count} bytes, ${this.remaining} left`)
      return -1
    }
    const offset = this.#offset
    this.#offset += count
    return offset
  }

  // Byte by byte, because a view per reader would cost more than most reads.
  #byte(offset: number): number {
    return Element.byte(this.#bytes, offset)
  }

  #word(offset: number): number {
    const high = (this.#byte(offset + 3) << 24) | (this.#byte(offset + 2) << 16)
    return (high | (this.#byte(offset + 1) << 8) | this.#byte(offset)) >>> 0
  }

  u8(): number {
    const offset = this.#take(1)
    return offset < 0 ? 0 : this.#byte(offset)
  }

  u16(): number {
    const offset = this.#take(2)
    return offset < 0 ? 0 : this.#byte(offset) | (this.#byte(offset + 1) << 8)
  }

  u32(): number {
    const offset = this.#take(4)
    return offset < 0 ? 0 : this.#word(offset)
  }

  u64(): number {
    const offset = this.#take(8)
    if (offset < 0) return 0
    const value = this.#word(offset) + this.#word(offset + 4) * TWO_TO_32
    if (Number.isSafeInteger(value)) return value
    this.fail("integer above 2^53 - 1")
    return 0
  }

  u128(): bigint {
    const offset = this.#take(16)
    if (offset < 0) return 0n
    const words = [12, 8, 4, 0].map((at) => BigInt(this.#word(offset + at)))
    return words.reduce((value, word) => (value << 32n) | word, 0n)
  }

  sats(): Sats.Sats {
    const value = this.u64()
    if (Sats.isSats(value)) return value
    this.fail(`amount above the maximum supply of ${Sats.MAX_SUPPLY}`)
    return Sats.ZERO
  }

  time(): Natural.Timestamp {
    const value = this.u64()
    if (Natural.isTimestamp(value)) return value
    this.fail("time after the year 9999")
    return Natural.timestamp(0)
  }

  boolean(): boolean {
    const value = this.u8()
    this.require(value <= 1, `boolean byte ${value}`)
    return value === 1
  }

  /** Returns a view, not a copy. */
  raw(count: number): Uint8Array {
    const offset = this.#take(count)
    return offset < 0 ? NO_BYTES : this.#bytes.subarray(offset, offset + count)
  }

  hex(count: number): string {
    const offset = this.#take(count)
    return offset < 0 ? "" : toHex(this.#bytes.subarray(offset, offset + count))
  }

  #text(length: number, limit: number): string {
    if (length > limit) {
      this.fail(`text of ${length} bytes, at most ${limit} allowed`)
      return ""
    }
    const bytes = this.raw(length)
    try {
      return utf8Decoder.decode(bytes)
    } catch {
      this.fail("text that is not UTF-8")
      return ""
    }
  }

  text8(limit: number): string {
    return this.#text(this.u8(), limit)
  }

  text16(limit: number): string {
    return this.#text(this.u16(), limit)
  }

  /** Reads a list whose count has already been read. */
  list<A>(count: number, limit: number, read: () => A): ReadonlyArray<A> {
    const items: Array<A> = []
    if (count > limit) this.fail(`list of ${count}, at most ${limit} allowed`)
    // A failure ends the loop, so a forged count costs no more than the bytes that came with it.
    for (let i = 0; i < count && this.#failure === undefined; i++) items.push(read())
    return items
  }

  list8<A>(limit: number, read: () => A): ReadonlyArray<A> {
    return this.list(this.u8(), limit, read)
  }

  list16<A>(limit: number, read: () => A): ReadonlyArray<A> {
    return this.list(this.u16(), limit, read)
  }

  list32<A>(limit: number, read: () => A): ReadonlyArray<A> {
    return this.list(this.u32(), limit, read)
  }

  /** The bytes read since `start`, as a view. */
  since(start: number): Uint8Array {
    return this.#bytes.subarray(start, this.#offset)
  }
}

/** Decodes exactly these bytes, with nothing left over. */
export const decode = <A>(
  what: string,
  bytes: Uint8Array,
  read: (reader: Reader) => A,
): Either.Either<A, MalformedBytes> => {
  const reader = new Reader(bytes)
  const value = read(reader)
  if (reader.remaining > 0) reader.fail(`${reader.remaining} trailing bytes`)
  return reader.failure === undefined
    ? Either.right(value)
    : Either.left(new MalformedBytes({ what, ...reader.failure }))
}

/** Both directions of one encoding. */
export const codec = <A>(what: string, write: (writer: Writer, value: A) => void, read: (reader: Reader) => A) => ({
  encode: (value: A): Uint8Array => encode((writer) => write(writer, value)),
  decode: (bytes: Uint8Array): Either.Either<A, MalformedBytes> => decode(what, bytes, read),
})

/** Whether `key` ascends strictly along the list: the only order in which a set is encoded. */
export const isStrictlyAscending = <A>(items: ReadonlyArray<A>, key: (item: A) => string): boolean =>
  items.every((item, i) => {
    const before = items[i - 1]
    return before === undefined || key(before) < key(item)
  })
