import { node } from "../live/Node.js"
import * as PathSegment from "../live/PathSegment.js"
import { useResource } from "../live/Resource.js"
import * as Route from "../route/Route.js"
import { Finality } from "../show/Badge.js"
import { Facts, LoadedPage, Section } from "../show/Page.js"
import * as Reference from "../show/Reference.js"
import { Table } from "../show/Table.js"
import { When } from "../show/When.js"
import * as Words from "../show/Words.js"

const Neighbours = ({ round }: { readonly round: number }) => (
  <nav class="neighbours" aria-label="Neighbouring rounds">
    {round === 0 ? undefined : <a href={Route.subject("round", round - 1)}>← {Words.count(round - 1)}</a>}
    <a href={Route.subject("round", round + 1)}>{Words.count(round + 1)} →</a>
  </nav>
)

export const Round = ({ round }: { readonly round: string }) => {
  const read = async () => node.dag.round({ path: { round: PathSegment.round(round) } })
  const record = useResource(`round ${round}`, read)
  const title = /^\d+$/.test(round) ? Words.count(Number(round)) : round
  return (
    <LoadedPage kind="Round" title={title} of={record} what="this round">
      {({ round: number, finalized, timestamp, vertices }) => (
        <>
          <Facts
            of={[
              ["State", <Finality isFinal={finalized} />],
              ["Time", <When at={timestamp} />],
              ["Vertices", vertices.length],
              ["Transactions", Words.count(vertices.reduce((sum, { tx_count }) => sum + tx_count, 0))],
              ["Neighbours", <Neighbours round={number} />],
            ]}
          />
          <Section title="Vertices">
            <Table
              caption={`Vertices of round ${number}`}
              rows={vertices}
              keyOf={({ hash }) => hash}
              empty={number === 0 ? "The genesis round has no vertices." : "This node knows no vertex of this round."}
              columns={[
                { title: "Vertex", of: ({ hash }) => <Reference.Vertex hash={hash} /> },
                {
                  title: "Validator",
                  of: ({ validator }) => <Reference.Address address={validator} as="validator" />,
                },
                { title: "Transactions", isFigure: true, of: ({ tx_count }) => Words.count(tx_count) },
                { title: "Parents", isFigure: true, of: ({ parent_count }) => parent_count },
                {
                  title: "Reward",

                  sats: ({ reward }) => reward,
                },
              ]}
            />
          </Section>
        </>
      )}
    </LoadedPage>
  )
}
