/** Shared by all suites. Medians decide, so that a busy moment of the machine does not. */

/** A result of a whole scenario: how long a start took, how much memory an account needs. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
}

/** The export `suite` of a file in `bench/`: a scenario that measures itself. */
export interface Suite {
  readonly about: string
  /** Run only if named. */
  readonly isLong?: true
  readonly figures: () => ReadonlyArray<Figure> | Promise<ReadonlyArray<Figure>>
}

export const median = (values: ReadonlyArray<number>): number => quantile(values, 0.5)

/** The quantile of the values; NaN without values. */
export const quantile = (values: ReadonlyArray<number>, part: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? Number.NaN

/** The median of each figure over several runs. */
export const mediansOf = (runs: ReadonlyArray<ReadonlyArray<Figure>>): ReadonlyArray<Figure> => {
  const [first = []] = runs
  return first.map(({ name, unit }) => {
    const same = runs.flat().filter((figure) => figure.name === name && figure.unit === unit)
    return { name, unit, value: median(same.map(({ value }) => value)) }
  })
}

/** Names on the left, figures on the right. */
const align = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const width = (column: number): number => Math.max(...rows.map((row) => (row[column] ?? "").length))
  return rows
    .map((row) => row.map((cell, i) => (i === 0 ? cell.padEnd(width(i)) : cell.padStart(width(i)))).join("  "))
    .join("\n")
}

const grouped = (value: number): string => Math.round(value).toLocaleString("en").replaceAll(",", " ")

export const tableOfFigures = (figures: ReadonlyArray<Figure>): string =>
  align(figures.map(({ name, value, unit }) => [name, value < 1_000 ? value.toPrecision(3) : grouped(value), unit]))
