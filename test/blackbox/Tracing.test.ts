/** A node with a configured collector exports commits and requests over OTLP. Without one, it loads no tracing code. */
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Rest from "../support/Rest.js"
import { program, Running } from "./Running.js"

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: ReadonlyArray<{ readonly key: string; readonly value: Readonly<Record<string, unknown>> }>
}

const spans: Array<Span> = []
const resources: Array<string> = []
let status = 200
const collector = createServer((request, response) => {
  let text = ""
  request.setEncoding("utf8").on("data", (part) => (text += part))
  request.on("end", () => {
    if (request.url !== "/v1/traces" || request.headers["content-type"] !== "application/json") status = 400
    for (const { resource, scopeSpans } of JSON.parse(text).resourceSpans) {
      resources.push(JSON.stringify(resource))
      for (const scope of scopeSpans) spans.push(...scope.spans)
    }
    response.writeHead(status).end("{}")
  })
})

const start = async (variables: Readonly<Record<string, string>>) => {
  const words = [program, "--ephemeral", "--port", "0", "--round-ms", "50"]
  const node = new Running(process.execPath, words, variables)
  await node.until(() => /running/.test(node.stderr))
  return { node, rpc: /^ {2}rpc +(\S+)$/m.exec(node.stdout)?.[1] ?? "" }
}

const stop = async (node: Running) => {
  node.signal("SIGTERM")
  expect((await node.end()).code).toBe(0)
}

beforeAll(async () => {
  collector.listen(0, "127.0.0.1")
  await once(collector, "listening")
})
afterAll(() => collector.close())

const endpoint = () => `http://127.0.0.1:${(collector.address() as AddressInfo).port}`

describe("a node with a collector", () => {
  it("sends each commit and each request to it, as consistent spans", async () => {
    const { node, rpc } = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint(), OTEL_TRACES_SAMPLER_ARG: "1" })
    await fetch(`${rpc}/balance/${"00".repeat(19)}aa`)
    await fetch(`${rpc}/nothing`)
    const named = (name: string) => spans.filter((span) => span.name === name)
    await node.until(() => named("commit").length > 5 && named("GET /balance/:address").length === 1)
    await stop(node)
    for (const { traceId, spanId, startTimeUnixNano, endTimeUnixNano } of spans) {
      expect(traceId).toMatch(/^[0-9a-f]{32}$/)
      expect(spanId).toMatch(/^[0-9a-f]{16}$/)
      expect(BigInt(endTimeUnixNano) >= BigInt(startTimeUnixNano)).toBe(true)
      // Milliseconds since 1970, not since the machine started.
      expect(Math.abs(Number(BigInt(startTimeUnixNano) / 1_000_000n) - Date.now())).toBeLessThan(120_000)
    }
    const [request] = named("GET /balance/:address")
    expect(request?.kind).toBe(2)
    expect(request?.attributes).toContainEqual({ key: "http.response.status_code", value: { intValue: "200" } })
    expect(named("commit")[0]?.attributes.map(({ key }) => key)).toEqual(["commit", "round"])
    expect(new Set(resources).size).toBe(1)
    expect(resources[0]).toContain("service.name")
  })

  it(Rest.of("one more start", "sends only the requested part of the traces, each of them whole"), async () => {
    spans.length = 0
    const { node, rpc } = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint(), OTEL_TRACES_SAMPLER_ARG: "0" })
    for (let i = 0; i < 20; i++) await fetch(`${rpc}/status`)
    await stop(node)
    expect(spans).toEqual([])
  })

  it(Rest.of("one more start", "continues when the collector fails, and logs that once"), async () => {
    status = 503
    const { node, rpc } = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint(), OTEL_TRACES_SAMPLER_ARG: "1" })
    await node.until(() => /traces were lost/.test(node.stderr))
    const before = spans.length
    await node.until(() => spans.length > before)
    expect((await fetch(`${rpc}/health`)).status).toBe(200)
    await stop(node)
    expect(node.stderr.match(/traces were lost/g)).toHaveLength(1)
  })

  it.each([
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "nonsense" }, /OTEL_EXPORTER_OTLP_ENDPOINT is not a URL/],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: "http://x", OTEL_TRACES_SAMPLER_ARG: "2" },
      /OTEL_TRACES_SAMPLER_ARG is not a sampling ratio/,
    ],
  ])("refuses %j in one line", async (variables, line) => {
    const node = new Running(process.execPath, [program, "--ephemeral", "--port", "0"], variables)
    expect((await node.end()).code).toBe(1)
    expect(node.stderr).toMatch(line)
  })
})
