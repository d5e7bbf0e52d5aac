/** Measuring: warm up, repeat, take the median, so that one busy moment of the machine does not decide. */

export interface Case {
  readonly name: string
  /** What is measured. One that answers a promise is awaited before the next begins. */
  readonly run: () => unknown
  /** How many operations one run performs; 1 where nothing is said. */
  readonly operations?: number
}

/** Something a whole scenario says about itself: how long a start took, how much memory an account costs. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
}

/** What one file of `bench/` exports as `suite`: operations to be timed here, or a scenario that measures itself. */
export type Suite = About &
  (
    | { readonly cases: () => ReadonlyArray<Case> | Promise<ReadonlyArray<Case>> }
    | { readonly figures: () => ReadonlyArray<Figure> | Promise<ReadonlyArray<Figure>> }
  )

interface About {
  readonly about: string
  /** Run only when asked for by name. */
  readonly isLong?: true
}

export interface Result {
  readonly name: string
  readonly perSecond: number
  readonly microseconds: number
  /** How far the repetitions lie apart, in percent of the median. */
  readonly spreadPercent: number
}

export const median = (values: ReadonlyArray<number>): number => quantile(values, 0.5)

/** The value below which this part of all values lies; no number where there are none. */
export const quantile = (values: ReadonlyArray<number>, part: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? Number.NaN

/** Of several runs of a scenario, the median of each figure. */
export const mediansOf = (runs: ReadonlyArray<ReadonlyArray<Figure>>): ReadonlyArray<Figure> => {
  const [first = []] = runs
  return first.map(({ name, unit }) => {
    const same = runs.flat().filter((figure) => figure.name === name && figure.unit === unit)
    return { name, unit, value: median(same.map(({ value }) => value)) }
  })
}

const WARM_UP_MS = 200
const REPETITION_MS = 200
const REPETITIONS = 7
/** Runs between two looks at the clock, so that the clock is not what is measured. */
const BATCH = 16

/** Runs for at least this long and says how long one run took, in milliseconds. */
const timeOfOne = async (run: () => unknown, forMs: number): Promise<number> => {
  const started = performance.now()
  let runs = 0
  let elapsed = 0
  while (elapsed < forMs) {
    for (let i = 0; i < BATCH; i++) {
      const answer = run()
      if (answer instanceof Promise) await answer
    }
    runs += BATCH
    elapsed = performance.now() - started
  }
  return elapsed / runs
}

export const measure = async ({ name, run, operations = 1 }: Case): Promise<Result> => {
  await timeOfOne(run, WARM_UP_MS)
  const times: Array<number> = []
  for (let i = 0; i < REPETITIONS; i++) times.push((await timeOfOne(run, REPETITION_MS)) / operations)
  times.sort((a, b) => a - b)
  const median = times[REPETITIONS >> 1] ?? 0
  const spread = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / median
  return { name, perSecond: 1_000 / median, microseconds: median * 1_000, spreadPercent: spread * 100 }
}

/** Names to the left, figures to the right. */
const align = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const width = (column: number): number => Math.max(...rows.map((row) => (row[column] ?? "").length))
  return rows
    .map((row) => row.map((cell, i) => (i === 0 ? cell.padEnd(width(i)) : cell.padStart(width(i)))).join("  "))
    .join("\n")
}

const grouped = (value: number): string => Math.round(value).toLocaleString("en").replaceAll(",", " ")

export const tableOfResults = (results: ReadonlyArray<Result>): string =>
  align([
    ["", "a second", "µs each", "spread"],
    ...results.map(({ name, perSecond, microseconds, spreadPercent }) => [
      name,
      grouped(perSecond),
      microseconds < 1_000 ? microseconds.toPrecision(3) : grouped(microseconds),
      `${spreadPercent.toFixed(0)} %`,
    ]),
  ])

export const tableOfFigures = (figures: ReadonlyArray<Figure>): string =>
  align(figures.map(({ name, value, unit }) => [name, value < 1_000 ? value.toPrecision(3) : grouped(value), unit]))
