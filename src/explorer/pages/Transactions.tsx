import { useState } from "preact/hooks"
import { TYPE_BYTE, type Type } from "../../protocol/transaction/Operation.js"
import * as Network from "../live/Network.js"
import { node } from "../live/Node.js"
import { useResource } from "../live/Resource.js"
import * as History from "../route/History.js"
import * as Route from "../route/Route.js"
import { Account } from "../show/Account.js"
import { Loaded } from "../show/Loaded.js"
import { Page } from "../show/Page.js"
import { Pager } from "../show/Pager.js"
import * as TypeName from "../show/TypeName.js"
import { TransactionTable } from "./TransactionTable.js"

const types = Object.keys(TYPE_BYTE) as ReadonlyArray<Type>

const LIMIT = 50

interface Filter {
  readonly type?: Type | undefined
  /** An address or a @name. */
  readonly account?: string | undefined
}

const typeOf = (text: string | null): Type | undefined => types.find((one) => one === text)

/** The filter is in the address of the page, so that it can be linked to. */
const filterHere = (): Filter => {
  const query = new URLSearchParams(location.search)
  return { type: typeOf(query.get("type")), account: query.get("account") ?? undefined }
}

const pathOf = ({ type, account }: Filter): string =>
  Route.transactionsOf({ ...(type === undefined ? {} : { type }), ...(account === undefined ? {} : { account }) })

interface FiltersProps {
  readonly filter: Filter
  readonly onChange: (filter: Filter) => void
}

const Filters = ({ filter, onChange }: FiltersProps) => {
  const [text, setText] = useState(filter.account ?? "")
  const choose = (written: string): void => {
    const account = written.trim()
    setText(account)
    onChange({ ...filter, account: account === "" ? undefined : account })
  }
  return (
    <form
      class="filters"
      aria-label="Filter"
      onSubmit={(event) => {
        event.preventDefault()
        choose(text)
      }}
    >
      <label>
        Type{" "}
        <select
          value={filter.type ?? ""}
          onChange={({ currentTarget }) => onChange({ ...filter, type: typeOf(currentTarget.value) })}
        >
          <option value="">all</option>
          {types.map((one) => (
            <option key={one} value={one}>
              {TypeName.of(one)}
            </option>
          ))}
        </select>
      </label>
      <span class="pair">
        <label>
          Account{" "}
          <input
            type="text"
            value={text}
            placeholder="address or @name"
            spellcheck={false}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
        <button type="submit" class="button">
          Apply
        </button>
        {filter.account === undefined ? undefined : (
          <button type="button" class="button" onClick={() => choose("")}>
            Everybody
          </button>
        )}
      </span>
    </form>
  )
}

/** Words in memos and proposals of everybody; only an archive finds them. */
const WordFilter = ({ search }: { readonly search: (words: string) => void }) => {
  const [text, setText] = useState("")
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    search(text.trim())
  }
  return (
    <form class="filters" aria-label="Words" onSubmit={submit}>
      <span class="pair">
        <label>
          Words{" "}
          <input
            type="text"
            value={text}
            maxLength={200}
            placeholder="in memos and proposals"
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
        <button type="submit" class="button">
          Search
        </button>
      </span>
    </form>
  )
}

const emptyOf = ({ type, account }: Filter, words: string, hasOlder: boolean): string => {
  if (account === undefined && words !== "") return `Nothing with the words ${words} was found.`
  const what = type === undefined ? "transaction" : `“${TypeName.of(type)}”`
  if (hasOlder) return `None of the latest 500 transactions is a ${what}. Older ones may be.`
  if (account !== undefined) return `No ${what} of this account is finalized.`
  return type === undefined ? "Nothing was finalized yet." : `No ${what} was finalized yet.`
}

export const Transactions = () => {
  const [filter, setFilter] = useState(filterHere)
  const [words, setWords] = useState("")
  /** The cursors of all pages up to this one. */
  const [pages, setPages] = useState<ReadonlyArray<string>>([])
  const cursor = pages.at(-1)
  const { type, account } = filter
  const urlParams = {
    limit: LIMIT,
    ...(type === undefined ? {} : { type }),
    ...(cursor === undefined ? {} : { cursor }),
  }
  const found = useResource(`transactions ${type} ${account} ${cursor} ${words}`, () =>
    account === undefined
      ? node.transactions.latest({ urlParams: { ...urlParams, ...(words === "" ? {} : { words }) } })
      : node.transactions.history({ path: { address: account }, urlParams }),
  )
  const change = (next: Filter): void => {
    setPages([])
    setFilter(next)
    History.replace(pathOf(next))
  }
  const search = (next: string): void => {
    setPages([])
    setWords(next)
  }
  const whose =
    account === undefined ? (
      "of everybody"
    ) : (
      <>
        that <Account account={account} /> sent or received
      </>
    )
  return (
    <Page title="Transactions" about={<>Finalized transactions {whose}, newest first.</>}>
      <Filters filter={filter} onChange={change} />
      {account === undefined && Network.network.value?.has_archive === true ? (
        <WordFilter search={search} />
      ) : undefined}
      <Loaded of={found} what="the transactions" lines={8}>
        {({ transactions, next_cursor: next }) => (
          <>
            <TransactionTable rows={transactions} empty={emptyOf(filter, words, next !== null)} />
            <Pager pages={pages} next={next} turnTo={setPages} what="transactions" />
          </>
        )}
      </Loaded>
    </Page>
  )
}
