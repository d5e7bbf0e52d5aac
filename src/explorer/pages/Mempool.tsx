import { node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import { AmountCell } from "../show/Amount.js"
import { None } from "../show/None.js"
import { LoadedPage } from "../show/Page.js"
import * as Reference from "../show/Reference.js"
import { Table } from "../show/Table.js"
import * as TypeName from "../show/TypeName.js"
import { When } from "../show/When.js"

export const Mempool = () => (
  <LoadedPage
    title="Mempool"
    about="Transactions waiting to be ordered: the 100 with the highest fees, highest first."
    of={useResource("mempool", () => node.core.mempool())}
    what="the mempool"
  >
    {(transactions) => (
      <Table
        caption="Pending transactions"
        rows={transactions}
        keyOf={({ hash }) => hash}
        empty="No transactions are waiting."
        columns={[
          { title: "Transaction", of: ({ hash }) => <Reference.Transaction hash={hash} /> },
          { title: "Type", of: ({ type }) => TypeName.of(type) },
          { title: "From", of: ({ from }) => <Reference.Address address={from} hasCopy={false} /> },
          {
            title: "To",
            isMinor: true,
            of: ({ to }) => (to === undefined ? <None /> : <Reference.Address address={to} hasCopy={false} />),
          },
          { title: "Amount, UDG", isFigure: true, of: ({ amount }) => <AmountCell sats={amount} /> },
          { title: "Fee, UDG", isFigure: true, of: ({ fee }) => <AmountCell sats={fee} /> },
          { title: "Nonce", isFigure: true, isMinor: true, of: ({ nonce }) => nonce },
          { title: "Received", isMinor: true, of: ({ received_at }) => <When at={received_at} /> },
        ]}
      />
    )}
  </LoadedPage>
)
