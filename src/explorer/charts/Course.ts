/** A chart's data: points in time with one value per line; null where nothing was measured. Pure. */

/** Lists of the same length. */
export interface Columns {
  readonly step_ms: number
  readonly at: ReadonlyArray<number>
}

export interface Course {
  /** Seconds since 1970, ascending. */
  readonly at: ReadonlyArray<number>
  /** One list per line. */
  readonly values: ReadonlyArray<ReadonlyArray<number | null>>
}

/** The value of a line for the points from `first` up to `end`, exclusive. */
export type Of = (first: number, end: number) => number | null

export const sum = (values: ReadonlyArray<number>, first: number, end: number): number => {
  let total = 0
  for (let i = first; i < end; i++) total += values[i] ?? 0
  return total
}

/** Events per second of measured time. */
export const rate =
  (counts: ReadonlyArray<number>, measuredMs: ReadonlyArray<number>): Of =>
  (first, end) => {
    const ms = sum(measuredMs, first, end)
    return ms === 0 ? null : (1_000 * sum(counts, first, end)) / ms
  }

/** The average of the measured values. */
export const mean =
  (values: ReadonlyArray<number | null>): Of =>
  (first, end) => {
    const there = values.slice(first, end).filter((value) => value !== null)
    return there.length === 0 ? null : sum(there, 0, there.length) / there.length
  }

/** The last value. */
export const level =
  (values: ReadonlyArray<number>): Of =>
  (_, end) =>
    values[end - 1] ?? null

/** Adds each line to the previous ones. */
export const stacked = (values: Course["values"]): Course["values"] => {
  const tops: Array<ReadonlyArray<number | null>> = []
  for (const line of values) {
    const below = tops.at(-1)
    tops.push(line.map((value, i) => (value === null ? null : value + (below?.[i] ?? 0))))
  }
  return tops
}

/** A line breaks after this many steps without a point, because the node did not run. */
const GAP_STEPS = 3

/** Points since `from`, each `groupMs` drawn as one. */
export const draw = (
  { step_ms: stepMs, at }: Columns,
  { from, groupMs }: { readonly from: number; readonly groupMs: number },
  lines: ReadonlyArray<Of>,
): Course => {
  const width = Math.max(groupMs, stepMs)
  const groupOf = (i: number): number => Math.floor((at[i] ?? 0) / width)
  const moments: Array<number> = []
  const values: Array<Array<number | null>> = lines.map(() => [])
  const put = (moment: number, of: (line: Of) => number | null): void => {
    moments.push(moment / 1_000)
    for (const [i, line] of lines.entries()) values[i]?.push(of(line))
  }
  let before: number | undefined
  for (
    let first = at.findIndex((moment) => moment >= from), end = first;
    first >= 0 && first < at.length;
    first = end
  ) {
    const group = groupOf(first)
    while (end < at.length && groupOf(end) === group) end++
    const moment = group * width
    if (before !== undefined && moment - before > GAP_STEPS * width) put(before + width, () => null)
    put(moment, (line) => line(first, end))
    before = moment
  }
  return { at: moments, values }
}
