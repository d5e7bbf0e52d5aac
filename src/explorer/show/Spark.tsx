/** The course of a figure, without axes: its shape, and what it was at lowest and highest in words. */
interface Props {
  readonly values: ReadonlyArray<number>
  readonly label: string
  /** The highest value that there is room for at least, so that noise does not look like a storm. */
  readonly atLeast?: number
}

const WIDTH = 160
const HEIGHT = 36

export const Spark = ({ values, label, atLeast = 1 }: Props) => {
  const top = Math.max(atLeast, ...values)
  const step = WIDTH / Math.max(1, values.length - 1)
  const points = values.map(
    (value, i) => `${(i * step).toFixed(1)},${(HEIGHT - 2 - (value / top) * (HEIGHT - 4)).toFixed(1)}`,
  )
  const said =
    values.length === 0
      ? "no values yet"
      : `between ${Math.min(...values).toFixed(1)} and ${Math.max(...values).toFixed(1)}, now ${(values.at(-1) ?? 0).toFixed(1)}`
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${label}: ${said}`}
    >
      {points.length < 2 ? undefined : (
        <>
          <polygon points={`0,${HEIGHT} ${points.join(" ")} ${WIDTH},${HEIGHT}`} />
          <polyline points={points.join(" ")} fill="none" vector-effect="non-scaling-stroke" />
        </>
      )}
    </svg>
  )
}
