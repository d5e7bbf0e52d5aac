import { describe, expect, it } from "vitest"
import * as Client from "../../src/client/Client.js"
import * as Catalogue from "../../src/rpc/metrics/Catalogue.js"
import { forTests } from "../support/forTests.js"
import * as RealNode from "./RealNode.js"
import { ask, get, post } from "./TestServer.js"

const node = forTests(() => RealNode.start())

interface Family {
  readonly help: string
  readonly type: string
  /** By name and labels as written in the text. */
  readonly samples: ReadonlyMap<string, number>
}

/** Parses the text format line by line; throws at anything other than HELP, TYPE and values. */
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
  const answer = await ask(node().port, get("/metrics"))
  expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8")
  return families(answer.body)
}

const figureOf = (found: ReadonlyMap<string, Family>, name: string): number => {
  const value = found.get(name)?.samples.get(name)
  if (value === undefined) throw new Error(`${name} has no value`)
  return value
}

describe("/metrics", () => {
  it("has the unprefixed series with their names and types, and counts events", async () => {
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
  })

  it("has the gauges that the recommended alerts need", async () => {
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

  it("has exactly the series of the table in docs/operations/monitoring.md", async () => {
    const names = [...(await scrape()).keys()].filter((name) => !/^(process|nodejs)_/.test(name))
    expect(names.sort()).toEqual(Catalogue.all.map(({ name }) => name).sort())
  })

  it("reports this validator's work, refusals and the version", async () => {
    const transaction = { type: "Transfer", from: "0".repeat(40), to: "0".repeat(40), amount: 1, fee: 1_000, nonce: 0 }
    const keys = { pub_key: "0".repeat(64), signature: "0".repeat(128) }
    const body = JSON.stringify({ ...transaction, ...keys })
    const refusal = await ask(node().port, post("/tx/submit", body))
    const { code } = JSON.parse(refusal.body)
    const found = await scrape()
    expect(found.get("udg_transactions_refused_total")?.samples).toEqual(
      new Map([[`udg_transactions_refused_total{reason="${code}"}`, 1]]),
    )
    expect(figureOf(found, "udg_validator_in_committee")).toBe(1)
    expect(figureOf(found, "udg_validator_weight_ratio")).toBe(1)
    expect(figureOf(found, "udg_validator_rounds_made_total")).toBeGreaterThan(10)
    expect(figureOf(found, "udg_vertices_final_total")).toBeGreaterThan(10)
    const finality = found.get("udg_finality_seconds")?.samples
    expect(finality?.get("udg_finality_seconds_count")).toBeGreaterThan(10)
    expect(figureOf(found, "udg_checkpoint_latest_timestamp_seconds")).toBeCloseTo(Date.now() / 1_000, -2)
    expect([...(found.get("udg_member_rounds_missed_total")?.samples.values() ?? [])]).toEqual([0])
    expect([...(found.get("udg_build_info")?.samples.keys() ?? [])]).toEqual([
      'udg_build_info{version="0.0.0",protocol="3",wire="3",database="7"}',
    ])
    // Everything is in memory.
    expect(found.get("udg_data_directory_free_bytes")?.samples.size).toBe(0)
  })

  it("times responses by route rather than path", async () => {
    for (const path of ["/balance/a", "/balance/b", "/nothing/here", "/status"]) await ask(node().port, get(path))
    const samples = (await scrape()).get("udg_http_request_duration_seconds")?.samples
    const count = (labels: string) => samples?.get(`udg_http_request_duration_seconds_count{${labels}}`)
    expect(count('route="/balance/:address",method="GET",status="400"')).toBe(2)
    expect(count('route="none",method="GET",status="404"')).toBe(1)
    expect(count('route="/status",method="GET",status="200"')).toBeGreaterThanOrEqual(1)
  })
})

describe("/metrics/json", () => {
  it("has the same figures, with an uptime that advances", async () => {
    const client = Client.connect(node().url)
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
