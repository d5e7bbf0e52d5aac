/** Limits one page of an answer to as many items as fit, in order. The first item may have any size. */
export class PageLimit {
  #bytesLeft: number
  #isEmpty = true

  constructor(maxBytes: number) {
    this.#bytesLeft = maxBytes
  }

  /** Whether the next item fits. Once one does not, the page is full. */
  takes(bytes: number): boolean {
    this.#bytesLeft -= bytes
    const fits = this.#isEmpty || this.#bytesLeft >= 0
    this.#isEmpty = false
    return fits
  }
}
