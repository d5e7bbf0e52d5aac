/** The node's health, as it is now: asked again with every alert, since one that is over must not stay on the page. */
import { computed, effect, signal } from "@preact/signals"
import * as Live from "./Live.js"
import { type Answer, node } from "./Node.js"
import type { Resource } from "./Resource.js"

export type Report = Answer<"core", "healthReport">
export type Problem = Report["problems"][number]

export const health = signal<Resource<Report>>({ state: "loading" })

/** The problems there were at the beat before. */
const before = signal<ReadonlyArray<Problem>>([])

const problemsOf = (resource: Resource<Report>): ReadonlyArray<Problem> =>
  resource.state === "ready" ? resource.value.problems : []

/** What everybody should see: a finality that lags for a second is in the report, and no reason to worry anybody. */
export const lasting = computed(() =>
  problemsOf(health.value).filter(
    ({ component, status, since }) =>
      status === "unhealthy" || before.value.some((known) => known.component === component && known.since === since),
  ),
)

const ask = (): Promise<void> =>
  node.core.healthReport().then(
    (value) => {
      health.value = { state: "ready", value }
    },
    // `Live` shows that the node does not answer; the next beat tries again.
    () => undefined,
  )

effect(() => {
  void Live.slowBeat.value
  before.value = problemsOf(health.peek())
  void ask()
})

effect(() => {
  if (Live.alerts.value > 0) void ask()
})
