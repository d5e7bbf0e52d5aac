/**
 * A body as it arrives. A client decides into how many pieces it cuts a body, and each costs a call and a Buffer of some
 * hundred bytes, however little is in it. So a piece has a price, and all are copied into one buffer.
 */

/** The least that a piece counts as. */
const PIECE_BYTES = 64
/** A body may come in this many pieces, whatever their size; in more of them if they have the least size on average. */
const FREE_PIECES = 512
/** The capacity that follows on a small first piece. */
const LEAST_CAPACITY = 1_024

/** How much has come, and in how many pieces. */
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

  /** What it costs, in bytes. */
  get price(): number {
    return Math.max(this.#length, this.#count * PIECE_BYTES)
  }

  /** Whether it is cut as fine as only an attacker would cut it. */
  get isConfetti(): boolean {
    return this.#count > FREE_PIECES && this.#length < this.#count * PIECE_BYTES
  }
}

export class Pieces {
  readonly grain = new Grain()
  readonly #most: number
  #bytes: Buffer = Buffer.alloc(0)

  /** `most` is the largest length that the caller lets it have. */
  constructor(most: number) {
    this.#most = most
  }

  /** The memory it takes with this piece. Most bodies come in one, which is kept as it is. */
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
