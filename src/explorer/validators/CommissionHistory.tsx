import { type Answer, node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import { Loaded } from "../show/Loaded.js"
import { Section } from "../show/Page.js"
import * as Reference from "../show/Reference.js"
import { Table } from "../show/Table.js"
import { When } from "../show/When.js"

type Entry = Answer<"transactions", "history">["transactions"][number]

interface Change {
  readonly entry: Entry
  readonly percent: number
}

const changesOf = (entries: ReadonlyArray<Entry>): ReadonlyArray<Change> =>
  entries.flatMap((entry) =>
    entry.transaction.type === "SetCommissionTx" && entry.applied === true
      ? [{ entry, percent: entry.transaction.commission_percent }]
      : [],
  )

const MOST = 100

/** When the validator changed its commission, newest first. */
export const CommissionHistory = ({ account, initial }: { readonly account: string; readonly initial: string }) => {
  const history = useResource(`commissions ${account}`, () =>
    node.transactions.history({
      path: { address: account },
      urlParams: { type: "SetCommissionTx", limit: MOST },
    }),
  )
  return (
    <Section title="Commission">
      <Loaded of={history} what="its commissions" lines={2}>
        {({ transactions, next_cursor: next }) => (
          <Table
            caption="Commission changes, newest first"
            rows={changesOf(transactions)}
            keyOf={({ entry }) => entry.hash}
            empty={
              next === null ? `Never set: ${initial}, the default.` : "Not set in the account's last 500 transactions."
            }
            columns={[
              { title: "Set to", of: ({ percent }) => `${percent} %` },
              { title: "When", inCard: "beside", of: ({ entry }) => <When at={entry.timestamp} /> },
              { title: "Transaction", of: ({ entry }) => <Reference.Transaction hash={entry.hash} hasCopy={false} /> },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}
