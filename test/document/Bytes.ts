/** The encodings of docs/protocol.md: a strict reader, and a writer. */
import { createHash } from "node:crypto"

/** Input that the document rejects, with its category. `field` is the place in JSON. */
export class Refused extends Error {
  readonly reason: string
  readonly field: string

  constructor(reason: string, field = "") {
    super(`${field}: ${reason}`)
    this.reason = reason
    this.field = field
  }
}

export const MAX_SAFE = 2n ** 53n - 1n
/** The last millisecond of the year 9999. */
export const LATEST = 253_402_300_799_999
export const MAX_SUPPLY = 2_100_000_000_000_000

export const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")
export const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "hex"))
export const ascii = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "latin1"))
export const join = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => Uint8Array.from(Buffer.concat(parts))

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

/** H(tag, bytes), in hexadecimal. */
export const H = (tag: string, ...parts: ReadonlyArray<Uint8Array>): string =>
  createHash("sha256")
    .update(tag)
    .update(Uint8Array.of(0))
    .update(join(...parts))
    .digest("hex")

export class Reader {
  readonly #bytes: Uint8Array
  offset = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get remaining(): number {
    return this.#bytes.length - this.offset
  }

  raw(length: number): Uint8Array {
    if (this.remaining < length) throw new Refused("truncated")
    this.offset += length
    return this.#bytes.slice(this.offset - length, this.offset)
  }

  /** The bytes read since this position. */
  since(start: number): Uint8Array {
    return this.#bytes.slice(start, this.offset)
  }

  hex(length: number): string {
    return hex(this.raw(length))
  }

  #integer(length: number): bigint {
    return this.raw(length).reduceRight((value, byte) => value * 256n + BigInt(byte), 0n)
  }

  u8 = (): number => Number(this.#integer(1))
  u16 = (): number => Number(this.#integer(2))
  u32 = (): number => Number(this.#integer(4))
  u128 = (): bigint => this.#integer(16)

  u64 = (): number => {
    const value = this.#integer(8)
    if (value > MAX_SAFE) throw new Refused("range")
    return Number(value)
  }

  time = (): number => this.atMost(this.u64(), LATEST)
  amount = (): number => this.atMost(this.u64(), MAX_SUPPLY)
  bool = (): boolean => this.atMost(this.u8(), 1) === 1
  hash = (): string => this.hex(32)
  key = (): string => this.hex(32)
  address = (): string => this.hex(20)
  signature = (): string => this.hex(64)

  atMost(value: number, most: number): number {
    if (value > most) throw new Refused("range")
    return value
  }

  #count(count: number, most: number): number {
    if (count > most) throw new Refused("limit")
    return count
  }

  #text(length: number, most: number): string {
    const raw = this.raw(this.#count(length, most))
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(raw)
    } catch {
      throw new Refused("text")
    }
  }

  text8 = (most: number): string => this.#text(this.u8(), most)
  text16 = (most: number): string => this.#text(this.u16(), most)

  #list<A>(count: number, most: number, item: () => A): ReadonlyArray<A> {
    return Array.from({ length: this.#count(count, most) }, item)
  }

  list8 = <A>(most: number, item: () => A): ReadonlyArray<A> => this.#list(this.u8(), most, item)
  list16 = <A>(most: number, item: () => A): ReadonlyArray<A> => this.#list(this.u16(), most, item)
  list32 = <A>(most: number, item: () => A): ReadonlyArray<A> => this.#list(this.u32(), most, item)
}

/** Fails if bytes are left over. */
export const whole = <A>(bytes: Uint8Array, read: (reader: Reader) => A): A => {
  const reader = new Reader(bytes)
  const value = read(reader)
  if (reader.remaining > 0) throw new Refused("trailing")
  return value
}

const integer = (value: number | bigint, length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, i) => Number((BigInt(value) >> BigInt(8 * i)) & 255n))

export const u8 = (value: number): Uint8Array => integer(value, 1)
export const u16 = (value: number): Uint8Array => integer(value, 2)
export const u32 = (value: number): Uint8Array => integer(value, 4)
export const u64 = (value: number): Uint8Array => integer(value, 8)
export const u128 = (value: bigint): Uint8Array => integer(value, 16)
export const bool = (value: boolean): Uint8Array => u8(value ? 1 : 0)
/** A number in a key of the state. */
export const big = (value: number): Uint8Array => u64(value).reverse()

export const utf8 = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "utf8"))
export const text8 = (text: string): Uint8Array => join(u8(utf8(text).length), utf8(text))
export const text16 = (text: string): Uint8Array => join(u16(utf8(text).length), utf8(text))
export const list8 = <A>(items: ReadonlyArray<A>, item: (item: A) => Uint8Array): Uint8Array =>
  join(u8(items.length), ...items.map(item))
export const list32 = <A>(items: ReadonlyArray<A>, item: (item: A) => Uint8Array): Uint8Array =>
  join(u32(items.length), ...items.map(item))

/** Each must be greater than the one before. */
export const requireAscending = (items: ReadonlyArray<string | number>): void => {
  for (const [i, item] of items.entries()) {
    const before = items[i - 1]
    if (before !== undefined && !(before < item)) throw new Refused("rule")
  }
}
