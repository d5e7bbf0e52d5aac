/** Rate limits: after exactly the allowed number of requests, the next one is refused, for this client only. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as TestServer from "../rpc/TestServer.js"
import * as TestNode from "./TestNode.js"

const limits = [
  ["POST", "/tx", 100, 60],
  ["POST", "/faucet", 1, 600],
  ["POST", "/stake", 5, 60],
  ["POST", "/unstake", 5, 60],
  ["POST", "/delegate", 5, 60],
  ["POST", "/undelegate", 5, 60],
  ["POST", "/set-commission", 5, 60],
  ["POST", "/proposal", 5, 60],
  ["POST", "/vote", 10, 60],
  ["GET", "/keygen", 10, 60],
] as const

let node: TestNode.TestNode
let lastClient = 0

beforeAll(async () => {
  node = await TestNode.start({ words: ["--trusted-proxy", "127.0.0.1"] })
})
afterAll(() => node.stop())

/** A new client, named as a proxy in front of the node would name it. */
const newClient = (): string => `203.0.113.${++lastClient}`

/** Sends all requests over one connection, as fast as possible. */
const askAll = async (
  client: string,
  requests: ReadonlyArray<readonly [method: string, path: string, body?: string]>,
) => {
  const bytes = requests.map(([method, path, body], i) => {
    const content =
      body === undefined ? "" : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
    const last = i === requests.length - 1 ? "Connection: close\r\n" : ""
    return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: ${client}\r\n${last}${content}\r\n${body ?? ""}`
  })
  return TestServer.parse(await TestServer.exchange(node.port, [bytes.join("")]))
}

const times = <A>(count: number, value: A): ReadonlyArray<A> => Array.from({ length: count }, () => value)

describe("the limits of single endpoints", () => {
  it.each(limits)("%s %s: %d within %d s", async (method, path, requests, seconds) => {
    const client = newClient()
    // Every request counts, whatever the response.
    const request = method === "POST" ? ([method, path, "{}"] as const) : ([method, path] as const)
    const answers = await askAll(client, times(requests + 2, request))
    const statuses = answers.map(({ status }) => status)
    expect(statuses).toEqual([...times(requests, method === "POST" ? 400 : 200), 429, 429])
    const refused = answers.at(-1)
    const answer = JSON.parse(refused?.body ?? "")
    expect(answer).toMatchObject({ code: "RateLimited", limit: requests, window_seconds: seconds })
    expect(answer.error).toContain(`${method} ${path}`)
    expect(answer.retry_after_seconds).toBeGreaterThan(0)
    expect(answer.retry_after_seconds).toBeLessThanOrEqual(seconds)
    expect(refused?.headers.get("retry-after")).toBe(String(answer.retry_after_seconds))
    expect(refused?.headers.get("ratelimit-policy")).toBe(`"${path}";q=${requests};w=${seconds}`)
    expect(refused?.headers.get("ratelimit")).toBe(`"${path}";r=0;t=${answer.retry_after_seconds}`)
    if (path === "/faucet") expect(answer.error).toContain("--rate-limits off")
    const [other] = await askAll(newClient(), [request])
    expect(other?.status).toBe(statuses[0])
  })

  it("leave a read beside them to the common limit", async () => {
    const client = newClient()
    const reads = ["/stake/@x", "/delegation/@x", "/proposal/1", "/vote/1/@x", "/tx/00"].flatMap((path) =>
      times(20, ["GET", path] as const),
    )
    const answers = await askAll(client, reads)
    expect(answers.map(({ status }) => status).filter((status) => status === 429)).toEqual([])
    const submitted = await askAll(client, times(120, ["POST", "/tx/submit", "{}"]))
    expect(submitted.map(({ status }) => status)).toEqual(times(120, 400))
  })
})

describe("a direct client on this machine", () => {
  it("gets one faucet payment in ten minutes, and a thousand responses a minute, as a program or as a page", async () => {
    const own = await TestNode.start({ words: [] })
    const wish = JSON.stringify({ address: own.accounts.alice.address, amount: 1 })
    const pay = `POST /faucet HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${wish.length}\r\n`
    const read = "GET /status HTTP/1.1\r\nHost: localhost\r\n"
    const requests = [
      ...times(2, `${pay}\r\n${wish}`),
      ...times(499, `${read}\r\n`),
      ...times(499, `${read}Origin: https://example.org\r\nSec-Fetch-Site: cross-site\r\n\r\n`),
      `${read}\r\n`,
      `${read}Origin: null\r\nConnection: close\r\n\r\n`,
    ]
    const answers = TestServer.parse(await TestServer.exchange(own.port, [requests.join("")]))
    expect(answers.map(({ status }) => status)).toEqual([200, 429, ...times(998, 200), 429, 429])
    await own.stop()
  })
})

describe("the common limit", () => {
  it("is a thousand a minute, for any request and any result", async () => {
    const client = newClient()
    const requests = [
      ...times(500, ["GET", "/status"] as const),
      ...times(250, ["GET", "/nothing"] as const),
      ...times(250, ["POST", "/status"] as const),
      ["GET", "/status"] as const,
      ["GET", "/nothing"] as const,
      ["GET", "/health/detailed"] as const,
      // Process managers must not mistake a busy node for a dead one, and a refused preflight would hide the error.
      ["GET", "/health"] as const,
      ["OPTIONS", "/status"] as const,
    ]
    const statuses = (await askAll(client, requests)).map(({ status }) => status)
    expect(statuses).toEqual([...times(500, 200), ...times(250, 404), ...times(250, 405), 429, 429, 429, 200, 204])
    const [other] = await askAll(newClient(), [["GET", "/health"]])
    expect(other?.status).toBe(200)
  })

  it("counts an array by its entries", async () => {
    const client = newClient()
    const array = JSON.stringify(times(600, 1))
    const statuses = async (...requests: Parameters<typeof askAll>[1]) =>
      (await askAll(client, requests)).map(({ status }) => status)
    // An array is counted once it is read, which on a busy node can be after later requests.
    expect(await statuses(["POST", "/tx/submit", array], ["POST", "/tx/submit", array])).toEqual([200, 429])
    const reads = times(400, ["GET", "/status"] as const)
    expect(await statuses(...reads)).toEqual([...times(399, 200), 429])
  })
})

it("identifies a direct client by its connection", async () => {
  const [answer] = await askAll("not an address", [["GET", "/keygen"]])
  expect(answer?.headers.get("ratelimit")).toMatch(/^"\/keygen";r=\d;t=\d+$/)
})
