import { useState } from "preact/hooks"
import * as Network from "../live/Network.js"
import { node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import * as History from "../route/History.js"
import { Account } from "../show/Account.js"
import { Loaded } from "../show/Loaded.js"
import { Page } from "../show/Page.js"
import { Pager } from "../show/Pager.js"
import * as TypeName from "../show/TypeName.js"
import * as Filter from "./TransactionFilter.js"
import { TransactionFilters } from "./TransactionFilters.js"
import { TransactionTable } from "./TransactionTable.js"

const LIMIT = 50

const emptyOf = (filter: Filter.Filter, hasOlder: boolean): string => {
  const { type, account, direction, words } = filter
  const what = type === undefined ? "transaction" : `“${TypeName.of(type)}”`
  if (hasOlder) return `None of the 500 newest transactions matches. Older ones can.`
  const days = Filter.hasDays(filter) ? " in these days" : ""
  if (account !== undefined) {
    const how = direction === "sent" ? "sent by" : direction === "received" ? "received by" : "of"
    return `No ${what} ${how} this account is finalized${days}.`
  }
  if (words !== undefined) return `No ${what} with the words ${words} was found${days}.`
  if (days !== "") return `No ${what} was finalized${days}.`
  return type === undefined ? "Nothing has been finalized yet." : `No ${what} has been finalized yet.`
}

export const Transactions = () => {
  const [filter, setFilter] = useState(() => Filter.read(location.search))
  /** The cursors of all pages up to this one. */
  const [pages, setPages] = useState<ReadonlyArray<string>>([])
  const cursor = pages.at(-1)
  const { account } = filter
  const urlParams = { limit: LIMIT, ...(cursor === undefined ? {} : { cursor }), ...Filter.urlParams(filter) }
  const found = useResource(`transactions ${Filter.pathOf(filter)} ${cursor}`, () =>
    account === undefined
      ? node.transactions.latest({ urlParams })
      : node.transactions.history({ path: { address: account }, urlParams }),
  )
  const change = (next: Filter.Filter): void => {
    setPages([])
    setFilter(next)
    History.replace(Filter.pathOf(next))
  }
  const whose =
    account === undefined ? (
      "of all accounts"
    ) : (
      <>
        that <Account account={account} /> {filter.direction ?? "sent or received"}
      </>
    )
  return (
    <Page title="Transactions" about={<>Finalized transactions {whose}, newest first.</>}>
      <TransactionFilters filter={filter} hasArchive={Network.network.value?.has_archive === true} onChange={change} />
      <Loaded of={found} what="the transactions" lines={8}>
        {({ transactions, next_cursor: next }) => (
          <>
            <TransactionTable rows={transactions} empty={emptyOf(filter, next !== null)} />
            <Pager pages={pages} next={next} turnTo={setPages} what="transactions" />
          </>
        )}
      </Loaded>
    </Page>
  )
}
