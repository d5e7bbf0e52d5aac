/** Alert rules and dashboards use only series that a node exposes. */
import { spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import { mostAheadMs } from "../../src/node/engine/Recovery.js"
import * as Protocol from "../../src/protocol/epoch/Protocol.js"
import * as Catalogue from "../../src/rpc/metrics/Catalogue.js"
import { textOf as pageTextOf } from "../docs/Pages.js"
import * as RealNode from "../rpc/RealNode.js"
import { ask, get } from "../rpc/TestServer.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"
import { isTried, pathOf, seriesIn, textOf, yamlOf } from "./Kit.js"

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly description: string; readonly runbook_url: string }
}

interface Alertmanager {
  readonly route: { readonly receiver: string; readonly routes: ReadonlyArray<{ readonly receiver: string }> }
  readonly receivers: ReadonlyArray<{ readonly name: string }>
  readonly inhibit_rules: unknown
}

interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: ReadonlyArray<{ readonly expr: string; readonly datasource: { readonly uid: string } }>
}

const { groups } = yamlOf("prometheus/alerts.yml") as {
  readonly groups: ReadonlyArray<{ readonly name: string; readonly rules: ReadonlyArray<Rule> }>
}
interface Dashboard {
  readonly uid: string
  readonly panels: ReadonlyArray<Panel>
}

const dashboards = ["udg.json", "udg-node.json", "udg-archive.json"].map(
  (name) => [name, JSON.parse(textOf(`grafana/dashboards/${name}`)) as Dashboard] as const,
)

const TESTS = ["prometheus/alerts.test.yml", "prometheus/alerts-hours.test.yml"]

/** What Prometheus and a blackbox exporter add. */
const addedSeries = ["up", "probe_success", "probe_ssl_earliest_cert_expiry"]

/** All series on GET /metrics of a node and of a gateway, and the added ones. */
let exposed: ReadonlySet<string>
let scraped: string
beforeAll(async () => {
  // It makes rounds as fast as it can, and is needed no longer.
  await using node = await RealNode.start()
  const { body } = await ask(node.port, get("/metrics"))
  scraped = body
  const families = [...body.matchAll(/^# TYPE (\S+) (\S+)$/gm)]
  const series = families.flatMap(([, name = "", type]) =>
    type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  )
  exposed = new Set([...addedSeries, ...series, ...Catalogue.ofGatewayAlone.map(({ name }) => name)])
})

describe("the alert rules", () => {
  it("begin with lag, peers, mempool and checkpoint, without requiring more peers than a small network has", () => {
    const unlessAll =
      "unless udg_peer_count >= (udg_committee_members - udg_validator_in_committee or udg_committee_members)"
    const [recommended] = groups
    expect(recommended?.rules.map((rule) => [rule.expr, rule.for, rule.labels.severity])).toStrictEqual([
      ["udg_finality_lag > 10", "5m", "critical"],
      [`udg_peer_count < 2 ${unlessAll}`, "2m", "warning"],
      ["udg_mempool_size > 8000", "5m", "warning"],
      ["udg_dag_round - udg_checkpoint_latest > 500", "10m", "warning"],
    ])
  })

  it("state the problem and the remedy, under unique names", () => {
    const rules = groups.flatMap((group) => group.rules)
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
    for (const { annotations } of rules) {
      expect(annotations.summary).toContain("{{ $labels.instance }}")
      expect(annotations.description).not.toBe("")
    }
  })

  it("link to a section of the alerts page, which has exactly one for each", () => {
    const rules = groups.flatMap((group) => group.rules)
    for (const { alert, annotations } of rules) {
      const page = "file:///usr/local/lib/node_modules/udg-node/docs/operations/alerts.md"
      expect(annotations.runbook_url).toBe(`${page}#${alert.toLowerCase()}`)
    }
    const sections = [...pageTextOf("docs/operations/alerts.md").matchAll(/^## (Udg\w+)$/gm)].map(([, name]) => name)
    expect(sections.sort()).toStrictEqual(rules.map(({ alert }) => alert).sort())
  })

  it("alert on a clock offset at the same threshold as the health of a network with the usual rounds", () => {
    const { roundIntervalMs } = Protocol.standard
    const rule = groups.flatMap((group) => group.rules).find(({ alert }) => alert === "UdgClockOff")
    expect(rule?.expr).toBe(`abs(udg_clock_ahead_seconds) > ${mostAheadMs(roundIntervalMs) / 1_000}`)
  })

  it("each have a test that fires them", () => {
    const tests = TESTS.map(textOf).join()
    for (const { alert } of groups.flatMap((group) => group.rules)) expect(tests).toContain(`alertname="${alert}"`)
  })

  it("read only series that a node or a gateway exposes", () => {
    const read = groups.flatMap((group) => group.rules).flatMap(({ expr }) => seriesIn(expr))
    expect(read.filter((name) => !exposed.has(name))).toStrictEqual([])
  })

  it("are loaded by the compose file's Prometheus, which scrapes every node under the job they name", () => {
    const config = yamlOf("prometheus/prometheus.yml")
    expect(config).toMatchObject({
      rule_files: ["alerts.yml"],
      scrape_configs: [
        { job_name: "udg", metrics_path: "/metrics", file_sd_configs: [{ files: ["targets/*.yml"] }] },
        { job_name: "udg-https", metrics_path: "/probe", file_sd_configs: [{ files: ["https/*.yml"] }] },
      ],
      alerting: { alertmanagers: [{ static_configs: [{ targets: ["alertmanager:9093"] }] }] },
    })
  })

  it("go to an existing receiver, and inhibit only existing alerts", () => {
    const { route, receivers, inhibit_rules } = yamlOf("prometheus/alertmanager.yml") as Alertmanager
    const names = receivers.map(({ name }) => name)
    for (const { receiver } of [route, ...route.routes]) expect(names).toContain(receiver)
    const alerts = groups.flatMap((group) => group.rules).map(({ alert }) => alert)
    const named = JSON.stringify(inhibit_rules).match(/Udg\w+/g) ?? []
    expect(named.filter((name) => !alerts.includes(name))).toStrictEqual([])
  })
})

describe.runIf(isTried("promtool", "--version"))("promtool", () => {
  const promtool = (...words: ReadonlyArray<string>) => {
    const { status, stdout, stderr } = spawnSync("promtool", words, { encoding: "utf8" })
    return { status, said: stdout + stderr }
  }

  /** The API's documentation fixes the first names; Node.js' own come from prom-client. */
  const asTheyAre = [
    "checkpoint_production_duration_ms",
    "udg_peer_count",
    "nodejs_active_handles_total",
    "nodejs_active_requests_total",
    "nodejs_active_resources_total",
  ]

  it("finds names and types in order, except for those that are fixed elsewhere", () => {
    const { stdout, stderr } = spawnSync("promtool", ["check", "metrics"], { input: scraped, encoding: "utf8" })
    const complaints = (stdout + stderr).split("\n").filter((line) => line !== "")
    expect(complaints.filter((line) => !asTheyAre.includes(line.split(" ")[0] ?? ""))).toStrictEqual([])
    expect(new Set(complaints.map((line) => line.split(" ")[0]))).toStrictEqual(new Set(asTheyAre))
  })

  it("accepts the rules", () => {
    const { status, said } = promtool("check", "rules", pathOf("prometheus/alerts.yml"))
    expect(said).toContain("21 rules found")
    expect(status).toBe(0)
  })

  it("accepts the configuration", () => {
    const { status, said } = promtool("check", "config", pathOf("prometheus/prometheus.yml"))
    expect(status, said).toBe(0)
  })

  it("refuses faulty rules", () => {
    const folder = TemporaryFolder.forTest("rules")
    const faulty = join(folder, "alerts.yml")
    writeFileSync(faulty, textOf("prometheus/alerts.yml").replace("udg_peer_count < 2", "udg_peer_count << 2"))
    const { status, said } = promtool("check", "rules", faulty)
    expect(said).toContain("could not parse expression")
    expect(status).not.toBe(0)
  })

  it("fires each rule past its threshold and not before", () => {
    const { status, said } = promtool("test", "rules", ...TESTS.map(pathOf))
    expect(status, said).toBe(0)
  })
})

const graphsOf = ({ panels }: Dashboard) => panels.filter(({ type }) => type !== "row")

const readBy = (dashboard: Dashboard) =>
  graphsOf(dashboard).flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => seriesIn(expr)))

describe.each(dashboards)("the dashboard %s", (_, dashboard) => {
  it("reads only series that a node exposes", () => {
    expect(readBy(dashboard).filter((name) => !exposed.has(name))).toStrictEqual([])
  })

  it("uses the provisioned data source", () => {
    const { datasources } = yamlOf("grafana/provisioning/datasources/prometheus.yml") as {
      readonly datasources: ReadonlyArray<{ readonly uid: string }>
    }
    const targets = graphsOf(dashboard).flatMap(({ targets = [] }) => targets)
    const asked = new Set(targets.map(({ datasource }) => datasource.uid))
    expect([...asked]).toStrictEqual(datasources.map(({ uid }) => uid))
  })

  it("has panels that do not overlap", () => {
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
  })
})

describe("the dashboards", () => {
  it("show every figure of the node together, with and without a prefix", () => {
    const read = new Set(dashboards.flatMap(([, dashboard]) => readBy(dashboard)))
    const figures = [...exposed].filter((name) => /^(udg|checkpoint|fast_sync)_/.test(name))
    const left = ["udg_http_request_duration_seconds_sum", "udg_finality_seconds_sum"]
    expect(figures.filter((name) => !read.has(name) && !left.includes(name))).toStrictEqual([])
  })

  it("have unique names", () => {
    expect(new Set(dashboards.map(([, { uid }]) => uid)).size).toBe(dashboards.length)
  })
})
