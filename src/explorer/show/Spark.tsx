/** A figure over time, without axes, with its lowest and highest value as a text alternative. */
interface Props {
  readonly values: ReadonlyArray<number>
  readonly label: string
  readonly write: (value: number) => string
}

const WIDTH = 160
const HEIGHT = 36

export const Spark = ({ values, label, write }: Props) => {
  const top = Math.max(Number.MIN_VALUE, ...values)
  const step = WIDTH / Math.max(1, values.length - 1)
  const points = values.map(
    (value, i) => `${(i * step).toFixed(1)},${(HEIGHT - 2 - (value / top) * (HEIGHT - 4)).toFixed(1)}`,
  )
  const text =
    values.length === 0
      ? "no values yet"
      : `between ${write(Math.min(...values))} and ${write(Math.max(...values))}, now ${write(values.at(-1) ?? 0)}`
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
