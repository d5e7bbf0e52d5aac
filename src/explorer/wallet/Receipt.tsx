import { node } from "../live/Node.js"
import * as PathSegment from "../live/PathSegment.js"
import { useResource } from "../live/Resource.js"
import { Outcome } from "../show/Badge.js"
import * as Reference from "../show/Reference.js"

/** The state of a transaction that was just sent. */
export const Receipt = ({ hash, what }: { readonly hash: string; readonly what: string }) => {
  const lookup = useResource(`receipt ${hash}`, () =>
    node.transactions.lookup({ path: { hash: PathSegment.hash(hash) } }),
  )
  return (
    <li class="receipt">
      <span>{what}</span>
      <Reference.Transaction hash={hash} />
      {lookup.state === "ready" ? (
        <>
          <Outcome status={lookup.value.status} applied={lookup.value.applied} />
          {lookup.value.failure === null ? undefined : <span class="quiet">{lookup.value.failure}</span>}
        </>
      ) : (
        <span class="quiet">{lookup.state === "missing" ? "no longer known" : "…"}</span>
      )}
    </li>
  )
}
