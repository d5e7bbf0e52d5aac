import { type Answer, node } from "../live/Node.js"
import * as PathSegment from "../live/PathSegment.js"
import { useResource } from "../live/Resource.js"
import * as Route from "../route/Route.js"
import { Amount } from "../show/Amount.js"
import { Finality } from "../show/Badge.js"
import { Facts, LoadedPage, Section } from "../show/Page.js"
import * as Reference from "../show/Reference.js"
import { Table } from "../show/Table.js"
import * as TypeName from "../show/TypeName.js"
import { When } from "../show/When.js"
import * as Words from "../show/Words.js"
import * as Place from "./VertexPlace.js"

type Record = Answer<"dag", "vertex">

/** A child can be two rounds later, through a parent older than the previous round. */
const ROUNDS_AFTER = 4

const usePlace = ({ hash, round }: Record) => {
  const around = useResource(`around ${hash}`, () =>
    node.dag.columns({ urlParams: { from: round, rounds: 1 + ROUNDS_AFTER } }),
  )
  return around.state === "ready" ? Place.of(hash, around.value) : undefined
}

const orderOf = ({ commit, isDropped }: Place.Place): string => {
  if (commit !== null) return `commit ${Words.count(commit)}`
  return isDropped ? "none: its epoch closed first" : "not yet"
}

const Hashes = ({ of, empty }: { readonly of: ReadonlyArray<string>; readonly empty: string }) =>
  of.length === 0 ? (
    <p class="notice empty">{empty}</p>
  ) : (
    <ul class="hashes">
      {of.map((hash) => (
        <li key={hash}>
          <Reference.Vertex hash={hash} hasCopy={false} />
        </li>
      ))}
    </ul>
  )

const Details = ({ vertex }: { readonly vertex: Record }) => {
  const place = usePlace(vertex)
  return (
    <>
      <Facts
        of={[
          ["Hash", <Reference.Text text={vertex.hash} what="vertex hash" isWhole />],
          ["State", <Finality isFinal={vertex.finalized} />],
          ["Round", <Reference.Round round={vertex.round} />],
          ["DAG", <a href={Route.inDag(vertex.round, vertex.hash)}>show it in the picture</a>],
          ["Leads its round", place === undefined ? undefined : place.leads === null ? "no" : `yes, ${place.leads}`],
          ["Commit", place === undefined ? undefined : orderOf(place)],
          ["Validator", <Reference.Address address={vertex.validator} as="validator" isWhole />],
          ["Time", <When at={vertex.timestamp} />],
          ["Reward", <Amount sats={vertex.coinbase_reward} />],
        ]}
      />
      <Section title="Transactions" aside={Words.count(vertex.transactions.length)}>
        <Table
          caption="Transactions of the vertex"
          rows={vertex.transactions}
          keyOf={(transaction) => transaction.hash}
          empty="This vertex has no transactions."
          columns={[
            { title: "Transaction", of: (transaction) => <Reference.Transaction hash={transaction.hash} /> },
            { title: "Type", inCard: "untitled", of: ({ type }) => TypeName.of(type) },
            { title: "Outcome", inCard: "beside", of: ({ outcome }) => outcome ?? "not final yet" },
            { title: "Fee", sats: ({ fee }) => fee },
          ]}
        />
      </Section>
      <Section title="Parents" aside={vertex.parent_count}>
        <Hashes of={vertex.parents} empty="None: it is one of the first vertices of its epoch." />
      </Section>
      {place === undefined ? undefined : (
        <Section title="Children" aside={place.children.length}>
          <Hashes of={place.children} empty="None yet: no later vertex names it as a parent." />
        </Section>
      )}
    </>
  )
}

export const Vertex = ({ hash }: { readonly hash: string }) => {
  const read = async () => node.dag.vertex({ path: { hash: PathSegment.hash(hash) } })
  const record = useResource(`vertex ${hash}`, read)
  return (
    <LoadedPage kind="Vertex" title={Words.abbreviated(hash)} of={record} what="this vertex">
      {(vertex) => <Details vertex={vertex} />}
    </LoadedPage>
  )
}
