import type { Answer } from "../live/Node.js"
import { Account } from "../show/Account.js"
import { None } from "../show/None.js"
import * as Reference from "../show/Reference.js"
import { type Column, Table } from "../show/Table.js"
import * as TypeName from "../show/TypeName.js"
import { When } from "../show/When.js"
import { Kind } from "../statement/Kind.js"
import { Memo } from "../statement/Memo.js"

type Entry = Answer<"transactions", "latest">["transactions"][number]

const To = ({ of: { transaction } }: { readonly of: Entry }) => {
  switch (transaction.type) {
    case "Transfer":
      return <Account account={transaction.to} hasCopy={false} />
    case "DelegateTx":
      return <Account account={transaction.validator} hasCopy={false} />
    default:
      return <None />
  }
}

const amountOf = ({ transaction }: Entry): number | undefined =>
  "amount" in transaction ? transaction.amount : undefined

const memoOf = (transaction: Entry["transaction"]): string | null =>
  transaction.type === "Transfer" ? (transaction.memo ?? null) : null

const columns: ReadonlyArray<Column<Entry>> = [
  { title: "Transaction", of: ({ hash }) => <Reference.Transaction hash={hash} hasCopy={false} /> },
  {
    title: "Type",
    inCard: "untitled",
    of: ({ transaction, applied }) => <Kind name={TypeName.of(transaction.type)} applied={applied} />,
  },
  { title: "From", of: ({ transaction }) => <Account account={transaction.from} hasCopy={false} /> },
  { title: "To", of: (entry) => <To of={entry} /> },
  { title: "Amount", inCard: "beside", sats: amountOf },
  { title: "Fee", sats: ({ transaction }) => transaction.fee ?? 0 },
  { title: "Memo", of: ({ transaction }) => <Memo text={memoOf(transaction)} /> },
  { title: "Time", inCard: "untitled", of: ({ timestamp }) => <When at={timestamp} /> },
]

interface Props {
  readonly rows: ReadonlyArray<Entry>
  readonly empty: string
  /** With fewer columns, beside something else. */
  readonly isShort?: boolean
}

const SHORT = ["Transaction", "Type", "Amount", "Time"]

/** Finalized transactions, newest first. */
export const TransactionTable = ({ rows, empty, isShort = false }: Props) => (
  <Table
    caption="Finalized transactions, newest first"
    rows={rows}
    keyOf={({ hash }) => hash}
    empty={empty}
    columns={isShort ? columns.filter(({ title }) => SHORT.includes(title)) : columns}
  />
)
