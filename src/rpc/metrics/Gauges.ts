/** The gauges that alerts and dashboards read. A node exposes them of itself, `udg exporter` of a node elsewhere. */
import * as Prom from "prom-client"
import type { Figures } from "../../node/reads/Metrics.js"

const gauges: ReadonlyArray<readonly [name: string, of: keyof Figures, help: string]> = [
  ["udg_dag_round", "dagRound", "Highest round seen in the DAG"],
  ["udg_finalized_round", "finalizedRound", "Round of the last committed leader"],
  ["udg_finality_lag", "finalityLag", "Rounds between the highest and the last finalized one"],
  ["udg_peer_count", "peers", "Connected nodes"],
  ["udg_mempool_size", "mempoolSize", "Pending transactions"],
  ["udg_checkpoint_latest", "latestCheckpoint", "Round of the latest quorum checkpoint"],
  ["udg_total_supply_sats", "totalSupply", "Everything that exists, in sats"],
  ["udg_total_staked_sats", "totalStaked", "Own stakes and delegations, in sats"],
  ["udg_active_validators", "activeValidators", "Validators with an active stake among the 100 largest"],
  ["udg_dag_vertices", "vertices", "Vertices that the node holds"],
  ["udg_uptime_seconds", "uptimeSeconds", "Seconds since the node started"],
]

/** Reads the gauges at every scrape of the registry. */
export const register = (registry: Prom.Registry, figures: () => Figures): void => {
  for (const [name, key, help] of gauges) {
    const gauge: Prom.Gauge = new Prom.Gauge({
      name,
      help,
      registers: [registry],
      collect: () => gauge.set(figures()[key]),
    })
  }
}

/** These figures in Prometheus' text format. */
export const expose = (figures: Figures): Promise<string> => {
  const registry = new Prom.Registry()
  register(registry, () => figures)
  return registry.metrics()
}
