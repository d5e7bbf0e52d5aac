/** Counts values between fixed bounds: adding one costs a comparison or two for each bound below it. */
export class Histogram {
  readonly bounds: ReadonlyArray<number>
  /** Between two bounds each, the last beyond them all. */
  readonly #counts: Array<number>
  #sum = 0

  /** `bounds` rise. */
  constructor(bounds: ReadonlyArray<number>) {
    this.bounds = bounds
    this.#counts = new Array<number>(bounds.length + 1).fill(0)
  }

  add(value: number): void {
    let bucket = 0
    while (value > (this.bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket++
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
    this.#sum += value
  }

  get sum(): number {
    return this.#sum
  }

  /** For each bound, how many values are not above it; the last is how many there are. */
  get cumulative(): ReadonlyArray<number> {
    let count = 0
    return this.#counts.map((within) => {
      count += within
      return count
    })
  }
}
