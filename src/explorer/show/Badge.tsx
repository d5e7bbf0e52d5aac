import type { ComponentChildren } from "preact"

/** How something is to be seen: colour only repeats what the word says. */
export type Tone = "good" | "waiting" | "bad" | "quiet" | "plain"

export const Badge = ({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) => (
  <span class={`badge ${tone}`}>{children}</span>
)

/** A transaction's state in a word. */
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
