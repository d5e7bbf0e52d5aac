import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest"
import type { Ended } from "../../../src/cli/tracing/Ended.js"
import { Otlp } from "../../../src/cli/tracing/Otlp.js"

const received: Array<string> = []
const collector = createServer((request, response) => {
  let text = ""
  request.setEncoding("utf8").on("data", (part) => (text += part))
  request.on("end", () => {
    received.push(text)
    response.end("{}")
  })
})

beforeAll(async () => {
  collector.listen(0, "127.0.0.1")
  await once(collector, "listening")
})
beforeEach(() => received.splice(0))
afterAll(() => collector.close())

const spanOf = (kind: Ended["kind"]): Ended => ({
  ...{ traceId: "a".repeat(32), spanId: "b".repeat(16), parentId: null, hasRemoteParent: false, name: kind, kind },
  ...{ startNanos: 1n, endNanos: 2n, attributes: [], links: [], hasFailed: false },
})

const exporter = () => new Otlp(`http://127.0.0.1:${(collector.address() as AddressInfo).port}/`)

const times = (count: number, act: () => void): void => {
  for (let n = 0; n < count; n++) act()
}

const countOf = (name: string): number => received.join().split(`"name":"${name}","kind"`).length - 1

it("keeps at most 4,096 spans for a collector that does not answer, and half of them for requests", async () => {
  const otlp = exporter()
  times(10_000, () => otlp.add(spanOf("server")))
  times(1_000, () => otlp.add(spanOf("internal")))
  times(10_000, () => otlp.add(spanOf("client")))
  otlp.begin([["service.name", "udg"]], () => {})
  await otlp.stop()
  expect(received.length).toBe(1)
  expect([countOf("server"), countOf("internal"), countOf("client")]).toEqual([2_048, 1_000, 1_048])
})

it("sends nothing of a node that has not run", async () => {
  const otlp = exporter()
  otlp.add(spanOf("internal"))
  await otlp.stop()
  expect(received).toEqual([])
})

it("sends every two seconds, also after some without a span", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
  try {
    const otlp = exporter()
    otlp.begin([], () => {})
    for (let sent = 0; sent < 3; sent++) {
      await vi.advanceTimersByTimeAsync(6_000)
      otlp.add(spanOf("internal"))
      await vi.advanceTimersByTimeAsync(2_000)
      await expect.poll(() => countOf("internal"), { timeout: 20_000 }).toBe(sent + 1)
      // The exporter still has to read the answer.
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    await otlp.stop()
  } finally {
    vi.useRealTimers()
  }
})

it("says what went wrong when a node ends before its spans are sent", async () => {
  const reasons: Array<string> = []
  const otlp = new Otlp("http://127.0.0.1:1")
  otlp.begin([], (reason) => reasons.push(reason))
  otlp.add(spanOf("internal"))
  await otlp.stop()
  expect(reasons.length).toBe(1)
})
