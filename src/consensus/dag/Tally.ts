/** Weight that counts once per author, however often the author is counted. */
export class Tally {
  readonly #seats = new Set<number>()
  #weight = 0

  get weight(): number {
    return this.#weight
  }

  add(seat: number, weight: number): void {
    if (this.#seats.has(seat)) return
    this.#seats.add(seat)
    this.#weight += weight
  }
}
