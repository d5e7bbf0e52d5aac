import { Badge } from "../show/Badge.js"

/** What a finalized transaction is; that it is finalized is no news in a list of such, but that it failed is. */
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
