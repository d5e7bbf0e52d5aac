import { useEffect } from "preact/hooks"
import * as Live from "../live/Live.js"
import { useResource } from "../live/Resource.js"
import * as History from "../route/History.js"
import { known } from "../search/Questions.js"
import * as Finding from "../search/Search.js"
import { LoadedPage } from "../show/Page.js"
import { Table } from "../show/Table.js"

const Matches = ({ of }: { readonly of: ReadonlyArray<Finding.Match> }) => (
  <Table
    caption="Matches"
    rows={of}
    keyOf={({ href }) => href}
    empty="Nothing."
    columns={[
      { title: "Kind", of: ({ kind }) => kind },
      {
        title: "Match",
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
  // Asks again, because a hash can be searched for before its transaction reaches this node.
  const found = useResource(query, () => Finding.find(query, known), Live.slowBeat)
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
              hex characters), or their first four or more characters, rounds, and proposals as #1.
            </p>
          </div>
        )
      }
    </LoadedPage>
  )
}
