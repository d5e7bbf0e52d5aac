/** How much of an answer one page holds: as many items as fit, in their order, and one of any size. */
export class PageLimit {
  #bytesLeft: number
  #isEmpty = true

  constructor(maxBytes: number) {
    this.#bytesLeft = maxBytes
  }

  /** Whether the next item fits; behind one that does not, none is to come. */
  takes(bytes: number): boolean {
    this.#bytesLeft -= bytes
    const fits = this.#isEmpty || this.#bytesLeft >= 0
    this.#isEmpty = false
    return fits
  }
}
