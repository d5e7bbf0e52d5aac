/** Examines a running node over its HTTP interface. */
import { Clock, Effect, Either } from "effect"
import * as Client from "../../client/Effects.js"
import type { Versions } from "../../node/start/Versions.js"
import type { Finding } from "./Finding.js"
import * as Found from "./Finding.js"

const PAGES = {
  clock: "docs/operations/alerts.md#udgclockoff",
  peers: "docs/operations/alerts.md#udgpeercount",
  down: "docs/operations/alerts.md#udgdown",
  upgrade: "docs/operations/upgrade.md",
} as const

const PATIENCE_MS = 5_000
/** The Date header has whole seconds, and a response takes time. */
const CLOCK_TOLERANCE_MS = 5_000

const reasonOf = (error: unknown): string =>
  error instanceof Error ? (error.cause === undefined ? error.message : reasonOf(error.cause)) : String(error)

/** The node's clock when it answered; null if a proxy removed the header. */
const answeredAt = (url: string): Effect.Effect<Either.Either<number | null, string>> =>
  Effect.tryPromise({
    try: async (signal) => {
      const answer = await fetch(`${url}/health`, {
        signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
      })
      const text = await answer.text()
      if (!answer.ok || !/"status"\s*:\s*"ok"/.test(text)) throw new Error(`status ${answer.status}: not a node`)
      const at = Date.parse(answer.headers.get("date") ?? "")
      return Number.isNaN(at) ? null : at
    },
    catch: reasonOf,
  }).pipe(Effect.either)

const clock = (at: number | null): Effect.Effect<ReadonlyArray<Finding>> =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    if (at === null) return []
    const apartMs = Math.abs(at - now)
    return apartMs > CLOCK_TOLERANCE_MS
      ? [
          Found.warning(
            "clock",
            `the node's clock and this machine's are ${Math.round(apartMs / 1_000)} seconds apart`,
            PAGES.clock,
          ),
        ]
      : [Found.ok("clock", "the node's clock and this machine's agree")]
  })

/** Null for a node of another implementation. */
type Theirs = { readonly program: string; readonly protocol: number; readonly wire: number } | null

const versions = (theirs: Theirs, own: Versions): Finding => {
  if (theirs === null) return Found.warning("versions", "the node does not report its versions", PAGES.upgrade)
  const { program, protocol, wire } = theirs
  const said = `the node is udg ${program}, protocol ${protocol}, wire ${wire}`
  return protocol !== own.protocol || wire !== own.wire
    ? Found.warning("versions", `${said}; this program has ${own.protocol} and ${own.wire}`, PAGES.upgrade)
    : Found.ok("versions", said)
}

interface Connected {
  readonly peers: ReadonlyArray<{ readonly agent: string }>
  readonly bootstrap_nodes: ReadonlyArray<{ readonly address: string; readonly connected: boolean }>
}

const peers = ({ peers, bootstrap_nodes }: Connected): ReadonlyArray<Finding> => {
  const agents = [...new Set(peers.map(({ agent }) => agent))]
  const missing = bootstrap_nodes.filter(({ connected }) => !connected)
  return [
    Found.ok("peers", `${peers.length} connected${agents.length === 0 ? "" : `: ${agents.join(", ")}`}`),
    ...missing.map(({ address }) => Found.warning("peers", `${address} is configured but not connected`, PAGES.peers)),
  ]
}

/** Everything that the node reports about itself. */
export const examine = (url: string, own: Versions): Effect.Effect<ReadonlyArray<Finding>> =>
  Effect.gen(function* () {
    const at = yield* answeredAt(url)
    if (Either.isLeft(at))
      return [Found.problem("http", `${url} does not answer as a node does: ${at.left}`, PAGES.down)]
    const client = yield* Client.make(url, { retries: 0, timeoutMs: PATIENCE_MS })
    const asked = yield* Effect.either(
      Effect.all({
        status: client.core.status(),
        network: client.core.network(),
        health: client.core.healthReport(),
        peers: client.core.peers(),
      }),
    )
    if (Either.isLeft(asked))
      return [Found.problem("http", `${url} answers, but not as a node does: ${asked.left.message}`)]
    const { status, network, health, peers: connected } = asked.right
    return [
      Found.ok("http", `${url} answers`),
      ...(yield* clock(at.right)),
      versions(status.versions ?? null, own),
      Found.ok("network", `${network.network_id} (${network.mode}), ${network.genesis_hash}`),
      ...peers(connected),
      Found.ok("rounds", `${status.dag_round}, final up to ${status.last_finalized_round}`),
      ...health.problems.map(({ component, status, reason, page }) =>
        (status === "unhealthy" ? Found.problem : Found.warning)(component, reason, page),
      ),
    ]
  })
