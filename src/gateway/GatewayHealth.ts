/** The health report of a gateway: a node's, the archive's distance behind that node, and the gateway's own problems. */
import { type Status, worst } from "../node/reads/Health.js"
import { PAGES, type Problem } from "../node/reads/Problems.js"
import type * as Natural from "../protocol/numbers/Natural.js"
import * as Words from "../protocol/numbers/Words.js"
import type { HealthReport } from "../rpc/api/Core.js"

type Report = typeof HealthReport.Type

/** An archive in step lacks the rounds of a second or two. */
const HEALTHY_ROUNDS = 20
/** Above, the alert UdgArchiveLag fires as well. */
const WARNING_ROUNDS = 100

interface Last {
  readonly round: Natural.Round
  readonly time: Natural.Timestamp
}

/** `last` is the archive's last commit, which tells how old the gateway's answers are; `own` are the gateway's problems. */
export const including = (report: Report, last: Last, own: ReadonlyArray<Problem>): Report => {
  const { finality } = report.components
  const lag = Math.max(0, finality.finalized_round - last.round)
  const status: Status = lag <= HEALTHY_ROUNDS ? "healthy" : lag <= WARNING_ROUNDS ? "warning" : "unhealthy"
  const components = { ...report.components, archive: { status, finalized_round: last.round, lag } } as const
  const reason = `${Words.counted(lag, "round")} behind, so this gateway's answers about final data are old`
  const problems =
    status === "healthy"
      ? own
      : [{ component: "archive", status, reason, since: last.time, page: PAGES.archive }, ...own]
  return {
    status: worst([report.status, ...problems.map((problem) => problem.status)]),
    components,
    problems: [...problems, ...report.problems],
  }
}
