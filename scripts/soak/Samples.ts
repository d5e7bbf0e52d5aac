/** Each node's resource use over a soak test, minute by minute, and its growth. */

export interface Sample {
  readonly minute: number
  readonly node: number
  readonly round: number
  readonly residentKib: number
  readonly heapBytes: number
  readonly descriptors: number
  readonly dataBytes: number
  readonly logBytes: number
  /** To disk, since the start. */
  readonly writtenBytes: number
}

interface Quantity {
  readonly name: string
  readonly digits: number
  readonly of: (sample: Sample) => number
}

const MIB = 1_048_576

const QUANTITIES: ReadonlyArray<Quantity> = [
  { name: "resident memory, MiB", digits: 1, of: ({ residentKib }) => residentKib / 1_024 },
  { name: "heap, MiB", digits: 1, of: ({ heapBytes }) => heapBytes / MIB },
  { name: "file descriptors", digits: 0, of: ({ descriptors }) => descriptors },
  { name: "data directory, MiB", digits: 1, of: ({ dataBytes }) => dataBytes / MIB },
  { name: "log, KiB", digits: 1, of: ({ logBytes }) => logBytes / 1_024 },
  { name: "written, GiB", digits: 2, of: ({ writtenBytes }) => writtenBytes / 1_024 / MIB },
  { name: "finalized round", digits: 0, of: ({ round }) => round },
]

/** The parts of the time that the table shows. */
const COLUMNS = [0.1, 0.25, 0.5, 0.75, 1]
/** A node fills its caches once, which is not growth. */
const WARM_UP = 0.25
/** The minimum of samples for a slope. */
const LEAST_SAMPLES = 3

type Point = readonly [x: number, y: number]

const mean = (values: ReadonlyArray<number>): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** The slope of a least-squares line. */
export const slopeOf = (points: ReadonlyArray<Point>): number => {
  const middle = mean(points.map(([x]) => x))
  const height = mean(points.map(([, y]) => y))
  const rise = points.reduce((sum, [x, y]) => sum + (x - middle) * (y - height), 0)
  return rise / points.reduce((sum, [x]) => sum + (x - middle) ** 2, 0)
}

const changeAnHour = (samples: ReadonlyArray<Sample>, { of, digits }: Quantity): string => {
  const last = samples.at(-1)?.minute ?? 0
  const warm = samples.filter(({ minute }) => minute > last * WARM_UP)
  if (warm.length < LEAST_SAMPLES) return ""
  const change = slopeOf(warm.map((sample) => [sample.minute / 60, of(sample)])).toFixed(digits + 1)
  return Number(change) > 0 ? `+${change}` : Number(change).toFixed(digits + 1)
}

const rowsOf = (samples: ReadonlyArray<Sample>, minutes: ReadonlyArray<number>) =>
  QUANTITIES.map((quantity) => {
    const cells = minutes.map((minute) => {
      const found = samples.findLast((sample) => sample.minute <= minute)
      return found === undefined ? "" : quantity.of(found).toFixed(quantity.digits)
    })
    return [String(samples[0]?.node), quantity.name, ...cells, changeAnHour(samples, quantity)]
  })

const rowOf = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`

/**
 * A Markdown table. The last column is the change per hour, by least squares over the samples after the first quarter.
 */
export const table = (samples: ReadonlyArray<Sample>): string => {
  const last = samples.at(-1)?.minute ?? 0
  const minutes = COLUMNS.map((part) => Math.max(1, Math.floor(last * part)))
  const nodes = [...new Set(samples.map(({ node }) => node))]
  const titles = ["node", "what", ...minutes.map((minute) => `minute ${minute}`), "an hour, after warm-up"]
  const rows = nodes.flatMap((node) =>
    rowsOf(
      samples.filter((sample) => sample.node === node),
      minutes,
    ),
  )
  return [titles, titles.map(() => "---"), ...rows].map(rowOf).join("\n")
}
