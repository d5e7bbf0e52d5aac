/**
 * The rows of the accounts: 48 adjacent bytes each, so touching one costs a cache line or two. Rows lie in blocks that
 * never move, so adding the millionth account costs no more than adding the first.
 */

import * as Element from "../../protocol/numbers/Element.js"

export type Row = number

export const NONE: Row = -1

export const ADDRESS_WORDS = 5

/** Words of a row: five of the address, then these. */
export const STAMP = 5
export const DIRTY = 6
export const EXTRAS = 7
/** Doubles of a row, behind the words. */
export const BALANCE = 4
export const NONCE = 5

const ROW_WORDS = 12
const ROW_DOUBLES = 6
const BLOCK_BITS = 10
const BLOCK_ROWS = 1 << BLOCK_BITS

/** Stops the compiler from dropping reads whose values are unused. */
const readLast = new Uint32Array(1)

export class AccountRows {
  #count = 0
  readonly #words: Array<Uint32Array> = []
  /** The same blocks, as doubles. */
  readonly #doubles: Array<Float64Array> = []

  get count(): number {
    return this.#count
  }

  add(address: Uint32Array): Row {
    const row = this.#count++
    if ((row & (BLOCK_ROWS - 1)) === 0) {
      const block = new Uint32Array(BLOCK_ROWS * ROW_WORDS)
      this.#words.push(block)
      this.#doubles.push(new Float64Array(block.buffer))
    }
    this.#words[row >>> BLOCK_BITS]?.set(address, (row & (BLOCK_ROWS - 1)) * ROW_WORDS)
    return row
  }

  #wordsOf(row: Row): Uint32Array {
    const block = this.#words[row >>> BLOCK_BITS]
    if (block === undefined) throw new RangeError(`no row ${row} of ${this.#count}`)
    return block
  }

  #doublesOf(row: Row): Float64Array {
    const block = this.#doubles[row >>> BLOCK_BITS]
    if (block === undefined) throw new RangeError(`no row ${row} of ${this.#count}`)
    return block
  }

  word(row: Row, at: number): number {
    return Element.word(this.#wordsOf(row), (row & (BLOCK_ROWS - 1)) * ROW_WORDS + at)
  }

  setWord(row: Row, at: number, value: number): void {
    this.#wordsOf(row)[(row & (BLOCK_ROWS - 1)) * ROW_WORDS + at] = value
  }

  double(row: Row, at: number): number {
    return Element.double(this.#doublesOf(row), (row & (BLOCK_ROWS - 1)) * ROW_DOUBLES + at)
  }

  setDouble(row: Row, at: number, value: number): void {
    this.#doublesOf(row)[(row & (BLOCK_ROWS - 1)) * ROW_DOUBLES + at] = value
  }

  /**
   * Loads these rows into the cache. The processor waits for many at once here; later it would wait for each
   * separately.
   */
  fetch(rows: Int32Array, from: number, to: number): void {
    let read = 0
    for (let i = from; i < to; i++) {
      const row = Element.signedWord(rows, i)
      if (row !== NONE) read ^= this.word(row, 0) ^ this.word(row, ROW_WORDS - 1)
    }
    readLast[0] = read
  }

  /** Whether this row has the address whose words begin at `at`. */
  isAt(row: Row, addresses: Uint32Array, at: number): boolean {
    const words = this.#wordsOf(row)
    const start = (row & (BLOCK_ROWS - 1)) * ROW_WORDS
    for (let i = 0; i < ADDRESS_WORDS; i++) if (words[start + i] !== addresses[at + i]) return false
    return true
  }

  /** Copies the address of a row, as five big-endian words. */
  readAddress(row: Row, into: Uint32Array): void {
    const words = this.#wordsOf(row)
    const start = (row & (BLOCK_ROWS - 1)) * ROW_WORDS
    for (let i = 0; i < ADDRESS_WORDS; i++) into[i] = Element.word(words, start + i)
  }

  compare(a: Row, b: Row): number {
    let at = 0
    while (at < ADDRESS_WORDS - 1 && this.word(a, at) === this.word(b, at)) at++
    return this.word(a, at) - this.word(b, at)
  }
}
