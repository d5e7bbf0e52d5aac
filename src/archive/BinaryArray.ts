/**
 * One column's values as an array in PostgreSQL's binary format. The driver would send a list as text: printing and
 * parsing every number and byte costs either side more than anything else it does with a row.
 */
import * as HexDigits from "../protocol/crypto/HexDigits.js"

/**
 * Number of dimensions, null flag, element type, number of elements, index of the first. PostgreSQL detects nulls
 * itself, so the flag is always 0.
 */
const HEAD_BYTES = 20
const LEAST_BYTES = 1_024
/** In place of a length. */
const NULL = -1
const MOST_BYTES_A_CHARACTER = 3
const TWO_TO_32 = 2 ** 32

export class BinaryArray {
  #bytes = Buffer.allocUnsafe(LEAST_BYTES)
  #end = HEAD_BYTES
  #size = 0

  null(): void {
    this.#element(NULL)
  }

  boolean(value: boolean): void {
    const at = this.#element(1)
    this.#bytes[at] = value ? 1 : 0
  }

  int2(value: number): void {
    const at = this.#element(2)
    this.#bytes.writeInt16BE(value, at)
  }

  int4(value: number): void {
    const at = this.#element(4)
    this.#bytes.writeInt32BE(value, at)
  }

  int8(value: number): void {
    if (!Number.isSafeInteger(value)) throw new RangeError(`expected an integer, got ${value}`)
    const at = this.#element(8)
    this.#bytes.writeInt32BE(Math.floor(value / TWO_TO_32), at)
    this.#bytes.writeUInt32BE(value >>> 0, at + 4)
  }

  /** For values of more than 53 bits. */
  bigInt8(value: bigint): void {
    const at = this.#element(8)
    this.#bytes.writeBigInt64BE(value, at)
  }

  bytes(value: Uint8Array): void {
    const at = this.#element(value.length)
    this.#bytes.set(value, at)
  }

  hex(digits: string): void {
    const at = this.#element(digits.length >>> 1)
    HexDigits.write(this.#bytes, at, digits)
  }

  text(value: string): void {
    this.#reserve(4 + MOST_BYTES_A_CHARACTER * value.length)
    const length = value === "" ? 0 : this.#bytes.write(value, this.#end + 4)
    this.#element(length)
  }

  /** The finished array of elements of this type. Nothing may be added afterwards. */
  finish(elementType: number): Buffer {
    const head = [1, 0, elementType, this.#size, 1]
    for (const [i, word] of head.entries()) this.#bytes.writeInt32BE(word, 4 * i)
    return this.#bytes.subarray(0, this.#end)
  }

  /** Makes room for an element of this length, possibly in a larger buffer, and returns its offset. */
  #element(length: number): number {
    const room = Math.max(0, length)
    this.#reserve(4 + room)
    const at = this.#bytes.writeInt32BE(length, this.#end)
    this.#end = at + room
    this.#size++
    return at
  }

  #reserve(length: number): void {
    const needed = this.#end + length
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length))
    larger.set(this.#bytes.subarray(0, this.#end))
    this.#bytes = larger
  }
}
