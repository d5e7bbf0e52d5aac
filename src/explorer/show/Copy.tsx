import { useEffect, useState } from "preact/hooks"
import { Icon } from "./Icon.js"

/** Puts a text into the clipboard and says so. */
export const Copy = ({ text, what }: { readonly text: string; readonly what: string }) => {
  const [state, setState] = useState<"ready" | "copied" | "failed">("ready")
  useEffect(() => {
    if (state === "ready") return
    const timer = setTimeout(() => setState("ready"), 1_500)
    return () => clearTimeout(timer)
  }, [state])
  const copy = (event: MouseEvent): void => {
    event.preventDefault()
    // Outside https and localhost browsers have no clipboard to give.
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
