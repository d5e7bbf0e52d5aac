/**
 * Byte strings by number, in cells of a few sizes outside the heap, so that millions cost little more than their bytes.
 * Used for account extras and for records that strangers can create. A freed cell is reused for one of its size; cells
 * never move.
 *
 * Invariants: a handle is never 0; a cell is either held by exactly one handle or in the free list of its size.
 */

import * as Element from "../../protocol/numbers/Element.js"

export type Handle = number

const STEP_BITS = 5
const SIZE_BITS = 5
const CELL_BITS = 32 - SIZE_BITS
const BLOCK_BITS = 7
const BLOCK_CELLS = 1 << BLOCK_BITS
const LENGTH_BYTES = 2
/** The longest byte string that fits in cells with steps of 2^stepBits bytes. */
const maxBytes = (stepBits: number): number => ((1 << SIZE_BITS) - 1) * (1 << stepBits) - LENGTH_BYTES
/** The longest byte string that fits in cells of the default sizes. */
export const MAX_BYTES = maxBytes(STEP_BITS)

/** All bits of a cell's number within its size. */
const CELL_MASK = 2 ** CELL_BITS - 1

class Shelf {
  readonly #size: number
  readonly #blocks: Array<Uint8Array> = []
  #count = 0
  readonly #free: Array<number> = []

  constructor(size: number) {
    this.#size = size
  }

  take(): number {
    const freed = this.#free.pop()
    if (freed !== undefined) return freed
    if (this.#count > CELL_MASK) throw new RangeError(`${this.#count} cells of ${this.#size} bytes`)
    if ((this.#count & (BLOCK_CELLS - 1)) === 0) this.#blocks.push(new Uint8Array(BLOCK_CELLS * this.#size))
    return this.#count++
  }

  give(cell: number): void {
    this.#free.push(cell)
  }

  read(cell: number): Uint8Array {
    const block = this.#blocks[cell >>> BLOCK_BITS]
    if (block === undefined) throw new RangeError(`no cell ${cell} of ${this.#size} bytes`)
    const start = (cell & (BLOCK_CELLS - 1)) * this.#size
    const length = Element.byte(block, start) | (Element.byte(block, start + 1) << 8)
    return block.subarray(start + LENGTH_BYTES, start + LENGTH_BYTES + length)
  }

  write(cell: number, bytes: Uint8Array): void {
    const block = this.#blocks[cell >>> BLOCK_BITS]
    if (block === undefined) throw new RangeError(`no cell ${cell} of ${this.#size} bytes`)
    const start = (cell & (BLOCK_CELLS - 1)) * this.#size
    block[start] = bytes.length & 0xff
    block[start + 1] = bytes.length >>> 8
    block.set(bytes, start + LENGTH_BYTES)
  }
}

export class Cells {
  readonly #stepBits: number
  /** Indexed by cell size in steps. */
  readonly #shelves: Array<Shelf | undefined> = []

  constructor(stepBits: number = STEP_BITS) {
    this.#stepBits = stepBits
  }

  #shelf(steps: number): Shelf {
    let shelf = this.#shelves[steps]
    if (shelf === undefined) {
      shelf = new Shelf(steps << this.#stepBits)
      this.#shelves[steps] = shelf
    }
    return shelf
  }

  /** Keeps a copy. */
  put(bytes: Uint8Array): Handle {
    const longest = maxBytes(this.#stepBits)
    if (bytes.length > longest) throw new RangeError(`a cell of ${bytes.length} bytes, at most ${longest} fit`)
    const steps = (bytes.length + LENGTH_BYTES + (1 << this.#stepBits) - 1) >>> this.#stepBits
    const shelf = this.#shelf(steps)
    const cell = shelf.take()
    shelf.write(cell, bytes)
    return ((steps << CELL_BITS) | cell) >>> 0
  }

  /** A view, valid until the handle is freed. */
  get(handle: Handle): Uint8Array {
    return this.#shelf(handle >>> CELL_BITS).read(handle & CELL_MASK)
  }

  free(handle: Handle): void {
    this.#shelf(handle >>> CELL_BITS).give(handle & CELL_MASK)
  }
}
