import type { ComponentChildren } from "preact"

/** A badge's colour, which only repeats its word. */
export type Tone = "good" | "waiting" | "bad" | "quiet" | "plain"

export const Badge = ({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) => (
  <span class={`badge ${tone}`}>{children}</span>
)

/** Whether a round or a vertex is final. */
export const Finality = ({ isFinal }: { readonly isFinal: boolean }) =>
  isFinal ? <Badge tone="good">finalized</Badge> : <Badge tone="waiting">not final yet</Badge>

/** The state of a transaction in one word. */
export const Outcome = ({
  status,
  applied,
}: {
  readonly status: "pending" | "finalized"
  readonly applied: boolean | null
}) => {
  if (status === "pending") return <Badge tone="waiting">pending</Badge>
  return applied === false ? <Badge tone="bad">failed</Badge> : <Badge tone="good">finalized</Badge>
}
