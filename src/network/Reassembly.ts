/**
 * Reassembles records from a byte stream with arbitrary boundaries, in time linear in the bytes however small the
 * pieces are. A record within one piece is not copied; others are copied into a buffer that grows with the data
 * received.
 */

const NOTHING = new Uint8Array(0)
const SMALLEST = 64

/**
 * The length of the record that starts with these bytes, including its head; undefined if more of the head is needed.
 */
export type LengthOf = (start: Uint8Array) => number | undefined

export class Reassembly {
  readonly #lengthOf: LengthOf
  #piece: Uint8Array = NOTHING
  #at = 0
  /** The start of an incomplete record. */
  #buffer: Uint8Array = NOTHING
  #filled = 0
  #copied = 0

  /** `lengthOf` can throw for an excessive length; it never sees more bytes than have arrived. */
  constructor(lengthOf: LengthOf) {
    this.#lengthOf = lengthOf
  }

  get isWaiting(): boolean {
    return this.#filled > 0
  }

  /** Bytes copied so far, for tests of the cost. */
  get copied(): number {
    return this.#copied
  }

  get heldBytes(): number {
    return this.#buffer.length
  }

  /** Adds bytes, once `next` has returned all earlier records. */
  add(piece: Uint8Array): void {
    if (this.#at < this.#piece.length) throw new Error("the previous piece has unread bytes")
    this.#piece = piece
    this.#at = 0
  }

  /** The next complete record, which may share memory with its piece; undefined if another piece is needed. */
  next(): Uint8Array | undefined {
    return this.#filled > 0 ? this.#completed() : this.#whole()
  }

  #whole(): Uint8Array | undefined {
    const rest = this.#piece.subarray(this.#at)
    if (rest.length === 0) return this.#done()
    const length = this.#lengthOf(rest)
    if (length === undefined || length > rest.length) {
      this.#absorb(rest.length, length ?? rest.length)
      return this.#done()
    }
    this.#at += length
    return rest.subarray(0, length)
  }

  #completed(): Uint8Array | undefined {
    for (;;) {
      const length = this.#lengthOf(this.#buffer.subarray(0, this.#filled))
      if (length !== undefined && length <= this.#filled) {
        const record = this.#buffer.subarray(0, length)
        this.#buffer = NOTHING
        this.#filled = 0
        return record
      }
      const rest = this.#piece.length - this.#at
      if (rest === 0) return this.#done()
      // An incomplete head is read byte by byte, so that nothing after its record is consumed.
      this.#absorb(length === undefined ? 1 : Math.min(rest, length - this.#filled), length ?? this.#filled + 1)
    }
  }

  #absorb(count: number, wanted: number): void {
    const needed = this.#filled + count
    if (this.#buffer.length < needed) {
      // At most twice the received bytes: an announced length alone must not allocate memory.
      const grown = new Uint8Array(Math.max(needed, Math.min(wanted, Math.max(SMALLEST, 2 * needed))))
      grown.set(this.#buffer.subarray(0, this.#filled))
      this.#copied += this.#filled
      this.#buffer = grown
    }
    this.#buffer.set(this.#piece.subarray(this.#at, this.#at + count), this.#filled)
    this.#copied += count
    this.#filled = needed
    this.#at += count
  }

  #done(): undefined {
    this.#piece = NOTHING
    this.#at = 0
    return undefined
  }
}
