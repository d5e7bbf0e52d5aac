import { IncomingMessage, ServerResponse } from "node:http"
import { Socket } from "node:net"
import { expect, it } from "vitest"
import { Admission, type Asking } from "../../src/edge/admission/Admission.js"
import { PageGuard } from "../../src/edge/admission/PageGuard.js"
import { globalLimit, livenessPath } from "../../src/rpc/api/Access.js"
import * as Failure from "../../src/rpc/api/Failure.js"

const admissionOf = () => {
  const guard = new PageGuard({ host: "127.0.0.1", names: [], isProxied: () => false, words: { names: "", pages: "" } })
  guard.boundTo("127.0.0.1")
  return new Admission({ guard, rateLimits: true, limit: globalLimit, livenessPath, now: () => 0 })
}

const asking = (
  headers: Readonly<Record<string, string>> = {},
  method = "GET",
  path = "/status",
  socket = new Socket(),
): Asking => {
  const request = new IncomingMessage(socket)
  Object.assign(request.headers, { host: "localhost", ...headers })
  request.rawHeaders = ["Host", "localhost"]
  return {
    request,
    response: new ServerResponse(request),
    method,
    path,
    at: 0,
    client: "a",
    counted: 1,
    headers: [],
  }
}

const foreign = { origin: "https://example.org" }
const testnetOnly = new Failure.TestnetOnly({ message: "on a testnet only" })
const stake = {
  method: "POST",
  path: "/stake",
  limit: { requests: 1, windowSeconds: 60 },
  closed: undefined,
  isGuarded: true,
}

it("refuses a foreign host before it counts anything", () => {
  const admission = admissionOf()
  expect(admission.refusalOf(asking({ host: "example.org" }))?._tag).toBe("ForeignHost")
  const everything = asking()
  expect(admission.refusalOfCost({ ...everything, counted: 0 }, 1_000)).toBeUndefined()
})

it("limits requests to a thousand a minute across pages and endpoints", () => {
  const admission = admissionOf()
  const kinds = [asking(), asking(foreign), asking({ "sec-fetch-site": "cross-site" }), asking({}, "GET", "/nothing")]
  kinds.push(asking({}, "GET", "/health/detailed"))
  for (const one of kinds) {
    for (let i = 0; i < 200; i++) expect(admission.refusalOf(one)).toBeUndefined()
  }
  for (const one of kinds) expect(admission.refusalOf(one)?._tag).toBe("RateLimited")
})

it("answers liveness probes and preflights after that, a thousand more together", () => {
  const admission = admissionOf()
  for (let i = 0; i < 1_000; i++) admission.refusalOf(asking())
  const spared = [asking({}, "GET", "/health"), asking({}, "OPTIONS"), asking(foreign, "OPTIONS", "/health")]
  for (let i = 0; i < 999; i++) expect(admission.refusalOf(spared[i % 3] ?? asking())).toBeUndefined()
  expect(admission.refusalOf(asking({}, "GET", "/health"))).toBeUndefined()
  for (const one of spared.slice(1)) expect(admission.refusalOf(one)?._tag).toBe("RateLimited")
  // A probe from the same address does not fail for it; it gets one response per connection.
  const probe = asking({}, "GET", "/health")
  expect([admission.refusalOf(probe), probe.response.shouldKeepAlive]).toEqual([undefined, false])
  for (let i = 0; i < 16; i++) expect(admission.refusalOf(probe)?._tag).toBe("RateLimited")
  expect(admission.isEnding(probe.request.socket)).toBe(true)
})

it("counts a costlier request once, and not at all when it exceeds the limit", () => {
  const admission = admissionOf()
  const one = asking()
  expect(admission.refusalOf(one)).toBeUndefined()
  for (let i = 0; i < 3; i++) expect(admission.refusalOfCost(one, 400)).toBeUndefined()
  const another = asking()
  expect(admission.refusalOf(another)).toBeUndefined()
  expect(admission.refusalOfCost(another, 601)?._tag).toBe("RateLimited")
  expect(another.headers).toEqual(["RateLimit-Policy", '"global";q=1000;w=60', "RateLimit", '"global";r=599;t=60'])
  expect(admission.refusalOfCost(another, 600)).toBeUndefined()
})

it("checks the network, then the page, then the endpoint's own limit", () => {
  expect(admissionOf().gateOf({ ...stake, closed: testnetOnly })(asking(foreign))).toBe(testnetOnly)
  const gate = admissionOf().gateOf(stake)
  expect(gate(asking(foreign))?._tag).toBe("ForeignOrigin")
  const [first, second] = [asking(), asking()]
  expect(gate(first)).toBeUndefined()
  expect(gate(second)?.message).toBe("more than 1 request to POST /stake within 60 s; ask again in 60 s")
  expect([first, second].map(({ headers }) => headers.at(-1))).toEqual(['"/stake";r=0;t=60', '"/stake";r=0;t=60'])
})

it("closes a connection only after its seventeenth refusal for too many requests", () => {
  const admission = admissionOf()
  const socket = new Socket()
  const kept = Array.from({ length: 17 }, () => {
    const one = asking({ host: "example.org" }, "GET", "/status", socket)
    one.response.shouldKeepAlive = true
    admission.refusalOf(one)
    return one.response.shouldKeepAlive
  })
  expect(kept).toEqual([...Array.from({ length: 16 }, () => true), false])
  expect([admission.isEnding(socket), admission.isEnding(new Socket())]).toEqual([true, false])
})
