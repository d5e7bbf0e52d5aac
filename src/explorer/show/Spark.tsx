/** A figure over time, without axes, with its lowest and highest value as a text alternative. */
interface Props {
  readonly values: ReadonlyArray<number>
  readonly label: string
  /** The least upper end of the scale, so that noise looks small. */
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
  const text =
    values.length === 0
      ? "no values yet"
      : `between ${Math.min(...values).toFixed(1)} and ${Math.max(...values).toFixed(1)}, now ${(values.at(-1) ?? 0).toFixed(1)}`
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${label}: ${text}`}
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
