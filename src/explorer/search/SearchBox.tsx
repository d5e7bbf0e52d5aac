import { useEffect, useRef, useState } from "preact/hooks"
import * as History from "../route/History.js"
import * as Route from "../route/Route.js"
import { Icon } from "../show/Icon.js"
import * as Words from "../show/Words.js"
import type { Match } from "./Search.js"
import { useSuggestions } from "./Suggestions.js"

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** The search box. The key `/` focuses it from anywhere. */
export const SearchBox = () => {
  const [text, setText] = useState("")
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || isTyping(event.target)) return
      event.preventDefault()
      input.current?.focus()
    }
    addEventListener("keydown", onKey)
    return () => removeEventListener("keydown", onKey)
  }, [])
  const suggestions = useSuggestions(text)
  const [chosen, setChosen] = useState(-1)
  const [isOpen, setIsOpen] = useState(false)
  const isShown = isOpen && suggestions.length > 0
  const finish = (href: string): void => {
    History.go(href)
    setText("")
    setIsOpen(false)
    input.current?.blur()
  }
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const suggestion = isShown ? suggestions[chosen] : undefined
    const query = text.trim()
    if (suggestion !== undefined) finish(suggestion.href)
    else if (query !== "") finish(Route.search(query))
  }
  const type = (typed: string): void => {
    setText(typed)
    setChosen(-1)
    setIsOpen(true)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Escape") setIsOpen(false)
    if (!isShown || (event.key !== "ArrowDown" && event.key !== "ArrowUp")) return
    event.preventDefault()
    const step = event.key === "ArrowDown" ? 1 : -1
    setChosen(Math.max(-1, Math.min(suggestions.length - 1, chosen + step)))
  }
  return (
    <search>
      <form class="search" onSubmit={submit}>
        <Icon name="search" />
        <input
          ref={input}
          type="text"
          inputMode="search"
          enterkeyhint="search"
          value={text}
          onInput={({ currentTarget }) => type(currentTarget.value)}
          onKeyDown={onKeyDown}
          onFocus={() => setIsOpen(true)}
          onBlur={() => setIsOpen(false)}
          placeholder="Address, @name, hash or round…"
          role="combobox"
          aria-label="Search by address, @name, transaction, vertex, round or #proposal"
          aria-expanded={isShown}
          aria-controls="suggestions"
          aria-autocomplete="list"
          aria-activedescendant={isShown && chosen >= 0 ? `suggestion-${chosen}` : undefined}
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
        />
        <kbd title="press / to search">/</kbd>
      </form>
      <Suggestions of={isShown ? suggestions : []} chosen={chosen} onChoose={finish} />
    </search>
  )
}

interface SuggestionsProps {
  readonly of: ReadonlyArray<Match>
  readonly chosen: number
  readonly onChoose: (href: string) => void
}

/** The box keeps the focus, because a press on a suggestion must not take it away before the click. */
const Suggestions = ({ of, chosen, onChoose }: SuggestionsProps) => (
  <div
    class="suggestions"
    id="suggestions"
    role="listbox"
    aria-label="Suggestions"
    hidden={of.length === 0}
    onMouseDown={(event) => event.preventDefault()}
  >
    {of.map(({ kind, text, href }, i) => (
      // biome-ignore lint/a11y/useKeyWithClickEvents: the box handles the keys
      <div
        key={href}
        id={`suggestion-${i}`}
        role="option"
        tabIndex={-1}
        aria-selected={i === chosen}
        onClick={() => onChoose(href)}
      >
        <span class="quiet">{kind}</span>{" "}
        <span>{kind === "Name" || kind === "Label" ? text : Words.abbreviated(text)}</span>
      </div>
    ))}
  </div>
)
