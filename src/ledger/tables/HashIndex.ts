/**
 * Finds the entry with a key by open addressing over a keyed hash, for entries that come and go. An entry is a number
 * chosen by its owner, which also knows its key. When half of the slots are taken, a table twice as large takes over.
 * Each new entry then empties a few slots of the old one, so no single operation pays for moving a million.
 *
 * Invariants: every entry is in exactly one slot of the current or the previous table; at most half of either is taken;
 * a move ends long before the next one begins.
 */

import * as Element from "../../protocol/numbers/Element.js"

const INITIAL_SLOTS = 64
/** Slots of the previous table emptied with each new entry. Two would be enough. */
const EMPTIED_AT_ONCE = 8
/** In the previous table: an entry was here, and others may follow. */
const GONE = 0xffff_ffff

export const NO_ENTRY = 0

export class HashIndex {
  readonly #hashOf: (entry: number) => number
  #slots = new Uint32Array(INITIAL_SLOTS)
  #before: Uint32Array | undefined
  #next = 0
  #size = 0

  /** `hashOf` returns the hash of an entry's key while the entry is in the index. */
  constructor(hashOf: (entry: number) => number) {
    this.#hashOf = hashOf
  }

  get size(): number {
    return this.#size
  }

  /** Slots of the previous table not emptied yet. */
  get unmoved(): number {
    return this.#before === undefined ? 0 : this.#before.length - this.#next
  }

  /** The entry under this hash that matches, or `NO_ENTRY`. */
  find(hash: number, isIt: (entry: number) => boolean): number {
    return findIn(this.#slots, hash, isIt) || (this.#before === undefined ? NO_ENTRY : findIn(this.#before, hash, isIt))
  }

  /** Adds an entry, from 1 to 2^32 − 2, with a new key. */
  add(entry: number, hash: number): void {
    this.#size++
    this.#put(entry, hash)
    if (this.#before !== undefined) this.#empty(this.#before)
    else if (this.#size * 2 >= this.#slots.length) this.#grow()
  }

  remove(entry: number, hash: number): void {
    const slot = slotOf(this.#slots, entry, hash)
    if (slot !== undefined) this.#close(slot)
    else {
      const earlier = this.#before && slotOf(this.#before, entry, hash)
      if (this.#before === undefined || earlier === undefined) throw new RangeError(`no entry ${entry}`)
      this.#before[earlier] = GONE
    }
    this.#size--
  }

  /** In no particular order; invalid once an entry comes or goes. */
  *entries(): Generator<number> {
    for (const slots of [this.#slots, this.#before ?? []]) {
      for (const entry of slots) if (entry !== NO_ENTRY && entry !== GONE) yield entry
    }
  }

  #put(entry: number, hash: number): void {
    const mask = this.#slots.length - 1
    let slot = hash & mask
    while (this.#slots[slot] !== NO_ENTRY) slot = (slot + 1) & mask
    this.#slots[slot] = entry
  }

  /** Frees a slot; entries that it displaced move up. */
  #close(slot: number): void {
    const slots = this.#slots
    const mask = slots.length - 1
    let hole = slot
    for (let at = (hole + 1) & mask; ; at = (at + 1) & mask) {
      const entry = Element.word(slots, at)
      if (entry === NO_ENTRY) break
      const walked = (at - this.#hashOf(entry)) & mask
      if (walked < ((at - hole) & mask)) continue
      slots[hole] = entry
      hole = at
    }
    slots[hole] = NO_ENTRY
  }

  #grow(): void {
    this.#before = this.#slots
    this.#next = 0
    this.#slots = new Uint32Array(this.#slots.length * 2)
  }

  #empty(before: Uint32Array): void {
    const until = Math.min(this.#next + EMPTIED_AT_ONCE, before.length)
    for (; this.#next < until; this.#next++) {
      const entry = Element.word(before, this.#next)
      if (entry === NO_ENTRY || entry === GONE) continue
      before[this.#next] = GONE
      this.#put(entry, this.#hashOf(entry))
    }
    if (this.#next === before.length) this.#before = undefined
  }
}

const findIn = (slots: Uint32Array, hash: number, isIt: (entry: number) => boolean): number => {
  const mask = slots.length - 1
  let slot = hash & mask
  for (;;) {
    const entry = Element.word(slots, slot)
    if (entry === NO_ENTRY || (entry !== GONE && isIt(entry))) return entry
    slot = (slot + 1) & mask
  }
}

const slotOf = (slots: Uint32Array, entry: number, hash: number): number | undefined => {
  const mask = slots.length - 1
  let slot = hash & mask
  for (;;) {
    if (slots[slot] === entry) return slot
    if (slots[slot] === NO_ENTRY) return undefined
    slot = (slot + 1) & mask
  }
}
