import { useEffect } from "preact/hooks"
import * as Live from "../live/Live.js"
import * as Named from "../live/Named.js"
import { isMissing, node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import * as History from "../route/History.js"
import * as Finding from "../search/Search.js"
import { beginningWith } from "../search/Suggestions.js"
import { LoadedPage } from "../show/Page.js"
import { Table } from "../show/Table.js"

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
  beginningWith,
  name: (name) => has(node.core.balance({ path: { address: name } })),
}

const Matches = ({ of }: { readonly of: ReadonlyArray<Finding.Match> }) => (
  <Table
    caption="What begins so"
    rows={of}
    keyOf={({ href }) => href}
    empty="Nothing."
    columns={[
      { title: "Kind", of: ({ kind }) => kind },
      {
        title: "What begins so",
        inCard: "untitled",
        of: ({ text, href }) => (
          <a class="mono" href={href}>
            {text}
          </a>
        ),
      },
    ]}
  />
)

export const Search = ({ query }: { readonly query: string }) => {
  const found = useResource(query, () => Finding.find(query, known), Live.never)
  const target = found.state === "ready" && found.value._tag === "Page" ? found.value.href : undefined
  useEffect(() => {
    if (target !== undefined) History.replace(target)
  }, [target])
  return (
    <LoadedPage title="Search" of={found} what="the search results">
      {(result) =>
        result._tag === "Page" ? undefined : result._tag === "Several" ? (
          <Matches of={result.matches} />
        ) : (
          <div class="notice missing">
            <p>Not found: {result.complaint}.</p>
            <p class="quiet">
              You can search for addresses (40 hex characters or {"tudg1…"}), @names, transaction and vertex hashes (64
              hex characters), the first four or more of either, rounds, and proposals as #1.
            </p>
          </div>
        )
      }
    </LoadedPage>
  )
}
