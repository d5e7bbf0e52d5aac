/**
 * Collects an arriving body. The client decides how many pieces it sends, and each piece costs a call and a Buffer of
 * some hundred bytes, whatever its size. So each piece has a price, and all are copied into one buffer.
 */

/** The minimum that a piece counts as. */
const PIECE_BYTES = 64
/** A body can have this many pieces of any size; more only with the minimum size on average. */
const FREE_PIECES = 512
/** The capacity after a small first piece. */
const LEAST_CAPACITY = 1_024

/** Bytes and pieces so far. */
export class Grain {
  #length = 0
  #count = 0

  add({ length }: Buffer): void {
    this.#length += length
    this.#count++
  }

  get length(): number {
    return this.#length
  }

  /** The price in bytes. */
  get price(): number {
    return Math.max(this.#length, this.#count * PIECE_BYTES)
  }

  /** Whether the pieces are smaller than any honest client's. */
  get isConfetti(): boolean {
    return this.#count > FREE_PIECES && this.#length < this.#count * PIECE_BYTES
  }
}

export class Pieces {
  readonly grain = new Grain()
  readonly #most: number
  #bytes: Buffer = Buffer.alloc(0)

  /** `most` is the maximum length. */
  constructor(most: number) {
    this.#most = most
  }

  /** The memory that it takes with this piece. Most bodies are a single piece, which is kept as it is. */
  capacityWith(piece: Buffer): number {
    const length = this.grain.length + piece.length
    const capacity = this.#bytes.length
    if (capacity === 0) return length
    return length <= capacity
      ? capacity
      : Math.max(length, Math.min(this.#most, Math.max(LEAST_CAPACITY, 2 * capacity)))
  }

  add(piece: Buffer): void {
    const { length } = this.grain
    const capacity = this.capacityWith(piece)
    if (length === 0) this.#bytes = piece
    else {
      if (capacity > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes.subarray(0, length)], capacity)
      piece.copy(this.#bytes, length)
    }
    this.grain.add(piece)
  }

  get whole(): Buffer {
    return this.#bytes.subarray(0, this.grain.length)
  }
}
