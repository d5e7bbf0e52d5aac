import * as Named from "../live/Named.js"
import { node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import { Amount, AmountCell } from "../show/Amount.js"
import { Finality } from "../show/Badge.js"
import { Facts, LoadedPage, Section } from "../show/Page.js"
import * as Reference from "../show/Reference.js"
import { Table } from "../show/Table.js"
import { When } from "../show/When.js"
import * as Words from "../show/Words.js"

export const Vertex = ({ hash }: { readonly hash: string }) => {
  const read = async () => node.dag.vertex({ path: { hash: Named.hash(hash) } })
  const record = useResource(`vertex ${hash}`, read)
  return (
    <LoadedPage kind="Vertex" title={Words.abbreviated(hash)} of={record} what="this vertex">
      {(vertex) => (
        <>
          <Facts
            of={[
              ["Hash", <Reference.Text text={vertex.hash} what="vertex hash" isWhole />],
              ["State", <Finality isFinal={vertex.finalized} />],
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
              empty="This vertex has no transactions."
              columns={[
                { title: "Transaction", of: (transaction) => <Reference.Transaction hash={transaction.hash} /> },
                { title: "Type", of: ({ type }) => type },
                { title: "Outcome", of: ({ outcome }) => outcome ?? "not final yet" },
                { title: "Fee, UDG", isFigure: true, of: ({ fee }) => <AmountCell sats={fee} /> },
              ]}
            />
          </Section>
          <Section title="Parents" aside={vertex.parent_count}>
            {vertex.parents.length === 0 ? (
              <p class="notice empty">None: it is one of the first vertices of its epoch.</p>
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
    </LoadedPage>
  )
}
