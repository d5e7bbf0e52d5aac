import { Effect, Either } from "effect"
import { afterEach, describe, expect, it } from "vitest"
import type { Ended, SpanContext } from "../../../src/cli/tracing/Ended.js"
import * as Requests from "../../../src/cli/tracing/Requests.js"
import * as SpanIds from "../../../src/cli/tracing/SpanIds.js"
import type * as Server from "../../../src/edge/server/Server.js"
import type { Hash } from "../../../src/protocol/identity/Hash.js"
import * as Natural from "../../../src/protocol/numbers/Natural.js"
import * as JsonForm from "../../../src/protocol/transaction/JsonForm.js"
import * as Failure from "../../../src/rpc/api/Failure.js"
import { transfer } from "../../replica/Cluster.js"
import * as TestServer from "../../rpc/TestServer.js"

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
const SPAN = "00f067aa0ba902b7"
const SAMPLED = `traceparent: 00-${TRACE}-${SPAN}-01\r\n`
const UNSAMPLED = `traceparent: 00-${TRACE}-${SPAN}-00\r\n`

let server: TestServer.TestServer | undefined
afterEach(() => server?.stop())

const hashOf = (n: number): Hash => n.toString(16).padStart(64, "0") as Hash

/** A server that accepts every transaction but each third, under the numbers from 1 on. */
const traced = async (ratio: number, settings: Partial<Server.Settings> = {}) => {
  const spans: Array<Ended> = []
  const submitted: Array<readonly [string, SpanContext]> = []
  const onAnswer = Requests.taking({
    ratio,
    // One second for all requests of a test.
    now: () => 1_700_000_000_000,
    ended: (span) => spans.push(span),
    transactions: {
      contextOf: (id) => ({ traceId: SpanIds.traceOf(id), spanId: id.slice(-16), sampled: false }),
      submitted: (id, caller) => submitted.push([id, caller]),
    },
  })
  server = await TestServer.start(
    { onAnswer, ...settings },
    {
      transactions: {
        submit: ({ payloads }) =>
          Effect.succeed(
            payloads.map((_, n) =>
              n % 3 === 2
                ? Either.left(new Failure.NotReady({ reason: "behind", message: `"tx_hash":"${hashOf(n)}"` }))
                : Either.right({ tx_hash: hashOf(n + 1), status: "accepted" as const, nonce: Natural.nonce(n) }),
            ),
          ),
      },
    },
  )
  const { port } = server
  return {
    spans,
    submitted,
    get: (headers = "") => TestServer.ask(port, TestServer.get("/status", headers)),
    submit: (count: number, headers: string) => {
      const bodies = Array.from({ length: count }, (_, nonce) => JsonForm.toJson(transfer("alice", nonce, "bob", 1)))
      const head = `Content-Type: application/json\r\n${headers}`
      const body = JSON.stringify(count === 1 ? bodies[0] : bodies)
      return TestServer.ask(port, TestServer.post("/tx/submit", body, head))
    },
  }
}

const parentsOf = (spans: ReadonlyArray<Ended>) => spans.map(({ traceId, parentId }) => [traceId, parentId])

describe("a request's span", () => {
  it("is a child in the trace of a sampled client", async () => {
    const { spans, get } = await traced(0)
    await get(SAMPLED)
    expect(spans).toMatchObject([{ traceId: TRACE, parentId: SPAN, hasRemoteParent: true, name: "GET /status" }])
    expect(spans[0]?.spanId).not.toBe(SPAN)
  })

  it("is not made for a client that is not sampled, whatever the ratio", async () => {
    const { spans, get } = await traced(1)
    await get(UNSAMPLED)
    expect(spans).toEqual([])
  })

  it.each([
    ["a malformed header", SAMPLED.replace("-01\r", "-1\r")],
    ["two headers", SAMPLED + SAMPLED],
    ["none", ""],
  ])("begins a trace by the ratio for %s", async (_, headers) => {
    for (const ratio of [0, 1]) {
      const { spans, get } = await traced(ratio)
      await get(headers)
      expect(spans.map(({ parentId, hasRemoteParent }) => [parentId, hasRemoteParent])).toEqual(
        ratio === 0 ? [] : [[null, false]],
      )
      expect(spans[0]?.traceId).not.toBe(TRACE)
      await server?.stop()
    }
  })

  it("names the accepted transactions, which are then followed for the client", async () => {
    const { spans, submitted, submit } = await traced(0)
    await submit(4, SAMPLED)
    const accepted = [1, 2, 4].map(hashOf)
    expect(spans[0]?.links.map(({ traceId, spanId }) => traceId + spanId)).toEqual(
      accepted.map((id) => SpanIds.traceOf(id) + id.slice(-16)),
    )
    const own = { traceId: TRACE, spanId: spans[0]?.spanId, sampled: true }
    expect(submitted).toEqual(accepted.map((id) => [id, own]))
  })

  it("names the transaction of a request with only one", async () => {
    const { spans, submitted, submit } = await traced(0)
    await submit(1, SAMPLED)
    expect([spans[0]?.links.length, submitted.length]).toEqual([1, 1])
  })

  it("that only the ratio samples names its transactions, and has none followed", async () => {
    const { spans, submitted, submit } = await traced(1)
    await submit(4, "")
    expect([spans[0]?.links.length, submitted]).toEqual([3, []])
  })
})

describe("clients that ask to be sampled", () => {
  const proxied: Partial<Server.Settings> = { trustedProxies: [{ family: "ipv4", address: "127.0.0.1", prefix: 32 }] }
  const from = (host: number) => `${SAMPLED}X-Forwarded-For: 203.0.113.${host}\r\n`

  it("get five requests a second each", async () => {
    const { spans, get } = await traced(0)
    for (let n = 0; n < 8; n++) await get(SAMPLED)
    expect(parentsOf(spans)).toEqual(new Array(5).fill([TRACE, SPAN]))
  })

  it("get twenty requests a second together", async () => {
    const { spans, get } = await traced(0, proxied)
    for (let host = 0; host < 10; host++) for (let n = 0; n < 3; n++) await get(from(host))
    expect(spans.length).toBe(20)
  })

  it("are sampled by the ratio beyond that, still as children, and without their transactions", async () => {
    const { spans, submitted, submit } = await traced(1)
    for (let n = 0; n < 8; n++) await submit(1, SAMPLED)
    expect(parentsOf(spans)).toEqual(new Array(8).fill([TRACE, SPAN]))
    expect(submitted.length).toBe(5)
  })

  it("have eight transactions of a request followed", async () => {
    const { spans, submitted, submit } = await traced(0)
    await submit(900, SAMPLED)
    expect([spans[0]?.links.length, submitted.length]).toEqual([8, 8])
  })
})
