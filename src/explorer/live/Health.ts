/** The node's health, as it is now: asked again with every alert, since one that is over must not stay on the page. */
import { effect, signal } from "@preact/signals"
import * as Live from "./Live.js"
import { type Answer, node } from "./Node.js"
import type { Resource } from "./Resource.js"

export type Report = Answer<"core", "healthReport">

export const health = signal<Resource<Report>>({ state: "loading" })

effect(() => {
  void Live.slowBeat.value
  void Live.alerts.value
  node.core.healthReport().then(
    (value) => {
      health.value = { state: "ready", value }
    },
    // `Live` shows that the node does not answer; the next beat tries again.
    () => undefined,
  )
})
