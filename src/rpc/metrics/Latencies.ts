/** Answer times, counted with each answer. */
import { Histogram } from "../../collections/Histogram.js"
import type { Answered } from "../../edge/server/Responder.js"

/** Upper bounds in seconds, from a cached read to a body of a megabyte over a slow line. */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

/** The methods that some endpoint answers. */
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "OPTIONS"])

/** Clients choose the method, and the parser knows over thirty: as labels they would make thousands of series. */
const labelOf = (method: string): string => (METHODS.has(method) ? method : "other")

export class Latencies {
  /** By route, method and status in nested maps, so that a look-up builds no key. */
  readonly #series = new Map<string, Map<string, Map<number, Histogram>>>()

  readonly observe = (answered: Answered): void => {
    this.#seriesOf(answered).add(answered.milliseconds / 1_000)
  }

  #seriesOf({ route, method: name, status }: Answered): Histogram {
    const method = labelOf(name)
    const known = this.#series.get(route)?.get(method)?.get(status)
    if (known !== undefined) return known
    const byMethod = this.#series.get(route) ?? new Map<string, Map<number, Histogram>>()
    const byStatus = byMethod.get(method) ?? new Map<number, Histogram>()
    const series = new Histogram(BOUNDS)
    this.#series.set(route, byMethod.set(method, byStatus.set(status, series)))
    return series
  }

  /** Route, method, status, and the times of these answers in seconds. */
  get rows(): ReadonlyArray<readonly [route: string, method: string, status: string, seconds: Histogram]> {
    return [...this.#series].flatMap(([route, byMethod]) =>
      [...byMethod].flatMap(([method, byStatus]) =>
        [...byStatus].map(([status, seconds]) => [route, method, String(status), seconds] as const),
      ),
    )
  }
}
