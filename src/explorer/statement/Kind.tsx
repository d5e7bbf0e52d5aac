import { Badge } from "../show/Badge.js"

/** A transaction's kind. In a list of finalized transactions only failures are marked. */
export const Kind = ({ name, applied }: { readonly name: string; readonly applied: boolean | null }) => (
  <>
    {name}
    {applied === false ? (
      <>
        {" "}
        <Badge tone="bad">failed</Badge>
      </>
    ) : undefined}
  </>
)
