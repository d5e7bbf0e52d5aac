/**
 * How long answers took, counted with each answer and written in Prometheus' format at a scrape. By hand, because the
 * library's histogram makes a text of its labels at every observation, and every answer is one.
 */
import type { Answered } from "../server/Responder.js"

const NAME = "udg_http_request_duration_seconds"
const HELP = "Time from a request's headers to its answer, by route, method and status"

/** Upper bounds in seconds, from a cached read to a body of a megabyte over a slow line. */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

class Series {
  readonly #labels: string
  /** Between two bounds each, the last beyond them all. */
  readonly #counts = new Array<number>(BOUNDS.length + 1).fill(0)
  #sum = 0

  constructor({ route, method, status }: Answered) {
    this.#labels = `route="${route}",method="${method}",status="${status}"`
  }

  add(seconds: number): void {
    let bucket = 0
    while (seconds > (BOUNDS[bucket] ?? Number.POSITIVE_INFINITY)) bucket++
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
    this.#sum += seconds
  }

  lines(): ReadonlyArray<string> {
    let count = 0
    const buckets = this.#counts.map((within, i) => {
      count += within
      return `${NAME}_bucket{le="${BOUNDS[i] ?? "+Inf"}",${this.#labels}} ${count}`
    })
    return [...buckets, `${NAME}_sum{${this.#labels}} ${this.#sum}`, `${NAME}_count{${this.#labels}} ${count}`]
  }
}

export class Latencies {
  /** By their labels, one map inside the other: a look-up makes no key. */
  readonly #series = new Map<string, Map<string, Map<number, Series>>>()

  readonly observe = (answered: Answered): void => {
    this.#seriesOf(answered).add(answered.milliseconds / 1_000)
  }

  #seriesOf(answered: Answered): Series {
    const { route, method, status } = answered
    const known = this.#series.get(route)?.get(method)?.get(status)
    if (known !== undefined) return known
    const byMethod = this.#series.get(route) ?? new Map<string, Map<number, Series>>()
    const byStatus = byMethod.get(method) ?? new Map<number, Series>()
    const series = new Series(answered)
    this.#series.set(route, byMethod.set(method, byStatus.set(status, series)))
    return series
  }

  expose(): string {
    const all = [...this.#series.values()].flatMap((byMethod) => [...byMethod.values()])
    const lines = all.flatMap((byStatus) => [...byStatus.values()].flatMap((series) => series.lines()))
    return [`# HELP ${NAME} ${HELP}`, `# TYPE ${NAME} histogram`, ...lines, ""].join("\n")
  }
}
