import { useEffect, useRef, useState } from "preact/hooks"
import * as History from "../route/History.js"
import * as Route from "../route/Route.js"
import { Icon } from "../show/Icon.js"

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
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const query = text.trim()
    if (query === "") return
    History.go(Route.search(query))
    setText("")
    input.current?.blur()
  }
  return (
    <search>
      <form class="search" onSubmit={submit}>
        <Icon name="search" />
        <input
          ref={input}
          type="search"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          placeholder="Address, @name, transaction, vertex, round…"
          aria-label="Search by address, @name, transaction, vertex, round or #proposal"
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
        />
        <kbd title="press / to search">/</kbd>
      </form>
    </search>
  )
}
