import type { ComponentChildren } from "preact"
import type { Report } from "../live/Health.js"
import * as Live from "../live/Live.js"
import { Badge, type Tone } from "../show/Badge.js"
import * as Reference from "../show/Reference.js"
import * as Words from "../show/Words.js"

const tones: Readonly<Record<Report["status"], Tone>> = {
  healthy: "good",
  degraded: "waiting",
  warning: "waiting",
  unhealthy: "bad",
}

/** Every part of the node with its health and figure. */
export const HealthList = ({ report }: { readonly report: Report }) => {
  const isGone = Live.connection.value === "lost"
  const { dag, finality, archive, state, mempool, network, checkpoints } = report.components
  const rows: ReadonlyArray<readonly [name: string, status: Report["status"], figure: ComponentChildren]> = [
    ["DAG", dag.status, `${Words.count(dag.vertices)} vertices`],
    ["Finality", finality.status, `${Words.counted(finality.lag, "round")} behind`],
    ...(archive === undefined
      ? []
      : [["Archive", archive.status, `${Words.counted(archive.lag, "round")} behind`] as const]),
    ["State", state.status, Words.counted(state.accounts, "account")],
    ["Mempool", mempool.status, `${Words.count(mempool.size)} of ${Words.count(mempool.capacity)}`],
    ["Network", network.status, Words.counted(network.peers, "peer")],
    [
      "Checkpoints",
      checkpoints.status,
      checkpoints.latest_round === 0 ? (
        "none yet"
      ) : (
        <>
          latest at <Reference.Round round={checkpoints.latest_round} />
        </>
      ),
    ],
  ]
  return (
    <ul class={isGone ? "health gone" : "health"}>
      {rows.map(([name, status, figure]) => (
        <li key={name}>
          <span class="name">{name}</span>
          <span class="quiet">{figure}</span>
          <Badge tone={isGone ? "quiet" : tones[status]}>{isGone ? "unknown" : status}</Badge>
        </li>
      ))}
    </ul>
  )
}
