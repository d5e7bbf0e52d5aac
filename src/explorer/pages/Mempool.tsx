import * as Live from "../live/Live.js"
import { node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import { None } from "../show/None.js"
import { LoadedPage } from "../show/Page.js"
import * as Reference from "../show/Reference.js"
import { Table } from "../show/Table.js"
import * as TypeName from "../show/TypeName.js"
import { When } from "../show/When.js"

export const Mempool = () => (
  <LoadedPage
    title="Mempool"
    about="Pending transactions: the 100 with the highest fees, highest first."
    of={useResource("mempool", () => node.core.mempool(), Live.anyBeat)}
    what="the mempool"
  >
    {(transactions) => (
      <Table
        caption="Pending transactions"
        rows={transactions}
        keyOf={({ hash }) => hash}
        empty="No transactions are pending."
        columns={[
          { title: "Transaction", of: ({ hash }) => <Reference.Transaction hash={hash} /> },
          { title: "Type", inCard: "untitled", of: ({ type }) => TypeName.of(type) },
          { title: "From", of: ({ from }) => <Reference.Address address={from} hasCopy={false} /> },
          {
            title: "To",
            of: ({ to }) => (to === undefined ? <None /> : <Reference.Address address={to} hasCopy={false} />),
          },
          {
            title: "Amount",

            inCard: "beside",
            sats: ({ amount }) => amount,
          },
          { title: "Fee", sats: ({ fee }) => fee },
          { title: "Nonce", isFigure: true, of: ({ nonce }) => nonce },
          { title: "Received", of: ({ received_at }) => <When at={received_at} /> },
        ]}
      />
    )}
  </LoadedPage>
)
