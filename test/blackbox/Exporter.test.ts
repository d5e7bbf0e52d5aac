/** `udg exporter` and a remote node, as users start them, read over HTTP as Prometheus does. */
import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { seriesIn, yamlOf } from "../ops/Kit.js"
import * as Rest from "../support/Rest.js"
import { program, Running } from "./Running.js"

const udg = (...words: ReadonlyArray<string>): Running => new Running(process.execPath, [program, ...words])

const nodeOn = async (rpcPort: number): Promise<{ readonly node: Running; readonly url: string }> => {
  const node = udg("--ephemeral", "--round-ms", "50", "--port", "0", "--rpc-port", String(rpcPort))
  await node.until(() => /running/.test(node.stderr))
  return { node, url: /^ {2}rpc +(\S+)$/m.exec(node.stdout)?.[1] ?? "" }
}

const exporterOf = async (target: string): Promise<{ readonly exporter: Running; readonly url: string }> => {
  const exporter = udg("exporter", "--target", target, "--metrics-port", "0")
  await exporter.until(() => /^ {2}metrics /m.test(exporter.stdout))
  return { exporter, url: /^ {2}metrics +(\S+)$/m.exec(exporter.stdout)?.[1] ?? "" }
}

const stopped = async (running: Running): Promise<number | null> => {
  return (await running.stop()).code
}

/** HELP and TYPE of each family, and the value of each series without labels. */
const parsed = (text: string) => ({
  families: new Map(
    [...text.matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)$/gm)].map(([, name, help, type]) => [
      name,
      `${type}: ${help}`,
    ]),
  ),
  values: new Map([...text.matchAll(/^([a-z_]+) (\S+)$/gm)].map(([, name, value]) => [name, Number(value)])),
})

const textAt = async (url: string): Promise<string> => (await fetch(url)).text()

/** The fields of /status and /metrics/json that an exporter reads. */
const READ_ELSEWHERE = [
  "udg_dag_round",
  "udg_finalized_round",
  "udg_finality_lag",
  "udg_peer_count",
  "udg_mempool_size",
  "udg_checkpoint_latest",
  "udg_total_supply_sats",
  "udg_total_staked_sats",
  "udg_active_validators",
  "udg_dag_vertices",
  "udg_uptime_seconds",
]

describe("udg exporter", () => {
  let node: Running
  let nodeUrl = ""
  let exporter: Running
  let metricsUrl = ""
  beforeAll(async () => {
    ;({ node, url: nodeUrl } = await nodeOn(0))
    ;({ exporter, url: metricsUrl } = await exporterOf(nodeUrl))
  })
  afterAll(async () => {
    await Promise.all([stopped(node), stopped(exporter)])
  })

  it("reports the node that it reads, and its own address", () => {
    expect(exporter.stdout).toMatch(
      /^udg exporter \S+\n\n {2}target +http:\/\/127\.0\.0\.1:\d+\n {2}metrics +http:\/\/127\.0\.0\.1:\d+\/metrics\n/,
    )
  })

  it("serves the node's gauges under the node's names", async () => {
    const response = await fetch(metricsUrl)
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8")
    const exported = parsed(await response.text())
    expect([...exported.families.keys()]).toStrictEqual(READ_ELSEWHERE)
    expect([...exported.values.keys()]).toStrictEqual(READ_ELSEWHERE)
    const own = parsed(await textAt(`${nodeUrl}/metrics`))
    expect([...exported.families]).toStrictEqual([...own.families].filter(([name]) => exported.families.has(name)))
  })

  it("serves current figures", async () => {
    const before = parsed(await textAt(`${nodeUrl}/metrics`)).values
    const exported = parsed(await textAt(metricsUrl)).values
    const after = parsed(await textAt(`${nodeUrl}/metrics`)).values
    for (const name of exported.keys()) {
      if (name === "udg_finality_lag") continue
      expect([before.get(name), exported.get(name), after.get(name)], name).toStrictEqual(
        [before.get(name), exported.get(name), after.get(name)].sort((a = 0, b = 0) => a - b),
      )
    }
    expect(exported.get("udg_dag_round")).toBeGreaterThan(0)
    expect(exported.get("udg_finality_lag")).toBe(
      (exported.get("udg_dag_round") ?? 0) - (exported.get("udg_finalized_round") ?? 0),
    )
  })

  it("has every series of the recommended alert rules", async () => {
    const { groups } = yamlOf("prometheus/alerts.yml") as {
      readonly groups: ReadonlyArray<{
        readonly name: string
        readonly rules: ReadonlyArray<{ readonly expr: string }>
      }>
    }
    const { values } = parsed(await textAt(metricsUrl))
    const read = groups
      .filter(({ name }) => name === "udg")
      // The part after `unless` only narrows a rule. Without its series the rule applies everywhere.
      .flatMap(({ rules }) => rules.flatMap(({ expr }) => seriesIn(expr.split(" unless ")[0] ?? "")))
    expect(read).not.toStrictEqual([])
    expect(read.filter((name) => !values.has(name))).toStrictEqual([])
  })

  it("serves nothing else, and accepts nothing", async () => {
    const elsewhere = await fetch(metricsUrl.replace("/metrics", "/status"))
    const post = await fetch(metricsUrl, { method: "POST", body: "x" })
    expect([elsewhere.status, post.status]).toStrictEqual([404, 405])
    const head = await fetch(`${metricsUrl}?name=up`, { method: "HEAD" })
    expect([head.status, await head.text()]).toStrictEqual([200, ""])
  })

  it(Rest.of("two more starts", "fails the scrape while the node is down, and recovers when it is back"), async () => {
    const { node: other, url: otherUrl } = await nodeOn(0)
    const { exporter: over, url } = await exporterOf(otherUrl)
    expect((await fetch(url)).status).toBe(200)
    expect(await stopped(other)).toBe(0)
    const refused = await fetch(url)
    expect(refused.status).toBe(502)
    expect(await refused.text()).toMatch(new RegExp(`^no metrics from ${otherUrl}: connect ECONNREFUSED .*\\n$`))
    const { node: again } = await nodeOn(Number(new URL(otherUrl).port))
    expect((await fetch(url)).status).toBe(200)
    expect(await stopped(over)).toBe(0)
    await stopped(again)
  })

  it(Rest.of("it waits", "times out on a silent node before Prometheus does"), async () => {
    const silent = createServer(() => {}).listen(0, "127.0.0.1")
    await once(silent, "listening")
    const { port } = silent.address() as AddressInfo
    const { exporter: over, url } = await exporterOf(`http://127.0.0.1:${port}`)
    const response = await fetch(url)
    expect([response.status, await response.text()]).toStrictEqual([
      502,
      `no metrics from http://127.0.0.1:${port}: no answer within 4 seconds\n`,
    ])
    expect(await stopped(over)).toBe(0)
    silent.close()
  })

  it("reports when something other than a node answers", async () => {
    const { exporter: over, url } = await exporterOf(metricsUrl.replace("/metrics", ""))
    const response = await fetch(url)
    expect(response.status).toBe(502)
    expect(await response.text()).toMatch(/^no metrics from http:\/\/127\.0\.0\.1:\d+: [^\n]+\n$/)
    expect(await stopped(over)).toBe(0)
  })

  it("names a port in use", async () => {
    const { port } = new URL(metricsUrl)
    const second = udg("exporter", "--target", nodeUrl, "--metrics-port", port)
    expect((await second.end()).code).toBe(1)
    expect(second.stderr).toBe(
      `udg: cannot serve metrics on 127.0.0.1:${port}: the port is in use; stop what uses it, or choose another with --metrics-port\n`,
    )
  })

  it.each([
    ["node.example:10333", "is not the URL of a node"],
    ["ftp://node.example", "is not the URL of a node"],
    ["http://somebody:hunter2@node.example", "has more than scheme, host, port and path"],
  ])("refuses to read %s, and repeats no password", async (target, complaint) => {
    const refused = udg("exporter", "--target", target)
    expect((await refused.end()).code).toBe(1)
    expect(refused.stderr).toMatch(/^udg: --target .*\n$/)
    expect(refused.stderr).toContain(complaint)
    expect(refused.stderr).not.toContain("hunter2")
  })
})
