/** The node's current health, loaded again with every alert so that resolved problems disappear. */
import { computed, effect, signal } from "@preact/signals"
import * as Live from "./Live.js"
import { type Answer, node } from "./Node.js"
import type { Resource } from "./Resource.js"

export type Report = Answer<"core", "healthReport">
export type Problem = Report["problems"][number]

export const health = signal<Resource<Report>>({ state: "loading" })

/** The problems at the previous beat. */
const before = signal<ReadonlyArray<Problem>>([])

const problemsOf = (resource: Resource<Report>): ReadonlyArray<Problem> =>
  resource.state === "ready" ? resource.value.problems : []

/** Problems to show everybody. Finality that lags for a second is in the report, but not a reason to worry. */
export const lasting = computed(() =>
  problemsOf(health.value).filter(
    ({ component, status, since }) =>
      status === "unhealthy" || before.value.some((known) => known.component === component && known.since === since),
  ),
)

/** Problems that make what the pages show older than it looks. */
const OLD: ReadonlySet<string> = new Set(["archive", "sync", "catch_up"])

/** Whether the data is lastingly behind the network's. */
export const isBehind = computed(() => lasting.value.some(({ component }) => OLD.has(component)))

/** How many final rounds a gateway's archive lacks; undefined at a node, and unless there are many. */
export const archiveLag = computed(() =>
  isBehind.value && health.value.state === "ready" ? health.value.value.components.archive?.lag : undefined,
)

const ask = (): Promise<void> =>
  node.core.healthReport().then(
    (value) => {
      health.value = { state: "ready", value }
    },
    // `Live` reports that the node does not answer; the next beat retries.
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
