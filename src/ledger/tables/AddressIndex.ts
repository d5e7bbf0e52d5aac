/**
 * Finds the row of an address by open addressing over a keyed hash. When half of the slots are taken, a table twice as
 * large takes over. Each new row then moves a few old ones, so no single commit pays for moving a million.
 *
 * Invariants: every row is in the current table or, not moved yet, in the previous one; at most half of either is
 * taken; a move ends long before the next one begins.
 */
import * as Element from "../../protocol/numbers/Element.js"
import { type AccountRows, ADDRESS_WORDS, NONE, type Row } from "./AccountRows.js"
import * as HalfSipHash from "./HalfSipHash.js"

const INITIAL_SLOTS = 2_048
/** Rows moved with each new one. One would be enough; more shorten the time in which lookups search two tables. */
export const MOVED_AT_ONCE = 4

/** Enough addresses to wait for memory once for all of them, few enough to stay in the cache until they are used. */
export const LOOKUPS_PER_BATCH = 128

const hashes = new Uint32Array(LOOKUPS_PER_BATCH)
const found = new Int32Array(LOOKUPS_PER_BATCH)
const moving = new Uint32Array(ADDRESS_WORDS)

export class AddressIndex {
  readonly #key: HalfSipHash.Key
  readonly #rows: AccountRows
  /** Row + 1, 0 where free. */
  #slots: Uint32Array
  /** The previous table, and its rows from `next` to `end` that have not moved yet. */
  #before: Uint32Array | undefined
  #next = 0
  #end = 0

  constructor(key: HalfSipHash.Key, rows: AccountRows) {
    this.#key = key
    this.#rows = rows
    this.#slots = new Uint32Array(INITIAL_SLOTS)
  }

  /** Rows not yet moved to the larger table. */
  get unmoved(): number {
    return this.#end - this.#next
  }

  find(address: Uint32Array): Row {
    return this.#search(HalfSipHash.ofWords(this.#key, address), address, 0)
  }

  #search(hash: number, addresses: Uint32Array, at: number): Row {
    const row = Element.word(this.#slots, this.#slot(this.#slots, hash, addresses, at)) - 1
    if (row !== NONE || this.#before === undefined) return row
    return Element.word(this.#before, this.#slot(this.#before, hash, addresses, at)) - 1
  }

  /**
   * The rows of the first `count` of these addresses, five words each, in order; valid until the next call. Each step
   * handles all addresses before the next step, so the memory accesses overlap.
   */
  findAll(addresses: Uint32Array, count: number): Int32Array {
    const slots = this.#slots
    const mask = slots.length - 1
    for (let i = 0; i < count; i++) {
      hashes[i] = HalfSipHash.ofWords(this.#key, addresses, i * ADDRESS_WORDS, ADDRESS_WORDS)
    }
    for (let i = 0; i < count; i++) found[i] = Element.word(slots, Element.word(hashes, i) & mask) - 1
    this.#rows.fetch(found, 0, count)
    for (let i = 0; i < count; i++) {
      const row = Element.signedWord(found, i)
      const at = i * ADDRESS_WORDS
      if (row === NONE || !this.#rows.isAt(row, addresses, at))
        found[i] = this.#search(Element.word(hashes, i), addresses, at)
    }
    return found
  }

  add(address: Uint32Array): Row {
    const row = this.#rows.add(address)
    this.#put(row, address)
    if (this.#before !== undefined) this.#move()
    else if (this.#rows.count * 2 >= this.#slots.length) this.#grow()
    return row
  }

  /** The slot of the address in this table, or the free slot where it belongs. */
  #slot(slots: Uint32Array, hash: number, addresses: Uint32Array, at: number): number {
    const mask = slots.length - 1
    let slot = hash & mask
    for (;;) {
      const held = Element.word(slots, slot)
      if (held === 0 || this.#rows.isAt(held - 1, addresses, at)) return slot
      slot = (slot + 1) & mask
    }
  }

  #put(row: Row, address: Uint32Array): void {
    const mask = this.#slots.length - 1
    let slot = HalfSipHash.ofWords(this.#key, address) & mask
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask
    this.#slots[slot] = row + 1
  }

  #grow(): void {
    this.#before = this.#slots
    this.#next = 0
    this.#end = this.#rows.count
    this.#slots = new Uint32Array(this.#slots.length * 2)
  }

  /** In the order of rows, which is the order of memory. */
  #move(): void {
    const until = Math.min(this.#next + MOVED_AT_ONCE, this.#end)
    for (; this.#next < until; this.#next++) {
      this.#rows.readAddress(this.#next, moving)
      this.#put(this.#next, moving)
    }
    if (this.#next === this.#end) this.#before = undefined
  }
}
