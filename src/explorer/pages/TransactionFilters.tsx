import { useState } from "preact/hooks"
import * as TypeName from "../show/TypeName.js"
import * as Filter from "./TransactionFilter.js"

interface Props {
  readonly filter: Filter.Filter
  /** Only an archive can search for words. */
  readonly hasArchive: boolean
  readonly onChange: (filter: Filter.Filter) => void
}

const WORDS_LENGTH = 200

const directionNames: Readonly<Record<Filter.Direction, string>> = { sent: "sent by it", received: "received by it" }

type Texts = Readonly<Record<"account" | "words" | "from" | "to", string>>

const textsOf = ({ account = "", words = "", from = "", to = "" }: Filter.Filter): Texts => ({
  ...{ account, words, from, to },
})

const isAny = ({ type: _, ...others }: Filter.Filter): boolean =>
  Object.values(others).some((value) => value !== undefined)

const Choices = ({ filter, onChange }: Omit<Props, "hasArchive">) => (
  <>
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
    {filter.account === undefined ? undefined : (
      <label>
        Direction{" "}
        <select
          value={filter.direction ?? ""}
          onChange={({ currentTarget }) => onChange({ ...filter, direction: Filter.directionOf(currentTarget.value) })}
        >
          <option value="">both</option>
          {Filter.directions.map((one) => (
            <option key={one} value={one}>
              {directionNames[one]}
            </option>
          ))}
        </select>
      </label>
    )}
  </>
)

/**
 * Filters by type, account, direction and time, and with an archive by words. Choices apply at once, typed text with
 * Apply.
 */
export const TransactionFilters = ({ filter, hasArchive, onChange }: Props) => {
  const [texts, setTexts] = useState(() => textsOf(filter))
  const apply = (next: Filter.Filter): void => {
    setTexts(textsOf(next))
    onChange(next)
  }
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const [account, words] = [Filter.written(texts.account), Filter.written(texts.words)]
    apply({ ...filter, account, words, from: Filter.written(texts.from), to: Filter.written(texts.to) })
  }
  const set = (name: keyof Texts) => (event: { readonly currentTarget: { readonly value: string } }) =>
    setTexts({ ...texts, [name]: event.currentTarget.value })
  return (
    <form class="filters" aria-label="Filter" onSubmit={submit}>
      <Choices filter={filter} onChange={onChange} />
      <label>
        Account{" "}
        <input
          type="text"
          value={texts.account}
          placeholder="address or @name"
          spellcheck={false}
          onInput={set("account")}
        />
      </label>
      {hasArchive && filter.account === undefined ? (
        <label>
          Words{" "}
          <input
            type="text"
            value={texts.words}
            maxLength={WORDS_LENGTH}
            placeholder="in memos and proposals"
            onInput={set("words")}
          />
        </label>
      ) : undefined}
      <label>
        First day <input type="date" value={texts.from} onInput={set("from")} />
      </label>
      <label>
        Last day <input type="date" value={texts.to} onInput={set("to")} />
      </label>
      <span class="pair">
        <button type="submit" class="button">
          Apply
        </button>
        {isAny(filter) ? (
          <button type="button" class="button" onClick={() => apply({ type: filter.type })}>
            Clear
          </button>
        ) : undefined}
      </span>
    </form>
  )
}
