/** Counts values between fixed bounds. Adding one costs a comparison or two for each bound below it. */
export class Histogram {
  readonly bounds: ReadonlyArray<number>
  /** One count for each interval between bounds; the last is for values beyond them all. */
  readonly #counts: Array<number>
  #sum = 0

  /** `bounds` must ascend. */
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

  /** For each bound, the number of values not above it; the last is the number of all values. */
  get cumulative(): ReadonlyArray<number> {
    let count = 0
    return this.#counts.map((within) => {
      count += within
      return count
    })
  }
}
