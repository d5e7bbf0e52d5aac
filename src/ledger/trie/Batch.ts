/**
 * The changes of one update, packed into a few large chunks and sorted by moving four-byte positions, so that a million
 * changes cost the garbage collector nothing. A change is a record; a removal has no value and a length that no value
 * has. Positions ascend in the order of arrival, so of two changes of one key the later wins.
 */

import * as HexDigits from "../../protocol/crypto/HexDigits.js"
import * as Hash from "../../protocol/identity/Hash.js"
import * as Element from "../../protocol/numbers/Element.js"
import * as StateTree from "../../protocol/state/StateTree.js"
import * as Span from "./Span.js"

/** The new state of the record under a key: another value, or no record. */
export interface Change {
  readonly key: Hash.Hash
  readonly value: Uint8Array | null
}

const CHUNK_BITS = 16
const CHUNK_BYTES = 1 << CHUNK_BITS
const MAX_CHUNKS = 1 << (32 - CHUNK_BITS)
/** Most batches are small, so chunks start small and double in size. */
const FIRST_CHUNK_BYTES = 4_096
const REMOVED = 0xffff
/** Changes sorted in one go, which takes some milliseconds. */
export const SORTED = 32_768
export const SORTED_BITS = 32
/** Elements examined before the job can pause. */
const ELEMENTS_PER_SLICE = 4_096

const sizeOf = (value: Uint8Array | null): number => {
  if (value === null) return StateTree.RECORD_HEADER_BYTES
  if (value.length > StateTree.VALUE_BYTES)
    throw new RangeError(`a value has at most ${StateTree.VALUE_BYTES} bytes, not ${value.length}`)
  return StateTree.RECORD_HEADER_BYTES + value.length
}

export class Batch {
  readonly #chunks: Array<Uint8Array> = []
  #chunk = new Uint8Array(0)
  #used = 0
  #positions = new Uint32Array(64)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Copies the change, so the caller can reuse its value. */
  add({ key, value }: Change): void {
    if (key.length !== 2 * Hash.BYTES) throw new RangeError(`not a key hash: ${key}`)
    const size = sizeOf(value)
    if (this.#used + size > this.#chunk.length) this.#openChunk(size)
    const start = this.#used
    HexDigits.write(this.#chunk, start, key)
    const length = value === null ? REMOVED : value.length
    this.#chunk[start + 32] = length & 0xff
    this.#chunk[start + 33] = length >>> 8
    if (value !== null) this.#chunk.set(value, start + StateTree.RECORD_HEADER_BYTES)
    this.#used += size
    this.#append((this.#chunks.length - 1) * CHUNK_BYTES + start)
  }

  #openChunk(least: number): void {
    if (this.#chunks.length === MAX_CHUNKS) throw new RangeError("a batch above 4 GiB")
    const usual = Math.max(FIRST_CHUNK_BYTES, 2 * this.#chunk.length)
    this.#chunk = new Uint8Array(Math.min(CHUNK_BYTES, Math.max(least, usual)))
    this.#chunks.push(this.#chunk)
    this.#used = 0
  }

  #append(position: number): void {
    if (this.#length === this.#positions.length) {
      const grown = new Uint32Array(this.#length * 2)
      grown.set(this.#positions)
      this.#positions = grown
    }
    this.#positions[this.#length++] = position
  }

  #chunkOf(position: number): Uint8Array {
    const chunk = this.#chunks[position >>> CHUNK_BITS]
    if (chunk === undefined) throw new RangeError(`no change at ${position}`)
    return chunk
  }

  #positionAt(index: number): number {
    return Element.word(this.#positions, index)
  }

  isRemoval(index: number): boolean {
    const position = this.#positionAt(index)
    return Span.lengthAt(this.#chunkOf(position), position & (CHUNK_BYTES - 1)) === REMOVED
  }

  /** The changed record; for a removal only the header. */
  spanAt(index: number): Span.Span {
    const position = this.#positionAt(index)
    const bytes = this.#chunkOf(position)
    const start = position & (CHUNK_BYTES - 1)
    const length = Span.lengthAt(bytes, start)
    return { bytes, start, end: start + StateTree.RECORD_HEADER_BYTES + (length === REMOVED ? 0 : length) }
  }

  turnsRight(index: number, depth: number): boolean {
    const position = this.#positionAt(index)
    return Span.turnsRight(this.#chunkOf(position), position & (CHUNK_BYTES - 1), depth)
  }

  /** Moves changes that turn left below `depth` bits before the others; returns the first that turns right. */
  *partition(lo: number, hi: number, depth: number): Generator<undefined, number, undefined> {
    let left = lo
    for (let i = lo; i < hi; i++) {
      if (!this.turnsRight(i, depth)) this.#swap(i, left++)
      if ((i - lo) % ELEMENTS_PER_SLICE === ELEMENTS_PER_SLICE - 1) yield
    }
    return left
  }

  /** Sorts the changes from `lo` to `hi`, at most `SORTED` of them, by the first `SORTED_BITS` bits of their keys. */
  sort(lo: number, hi: number): void {
    const count = hi - lo
    if (count > SORTED) throw new RangeError(`cannot sort ${count} changes at once, only ${SORTED}`)
    // One number holds the bits and the position: typed arrays sort five times as fast as comparators.
    const keys = new Float64Array(count)
    for (let i = 0; i < count; i++) keys[i] = this.#firstBits(lo + i) * SORTED + i
    keys.sort()
    const before = this.#positions.slice(lo, hi)
    for (let i = 0; i < count; i++) this.#positions[lo + i] = Element.word(before, Element.double(keys, i) % SORTED)
  }

  #firstBits(index: number): number {
    const position = this.#positionAt(index)
    const chunk = this.#chunkOf(position)
    const at = position & (CHUNK_BYTES - 1)
    const low = (Element.byte(chunk, at + 1) << 16) | (Element.byte(chunk, at + 2) << 8) | Element.byte(chunk, at + 3)
    return Element.byte(chunk, at) * 0x100_0000 + low
  }

  /** The first sorted change that turns right below `depth` bits, fewer than `SORTED_BITS`; `hi` if none does. */
  boundary(lo: number, hi: number, depth: number): number {
    let from = lo
    let to = hi
    while (from < to) {
      const middle = (from + to) >>> 1
      if (this.turnsRight(middle, depth)) to = middle
      else from = middle + 1
    }
    return from
  }

  #swap(a: number, b: number): void {
    const position = this.#positionAt(a)
    this.#positions[a] = this.#positionAt(b)
    this.#positions[b] = position
  }

  #compare(a: number, b: number): number {
    const inChunk = CHUNK_BYTES - 1
    return Span.compareKeys(this.#chunkOf(a), a & inChunk, this.#chunkOf(b), b & inChunk)
  }

  /** Sorts some dozens of changes by key and keeps the latest of each; returns their new end. */
  sortChanges(lo: number, hi: number): number {
    for (let i = lo + 1; i < hi; i++) {
      const position = this.#positionAt(i)
      let at = i
      for (; at > lo; at--) {
        const before = this.#positionAt(at - 1)
        const order = this.#compare(before, position)
        if (order < 0 || (order === 0 && before < position)) break
        this.#positions[at] = before
      }
      this.#positions[at] = position
    }
    return this.#keepLatest(lo, hi)
  }

  #keepLatest(lo: number, hi: number): number {
    let end = lo
    for (let i = lo; i < hi; i++) {
      const position = this.#positionAt(i)
      if (end > lo && this.#compare(this.#positionAt(end - 1), position) === 0) end--
      this.#positions[end++] = position
    }
    return end
  }

  latestFirst(lo: number, hi: number): void {
    for (let i = lo + 1; i < hi; i++) if (this.#positionAt(i) > this.#positionAt(lo)) this.#swap(i, lo)
  }
}
