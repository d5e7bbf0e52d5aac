import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Client from "../../src/client/Client.js"
import { textOf } from "../docs/Pages.js"
import * as RealNode from "./RealNode.js"
import { ask, get } from "./TestServer.js"

let node: RealNode.RealNode
beforeAll(async () => {
  node = await RealNode.start()
})
afterAll(() => node.stop())

interface Family {
  readonly help: string
  readonly type: string
  /** By name and labels as they stand there. */
  readonly samples: ReadonlyMap<string, number>
}

/** The text format, read line by line; anything else than HELP, TYPE and values throws. */
const families = (text: string): ReadonlyMap<string, Family> => {
  const found = new Map<string, { help: string; type: string; samples: Map<string, number> }>()
  for (const line of text.split("\n").filter((line) => line !== "")) {
    const [, kind, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? []
    if (kind === "HELP") found.set(name, { help: rest, type: "", samples: new Map() })
    else if (kind === "TYPE") Object.assign(found.get(name) ?? {}, { type: rest })
    else {
      const [, series = "", value = ""] = /^(\S+?(?:\{.*\})?) (\S+)$/.exec(line) ?? []
      const base = series.replace(/\{.*/, "")
      const family = found.get(base) ?? found.get(base.replace(/_(bucket|sum|count|total)$/, ""))
      if (family === undefined || (Number.isNaN(Number(value)) && value !== "Nan"))
        throw new Error(`unexpected: ${line}`)
      family.samples.set(series, Number(value))
    }
  }
  return found
}

const scrape = async () => {
  const answer = await ask(node.port, get("/metrics"))
  expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8")
  return families(answer.body)
}

const figureOf = (found: ReadonlyMap<string, Family>, name: string): number => {
  const value = found.get(name)?.samples.get(name)
  if (value === undefined) throw new Error(`${name} has no value`)
  return value
}

describe("/metrics", () => {
  it("has the series without a prefix under their names and types, counting what happens", async () => {
    for (;;) {
      const found = await scrape()
      const types = [
        ["checkpoint_produced_total", "counter"],
        ["checkpoint_production_duration_ms", "gauge"],
        ["checkpoint_size_bytes", "gauge"],
        ["checkpoint_cosigned_total", "counter"],
        ["checkpoint_quorum_reached_total", "counter"],
        ["checkpoint_validation_failures_total", "counter"],
        ["fast_sync_success_total", "counter"],
        ["checkpoint_persist_success_total", "counter"],
      ] as const
      for (const [name, type] of types) expect(found.get(name)).toMatchObject({ type, help: expect.any(String) })
      if (figureOf(found, "checkpoint_persist_success_total") >= 1) {
        for (const name of ["produced", "cosigned", "quorum_reached"]) {
          expect(figureOf(found, `checkpoint_${name}_total`)).toBeGreaterThanOrEqual(1)
        }
        expect(figureOf(found, "checkpoint_size_bytes")).toBeGreaterThan(0)
        expect(figureOf(found, "checkpoint_production_duration_ms")).toBeGreaterThan(0)
        expect(figureOf(found, "checkpoint_validation_failures_total")).toBe(0)
        return
      }
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }, 60_000)

  it("has the gauges that the recommended alerts need, and more", async () => {
    const found = await scrape()
    for (const name of ["finality_lag", "peer_count", "mempool_size", "dag_round", "checkpoint_latest"]) {
      expect(found.get(`udg_${name}`)?.type).toBe("gauge")
      expect(figureOf(found, `udg_${name}`)).toBeGreaterThanOrEqual(0)
    }
    expect(figureOf(found, "udg_dag_round")).toBeGreaterThanOrEqual(figureOf(found, "udg_finalized_round"))
    expect([...(found.get("udg_info")?.samples.keys() ?? [])][0]).toMatch(
      /^udg_info\{version="0\.0\.0",network_id="udg-solo-[0-9a-f]{16}",mode="testnet"\}$/,
    )
    expect(figureOf(found, "process_resident_memory_bytes")).toBeGreaterThan(1_000_000)
    expect(figureOf(found, "nodejs_eventloop_lag_seconds")).toBeGreaterThanOrEqual(0)
  })

  it("has the series that docs/operations/monitoring.md lists, and no other ones of its own", async () => {
    const names = [...(await scrape()).keys()].filter((name) => !/^(process|nodejs)_/.test(name))
    const listed = [
      ...textOf("docs/operations/monitoring.md").matchAll(/^\| `(\w+)` +\| (?:gauge|counter|histogram) /gm),
    ]
    expect(names.sort()).toEqual(listed.map(([, name]) => name).sort())
  })

  it("times answers by route, not by path", async () => {
    for (const path of ["/balance/a", "/balance/b", "/nothing/here", "/status"]) await ask(node.port, get(path))
    const samples = (await scrape()).get("udg_http_request_duration_seconds")?.samples
    const count = (labels: string) => samples?.get(`udg_http_request_duration_seconds_count{${labels}}`)
    expect(count('route="/balance/:address",method="GET",status="400"')).toBe(2)
    expect(count('route="none",method="GET",status="404"')).toBe(1)
    expect(count('route="/status",method="GET",status="200"')).toBeGreaterThanOrEqual(1)
  })
})

describe("/metrics/json", () => {
  it("has the same figures, and its seconds go on", async () => {
    const client = Client.connect(node.url)
    const first = await client.monitoring.metricsJson()
    expect(first.finality_lag).toBe(first.dag_round - first.finalized_round)
    expect(first).toMatchObject({
      peer_count: 0,
      mempool_size: 0,
      active_validators: 1,
      total_staked: 10_000_000_000_000,
    })
    for (;;) {
      const { uptime_seconds } = await client.monitoring.metricsJson()
      if (uptime_seconds > first.uptime_seconds) return
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  })
})
