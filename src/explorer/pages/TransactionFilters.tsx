import { useState } from "preact/hooks"
import * as TypeName from "../show/TypeName.js"
import * as Filter from "./TransactionFilter.js"

interface Props {
  readonly filter: Filter.Filter
  readonly onChange: (filter: Filter.Filter) => void
}

/** By type and account. */
export const TransactionFilters = ({ filter, onChange }: Props) => {
  const [text, setText] = useState(filter.account ?? "")
  const choose = (account: string): void => {
    setText(account.trim())
    onChange({ ...filter, account: Filter.written(account) })
  }
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    choose(text)
  }
  return (
    <form class="filters" aria-label="Filter" onSubmit={submit}>
      <label>
        Type{" "}
        <select
          value={filter.type ?? ""}
          onChange={({ currentTarget }) => onChange({ ...filter, type: Filter.typeOf(currentTarget.value) })}
        >
          <option value="">all</option>
          {Filter.types.map((one) => (
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

const WORDS_LENGTH = 200

/** By words and days, in everything that everybody ever sent: only an archive finds it. */
export const PastFilters = ({ filter, onChange }: Props) => {
  const [words, setWords] = useState(filter.words ?? "")
  const [from, setFrom] = useState(filter.from ?? "")
  const [to, setTo] = useState(filter.to ?? "")
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const [first, last] = [Filter.written(from), Filter.written(to)]
    onChange({ ...filter, words: Filter.written(words), from: first, to: last })
  }
  const clear = (): void => {
    for (const set of [setWords, setFrom, setTo]) set("")
    onChange({ type: filter.type })
  }
  const day = (title: string, value: string, set: (value: string) => void) => (
    <label>
      {title} <input type="date" value={value} onInput={({ currentTarget }) => set(currentTarget.value)} />
    </label>
  )
  return (
    <form class="filters" aria-label="In the past" onSubmit={submit}>
      <label>
        Words{" "}
        <input
          type="text"
          value={words}
          maxLength={WORDS_LENGTH}
          placeholder="in memos and proposals"
          onInput={({ currentTarget }) => setWords(currentTarget.value)}
        />
      </label>
      <span class="pair">
        {day("First day", from, setFrom)}
        {day("Last day", to, setTo)}
        <button type="submit" class="button">
          Search
        </button>
        {Filter.isOfPast(filter) ? (
          <button type="button" class="button" onClick={clear}>
            Clear
          </button>
        ) : undefined}
      </span>
    </form>
  )
}
