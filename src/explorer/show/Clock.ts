/** The current time, for all relative times on the page. */
import { signal } from "@preact/signals"

export const now = signal(Date.now())

setInterval(() => {
  if (document.visibilityState === "visible") now.value = Date.now()
}, 1_000)
