import { useState } from "preact/hooks"
import { TYPE_BYTE, type Type } from "../../protocol/transaction/Operation.js"
import { node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import * as History from "../route/History.js"
import * as Route from "../route/Route.js"
import { Loaded } from "../show/Loaded.js"
import { Page } from "../show/Page.js"
import { Pager } from "../show/Pager.js"
import { TransactionTable } from "./TransactionTable.js"

const types = Object.keys(TYPE_BYTE) as ReadonlyArray<Type>

const LIMIT = 50

/** An account's transactions are on its page. */
const AccountFilter = () => {
  const [text, setText] = useState("")
  const open = (event: SubmitEvent): void => {
    event.preventDefault()
    if (text.trim() !== "") History.go(Route.subject("address", text.trim()))
  }
  return (
    <form class="filter" onSubmit={open}>
      <label>
        Account{" "}
        <input
          type="text"
          value={text}
          placeholder="address or @name"
          spellcheck={false}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>{" "}
      <button type="submit" class="button">
        Show its history
      </button>
    </form>
  )
}

export const Transactions = () => {
  const [type, setType] = useState<Type | undefined>(undefined)
  /** The cursors of all pages up to this one. */
  const [pages, setPages] = useState<ReadonlyArray<string>>([])
  const cursor = pages.at(-1)
  const urlParams = {
    limit: LIMIT,
    ...(type === undefined ? {} : { type }),
    ...(cursor === undefined ? {} : { cursor }),
  }
  const latest = useResource(`transactions ${type} ${cursor}`, () => node.transactions.latest({ urlParams }))
  const select = (value: string): void => {
    setPages([])
    setType(types.find((one) => one === value))
  }
  return (
    <Page title="Transactions" about="Finalized transactions of everybody, newest first.">
      <div class="filters">
        <label class="filter">
          Type{" "}
          <select value={type ?? ""} onChange={({ currentTarget }) => select(currentTarget.value)}>
            <option value="">all</option>
            {types.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
        <AccountFilter />
      </div>
      <Loaded of={latest} what="the transactions" lines={8}>
        {({ transactions, next_cursor: next }) => (
          <>
            <TransactionTable
              rows={transactions}
              empty={
                next === null
                  ? "Nothing was finalized yet."
                  : `None of the latest 500 transactions is a ${type ?? "transaction"}. Older ones may be.`
              }
            />
            <Pager pages={pages} next={next} turnTo={setPages} what="transactions" />
          </>
        )}
      </Loaded>
    </Page>
  )
}
