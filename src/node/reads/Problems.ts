/** The problem of an unhealthy part: a sentence, its start, and the page that says what to do. */
import type { Timestamp } from "../../protocol/numbers/Natural.js"

export interface Found {
  /** The part of the health report, or the node's part that is being restarted. */
  readonly component: string
  readonly status: "degraded" | "warning" | "unhealthy"
  readonly reason: string
  /** A documentation page, relative to the installation directory. */
  readonly page: string
}

export interface Problem extends Found {
  /** When the part was first seen unhealthy, by this machine's clock. */
  readonly since: Timestamp
}

const ALERTS = "docs/operations/alerts.md"

export const PAGES = {
  silent: `${ALERTS}#udgvalidatorsilent`,
  seat: `${ALERTS}#udgvalidatorwithoutseat`,
  keys: "docs/operations/keys.md#changing-a-validators-key",
  signer: `${ALERTS}#udgsigneraway`,
  upgrade: `${ALERTS}#udgupgradeneeded`,
  standing: `${ALERTS}#udgfinalitystands`,
  lag: `${ALERTS}#udgfinalitylag`,
  stopped: "docs/operations.md#exit-codes",
  directory: "docs/operations/backup.md#a-data-directory-that-vanished",
  mempool: `${ALERTS}#udgmempoolsize`,
  peers: `${ALERTS}#udgpeercount`,
  places: "docs/operations/monitoring.md#no-free-place",
  failures: "docs/operations/monitoring.md#a-bug-in-the-network-layer",
  checkpoints: `${ALERTS}#udgcheckpointage`,
  clock: `${ALERTS}#udgclockoff`,
  archive: `${ALERTS}#udgarchivelag`,
  recovery: "docs/recovery.md",
  restarting: "docs/operations/monitoring.md#what-is-healthy",
} as const

/** Remembers when each part's problem began, however often the reason changes. */
export class Problems {
  readonly #since = new Map<string, Timestamp>()

  look(found: ReadonlyArray<Found>, at: Timestamp): ReadonlyArray<Problem> {
    const wrong = new Set(found.map(({ component }) => component))
    for (const component of this.#since.keys()) if (!wrong.has(component)) this.#since.delete(component)
    return found.map((problem) => {
      const since = this.#since.get(problem.component) ?? at
      this.#since.set(problem.component, since)
      return { ...problem, since }
    })
  }
}
