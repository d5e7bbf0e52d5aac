/** The time, for everything on the page that says how long ago something was. */
import { signal } from "@preact/signals"

export const now = signal(Date.now())

setInterval(() => {
  if (document.visibilityState === "visible") now.value = Date.now()
}, 1_000)
