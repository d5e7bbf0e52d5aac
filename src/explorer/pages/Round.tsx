import * as Named from "../live/Named.js"
import { node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import * as Route from "../route/Route.js"
import { AmountCell } from "../show/Amount.js"
import { Badge } from "../show/Badge.js"
import { Loaded } from "../show/Loaded.js"
import { Facts, Page, Section } from "../show/Page.js"
import * as Reference from "../show/Reference.js"
import { Table } from "../show/Table.js"
import { When } from "../show/When.js"
import * as Words from "../show/Words.js"

const Neighbours = ({ round }: { readonly round: number }) => (
  <nav class="neighbours" aria-label="Rounds beside this one">
    {round === 0 ? undefined : <a href={Route.subject("round", round - 1)}>← {Words.count(round - 1)}</a>}
    <a href={Route.subject("round", round + 1)}>{Words.count(round + 1)} →</a>
  </nav>
)

const read = async (text: string) => {
  const round = Named.round(text)
  return node.dag.round({ path: { round } })
}

export const Round = ({ round }: { readonly round: string }) => {
  const record = useResource(`round ${round}`, () => read(round))
  const title = /^\d+$/.test(round) ? Words.count(Number(round)) : round
  return (
    <Page kind="Round" title={title}>
      <Loaded of={record} what="this round">
        {({ round: number, finalized, timestamp, vertices }) => (
          <>
            <Facts
              of={[
                [
                  "State",
                  finalized ? <Badge tone="good">finalized</Badge> : <Badge tone="waiting">not final yet</Badge>,
                ],
                ["Time", <When at={timestamp} />],
                ["Vertices", vertices.length],
                ["Transactions", Words.count(vertices.reduce((sum, { tx_count }) => sum + tx_count, 0))],
                ["Beside", <Neighbours round={number} />],
              ]}
            />
            <Section title="Vertices">
              <Table
                caption={`Vertices of round ${number}`}
                rows={vertices}
                keyOf={({ hash }) => hash}
                empty={number === 0 ? "The genesis round has no vertices." : "No vertex of this round is known."}
                columns={[
                  { title: "Vertex", of: ({ hash }) => <Reference.Vertex hash={hash} /> },
                  {
                    title: "Validator",
                    of: ({ validator }) => <Reference.Address address={validator} as="validator" />,
                  },
                  { title: "Transactions", isFigure: true, of: ({ tx_count }) => Words.count(tx_count) },
                  { title: "Parents", isFigure: true, isMinor: true, of: ({ parent_count }) => parent_count },
                  {
                    title: "Reward, UDG",
                    isFigure: true,
                    isMinor: true,
                    of: ({ reward }) => <AmountCell sats={reward} />,
                  },
                ]}
              />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}
