import * as Words from "./Words.js"

export interface Part {
  readonly name: string
  readonly amount: number
  readonly tone: "first" | "second" | "third" | "good" | "bad"
}

interface Props {
  readonly parts: ReadonlyArray<Part>
  readonly total: number
  readonly label: string
  /** A required share. */
  readonly mark?: number
}

/** Shares of a whole as one bar, with a text alternative for screen readers. */
export const Bar = ({ parts, total, label, mark }: Props) => {
  const shares = parts.map((part) => ({ ...part, share: total === 0 ? 0 : part.amount / total }))
  const text = shares.map(({ name, share }) => `${name} ${Words.percent(share)}`).join(", ")
  return (
    <div class="bar" role="img" aria-label={`${label}: ${text}`}>
      {shares.map(({ name, share, tone }) => (
        <span
          key={name}
          class={`part ${tone}`}
          style={{ width: `${100 * share}%` }}
          title={`${name}: ${Words.percent(share)}`}
        />
      ))}
      {mark === undefined ? undefined : <span class="mark" style={{ left: `${100 * mark}%` }} />}
    </div>
  )
}
