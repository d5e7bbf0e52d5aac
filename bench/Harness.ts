/** What the suites have in common. Medians decide, so that one busy moment of the machine does not. */

/** Something a whole scenario says about itself: how long a start took, how much memory an account costs. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
}

/** What one file of `bench/` exports as `suite`: a scenario that measures itself. */
export interface Suite {
  readonly about: string
  /** Run only when asked for by name. */
  readonly isLong?: true
  readonly figures: () => ReadonlyArray<Figure> | Promise<ReadonlyArray<Figure>>
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

/** Names to the left, figures to the right. */
const align = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const width = (column: number): number => Math.max(...rows.map((row) => (row[column] ?? "").length))
  return rows
    .map((row) => row.map((cell, i) => (i === 0 ? cell.padEnd(width(i)) : cell.padStart(width(i)))).join("  "))
    .join("\n")
}

const grouped = (value: number): string => Math.round(value).toLocaleString("en").replaceAll(",", " ")

export const tableOfFigures = (figures: ReadonlyArray<Figure>): string =>
  align(figures.map(({ name, value, unit }) => [name, value < 1_000 ? value.toPrecision(3) : grouped(value), unit]))
