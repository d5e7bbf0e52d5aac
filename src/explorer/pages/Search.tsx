import { useEffect } from "preact/hooks"
import * as Live from "../live/Live.js"
import * as Named from "../live/Named.js"
import { isMissing, node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import * as History from "../route/History.js"
import * as Finding from "../search/Search.js"
import { LoadedPage } from "../show/Page.js"

/** Whether the node has it. Other failures than "not found" are passed on. */
const has = (answer: Promise<unknown>): Promise<boolean> =>
  answer.then(
    () => true,
    (error: unknown) => {
      if (isMissing(error)) return false
      throw error
    },
  )

const known: Finding.Known = {
  transaction: (hash) => has(node.transactions.lookup({ path: { hash: Named.hash(hash) } })),
  vertex: (hash) => has(node.dag.vertex({ path: { hash: Named.hash(hash) } })),
  name: (name) => has(node.core.balance({ path: { address: name } })),
}

export const Search = ({ query }: { readonly query: string }) => {
  const found = useResource(query, () => Finding.find(query, known), Live.never)
  const target = found.state === "ready" && found.value._tag === "Page" ? found.value.href : undefined
  useEffect(() => {
    if (target !== undefined) History.replace(target)
  }, [target])
  return (
    <LoadedPage title="Search" of={found} what="the search results">
      {(result) =>
        result._tag === "Page" ? undefined : (
          <div class="notice missing">
            <p>Not found: {result.complaint}.</p>
            <p class="quiet">
              You can search for addresses (40 hex characters or {"tudg1…"}), @names, transaction and vertex hashes (64
              hex characters), rounds, and proposals as #1.
            </p>
          </div>
        )
      }
    </LoadedPage>
  )
}
