import * as Named from "../live/Named.js"
import { node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import { Amount, AmountCell } from "../show/Amount.js"
import { Badge } from "../show/Badge.js"
import { Loaded } from "../show/Loaded.js"
import { Facts, Page, Section } from "../show/Page.js"
import * as Reference from "../show/Reference.js"
import { Table } from "../show/Table.js"
import { When } from "../show/When.js"
import * as Words from "../show/Words.js"

const read = async (text: string) => {
  const hash = Named.hash(text)
  return node.dag.vertex({ path: { hash } })
}

export const Vertex = ({ hash }: { readonly hash: string }) => {
  const record = useResource(`vertex ${hash}`, () => read(hash))
  return (
    <Page kind="Vertex" title={Words.abbreviated(hash)}>
      <Loaded of={record} what="this vertex">
        {(vertex) => (
          <>
            <Facts
              of={[
                ["Hash", <Reference.Hash hash={vertex.hash} what="vertex hash" isWhole />],
                [
                  "State",
                  vertex.finalized ? <Badge tone="good">finalized</Badge> : <Badge tone="waiting">not final yet</Badge>,
                ],
                ["Round", <Reference.Round round={vertex.round} />],
                ["Validator", <Reference.Address address={vertex.validator} as="validator" isWhole />],
                ["Made", <When at={vertex.timestamp} />],
                ["Reward", <Amount sats={vertex.coinbase_reward} />],
              ]}
            />
            <Section title="Transactions" aside={Words.count(vertex.transactions.length)}>
              <Table
                caption="Transactions of the vertex"
                rows={vertex.transactions}
                keyOf={(transaction) => transaction.hash}
                empty="It carries no transactions."
                columns={[
                  { title: "Transaction", of: (transaction) => <Reference.Transaction hash={transaction.hash} /> },
                  { title: "Type", of: ({ type }) => type },
                  { title: "Fee, UDG", isFigure: true, of: ({ fee }) => <AmountCell sats={fee} /> },
                ]}
              />
            </Section>
            <Section title="Parents" aside={vertex.parent_count}>
              {vertex.parents.length === 0 ? (
                <p class="notice empty">None: it is among the first of its epoch.</p>
              ) : (
                <ul class="hashes">
                  {vertex.parents.map((parent) => (
                    <li key={parent}>
                      <Reference.Vertex hash={parent} hasCopy={false} />
                    </li>
                  ))}
                </ul>
              )}
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}
