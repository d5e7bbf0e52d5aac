import { useState } from "preact/hooks"
import { type Answer, node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import { AmountCell } from "../show/Amount.js"
import { Outcome } from "../show/Badge.js"
import { Loaded } from "../show/Loaded.js"
import { None } from "../show/None.js"
import { Section } from "../show/Page.js"
import * as Reference from "../show/Reference.js"
import { Table } from "../show/Table.js"
import { When } from "../show/When.js"
import { Account } from "./Account.js"

type Entry = Answer<"transactions", "history">["transactions"][number]

/** The other party of the transaction. */
const Other = ({ of: { direction, transaction } }: { readonly of: Entry }) => {
  if (direction === "received") return <Account account={transaction.from} />
  switch (transaction.type) {
    case "Transfer":
      return <Account account={transaction.to} />
    case "DelegateTx":
      return <Account account={transaction.validator} />
    default:
      return <None />
  }
}

const amountOf = ({ transaction }: Entry): number | undefined =>
  "amount" in transaction ? transaction.amount : undefined

const LIMIT = 25

/** The account's transactions, newest first, a page at a time. */
export const History = ({ account }: { readonly account: string }) => {
  /** The cursors of all pages up to this one. */
  const [pages, setPages] = useState<ReadonlyArray<string>>([])
  const cursor = pages.at(-1)
  const urlParams = cursor === undefined ? { limit: LIMIT } : { limit: LIMIT, cursor }
  const history = useResource(`history ${account} ${cursor ?? ""}`, () =>
    node.transactions.history({ path: { address: account }, urlParams }),
  )
  return (
    <Section title="Transactions">
      <Loaded of={history} what="its transactions">
        {({ transactions, next_cursor: next }) => (
          <>
            <Table
              caption="Transactions of the account, newest first"
              rows={transactions}
              keyOf={({ hash }) => hash}
              empty="This account has neither sent nor received anything."
              columns={[
                { title: "Transaction", of: ({ hash }) => <Reference.Transaction hash={hash} hasCopy={false} /> },
                { title: "Type", of: ({ transaction }) => transaction.type },
                { title: "", of: ({ direction }) => <span class={`direction ${direction}`}>{direction}</span> },
                { title: "With", isMinor: true, of: (entry) => <Other of={entry} /> },
                { title: "Amount, UDG", isFigure: true, of: (entry) => <AmountCell sats={amountOf(entry)} /> },
                { title: "State", of: ({ status, applied }) => <Outcome status={status} applied={applied} /> },
                { title: "Time", isMinor: true, of: ({ timestamp }) => <When at={timestamp} /> },
              ]}
            />
            {pages.length === 0 && next === null ? undefined : (
              <nav class="pager" aria-label="Pages of the history">
                <button
                  type="button"
                  class="button"
                  disabled={pages.length === 0}
                  onClick={() => setPages(pages.slice(0, -1))}
                >
                  ← Newer
                </button>
                <button
                  type="button"
                  class="button"
                  disabled={next === null}
                  onClick={() => next !== null && setPages([...pages, next])}
                >
                  Older →
                </button>
              </nav>
            )}
          </>
        )}
      </Loaded>
    </Section>
  )
}
