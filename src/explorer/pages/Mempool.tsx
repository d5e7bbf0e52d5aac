import { node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import { AmountCell } from "../show/Amount.js"
import { Loaded } from "../show/Loaded.js"
import { Page } from "../show/Page.js"
import * as Reference from "../show/Reference.js"
import { Table } from "../show/Table.js"
import { When } from "../show/When.js"

export const Mempool = () => {
  const pending = useResource("mempool", () => node.core.mempool())
  return (
    <Page title="Mempool" about="Transactions that wait to be ordered: the 100 that pay most, highest fee first.">
      <Loaded of={pending} what="the mempool">
        {(transactions) => (
          <Table
            caption="Pending transactions"
            rows={transactions}
            keyOf={({ hash }) => hash}
            empty="No transaction waits."
            columns={[
              { title: "Transaction", of: ({ hash }) => <Reference.Transaction hash={hash} /> },
              { title: "Type", of: ({ type }) => type },
              { title: "From", of: ({ from }) => <Reference.Address address={from} hasCopy={false} /> },
              {
                title: "To",
                isMinor: true,
                of: ({ to }) =>
                  to === undefined ? <span class="quiet">–</span> : <Reference.Address address={to} hasCopy={false} />,
              },
              {
                title: "Amount, UDG",
                isFigure: true,
                of: ({ amount }) =>
                  amount === undefined ? <span class="quiet">–</span> : <AmountCell sats={amount} />,
              },
              { title: "Fee, UDG", isFigure: true, of: ({ fee }) => <AmountCell sats={fee} /> },
              { title: "Nonce", isFigure: true, isMinor: true, of: ({ nonce }) => nonce },
              { title: "Came", isMinor: true, of: ({ received_at }) => <When at={received_at} /> },
            ]}
          />
        )}
      </Loaded>
    </Page>
  )
}
