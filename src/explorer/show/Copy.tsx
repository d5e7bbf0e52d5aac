import { useEffect, useState } from "preact/hooks"
import { Icon } from "./Icon.js"

/** Copies a text to the clipboard and confirms it. */
export const Copy = ({ text, what }: { readonly text: string; readonly what: string }) => {
  const [state, setState] = useState<"ready" | "copied" | "failed">("ready")
  useEffect(() => {
    if (state === "ready") return
    const timer = setTimeout(() => setState("ready"), 1_500)
    return () => clearTimeout(timer)
  }, [state])
  const copy = (event: MouseEvent): void => {
    event.preventDefault()
    // Browsers offer the clipboard only over https and on localhost.
    const written = navigator.clipboard === undefined ? Promise.reject() : navigator.clipboard.writeText(text)
    written.then(
      () => setState("copied"),
      () => setState("failed"),
    )
  }
  const label = state === "copied" ? "copied" : state === "failed" ? "not copied" : `copy ${what}`
  return (
    <button type="button" class={`copy ${state}`} onClick={copy} aria-label={label} title={label}>
      <Icon name={state === "copied" ? "done" : "copy"} />
      <span class="unseen" role="status">
        {state === "ready" ? "" : label}
      </span>
    </button>
  )
}
