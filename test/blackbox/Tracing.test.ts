/**
 * A node with a configured collector exports commits, requests and transactions over OTLP. Without one, it loads no
 * tracing code.
 */
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Processes from "../network/Processes.js"
import * as Wallet from "../network/Wallet.js"
import * as Rest from "../support/Rest.js"
import { program, Running } from "./Running.js"

type Attributes = ReadonlyArray<{ readonly key: string; readonly value: Readonly<Record<string, unknown>> }>

interface Context {
  readonly traceId: string
  readonly spanId: string
  readonly flags: number
}

interface Span extends Context {
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: Attributes
  readonly links?: ReadonlyArray<Context>
  /** The node's, by key. */
  readonly resource: ReadonlyMap<string, unknown>
}

const byKey = (attributes: Attributes) =>
  new Map(attributes.map(({ key, value }) => [key, Object.values(value)[0]] as const))

const spans: Array<Span> = []
let status = 200
const collector = createServer((request, response) => {
  let text = ""
  request.setEncoding("utf8").on("data", (part) => (text += part))
  request.on("end", () => {
    if (request.url !== "/v1/traces" || request.headers["content-type"] !== "application/json") status = 400
    for (const { resource, scopeSpans } of JSON.parse(text).resourceSpans) {
      const own = byKey(resource.attributes)
      for (const scope of scopeSpans) for (const span of scope.spans) spans.push({ ...span, resource: own })
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
  expect((await node.stop()).code).toBe(0)
}

beforeAll(async () => {
  collector.listen(0, "127.0.0.1")
  await once(collector, "listening")
})
afterAll(async () => {
  collector.close()
  await Processes.removeAll()
})

const endpoint = () => `http://127.0.0.1:${(collector.address() as AddressInfo).port}`

describe("a node with a collector", () => {
  it("sends each commit and each request to it, as consistent spans", async () => {
    const { node, rpc } = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint(),
      OTEL_TRACES_SAMPLER_ARG: "1",
      OTEL_SERVICE_NAME: "our node",
      OTEL_RESOURCE_ATTRIBUTES: "service.name=overruled, deployment.environment=test%2C%20really",
    })
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
    expect(new Set(spans.map(({ resource }) => JSON.stringify([...resource]))).size).toBe(1)
    expect(spans[0]?.resource.get("service.name")).toBe("our node")
    expect(spans[0]?.resource.get("deployment.environment")).toBe("test, really")
    expect(spans[0]?.resource.get("service.instance.id")).toBe(/^ {2}p2p +(\S+)$/m.exec(node.stdout)?.[1])
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

  it("follows a client's transaction to its commit, and every node's part of it in one trace", async () => {
    spans.length = 0
    const network = Processes.found({ validators: 2 })
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint(), OTEL_TRACES_SAMPLER_ARG: "1" }
    const way = { execArgv: [], environment }
    const first = await Processes.startValidator(network, 0, [], [], "info", way)
    const second = await Processes.startValidator(network, 1, [first], [], "info", way)
    const client = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" }
    const traceparent = `00-${client.traceId}-${client.spanId}-01`
    const [id = ""] = await Wallet.pay(first, network, 1, 0, { traceparent })
    const inTrace = (traceId: string, name: string) =>
      spans.filter((span) => span.traceId === traceId && span.name === name)
    const own = id.slice(0, 32)
    await Processes.until("both nodes have sent it", () => inTrace(own, "transaction").length === 2)
    expect(await Promise.all([first.stop(), second.stop()])).toEqual([0, 0])

    // In the client's trace: what the node that it has asked did.
    const [request, transaction, mempool, commit, ...more] = [
      "POST /tx/submit",
      ...["transaction", "transaction mempool", "transaction commit"],
    ].flatMap((name) => inTrace(client.traceId, name))
    expect(more).toEqual([])
    expect([request?.parentSpanId, request?.flags]).toEqual([client.spanId, 0x301])
    expect([transaction?.parentSpanId, transaction?.flags]).toEqual([request?.spanId, 0x101])
    for (const child of [mempool, commit]) expect(child?.parentSpanId).toBe(transaction?.spanId)
    expect(byKey(transaction?.attributes ?? []).get("outcome")).toBe("Applied")

    // In the transaction's own trace: both nodes, at the same place of the order.
    const wholes = inTrace(own, "transaction")
    const commits = inTrace(own, "transaction commit")
    expect(new Set(wholes.map(({ resource }) => resource.get("service.instance.id")))).toEqual(
      new Set([first.p2p, second.p2p]),
    )
    expect(wholes.map(({ parentSpanId }) => parentSpanId)).toEqual([undefined, undefined])
    expect(new Set(commits.map(({ parentSpanId }) => parentSpanId))).toEqual(
      new Set(wholes.map(({ spanId }) => spanId)),
    )
    expect(new Set([...commits, commit].map((span) => JSON.stringify(span?.attributes))).size).toBe(1)
    const ofFirst = wholes.find(({ resource }) => resource.get("service.instance.id") === first.p2p)
    expect(request?.links).toEqual([{ traceId: own, spanId: ofFirst?.spanId, flags: 0x101 }])
    expect(transaction?.links).toEqual(request?.links)
  }, 240_000)

  it.each([
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "nonsense" }, /OTEL_EXPORTER_OTLP_ENDPOINT is not a URL/],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: "http://me:secret@127.0.0.1:4318" },
      /^(?!.*secret).*OTEL_EXPORTER_OTLP_ENDPOINT is/,
    ],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: "http://x", OTEL_TRACES_SAMPLER_ARG: "2" },
      /OTEL_TRACES_SAMPLER_ARG is not a sampling ratio/,
    ],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: "http://x", OTEL_RESOURCE_ATTRIBUTES: "a=%zz" },
      /OTEL_RESOURCE_ATTRIBUTES is not a list of key=value/,
    ],
  ])("refuses %j in one line", async (variables, line) => {
    const node = new Running(process.execPath, [program, "--ephemeral", "--port", "0"], variables)
    expect((await node.end()).code).toBe(1)
    expect(node.stderr).toMatch(line)
  })
})
