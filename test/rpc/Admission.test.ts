import { IncomingMessage, ServerResponse } from "node:http"
import { Socket } from "node:net"
import { expect, it } from "vitest"
import { Admission, type Asking } from "../../src/rpc/admission/Admission.js"
import { LocalGuard } from "../../src/rpc/admission/LocalGuard.js"
import * as Failure from "../../src/rpc/api/Failure.js"

const admissionOf = (options: { readonly isMainnet?: boolean; readonly isSolo?: boolean } = {}) => {
  const guard = new LocalGuard({ host: "127.0.0.1", names: [], isProxied: () => false })
  guard.boundTo("127.0.0.1")
  return new Admission({ guard, isMainnet: false, isSolo: false, rateLimits: true, now: () => 0, ...options })
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
    onRefused: undefined,
  }
}

const foreign = { origin: "https://example.org" }
const testnetOnly = new Failure.TestnetOnly({ message: "on a testnet only" })
const stake = { method: "POST", path: "/stake", limit: { requests: 1, windowSeconds: 60 }, onMainnet: testnetOnly }

it("a host that is not this machine's is refused before anything is counted", () => {
  const admission = admissionOf()
  expect(admission.refusalOf(asking({ host: "example.org" }))?._tag).toBe("ForeignHost")
  const everything = asking()
  expect(admission.refusalOfCost({ ...everything, counted: 0 }, 1_000)).toBeUndefined()
})

it("a page from elsewhere counts by itself, and so do preflights", () => {
  const admission = admissionOf()
  const [own, page, preflight] = [asking(), asking(foreign), asking({}, "OPTIONS")]
  for (const one of [own, page, preflight]) expect(admission.refusalOf(one)).toBeUndefined()
  expect(page.client).not.toBe(own.client)
  expect(admission.refusalOfCost(own, 1_000)).toBeUndefined()
  expect(admission.refusalOf(asking())?._tag).toBe("RateLimited")
  expect(admission.refusalOf(asking(foreign))).toBeUndefined()
  expect(admission.refusalOf(asking({}, "OPTIONS"))).toBeUndefined()
})

it("questions about health are answered after the limit is used up, and have a limit themselves", () => {
  const admission = admissionOf()
  const health = () => admission.refusalOf(asking({}, "GET", "/health"))
  expect(admission.refusalOf(asking())).toBeUndefined()
  for (let i = 0; i < 1_000; i++) expect(health()).toBeUndefined()
  expect(health()?._tag).toBe("RateLimited")
  expect(admission.refusalOf(asking())?._tag).toBe("RateLimited")
  const busy = admissionOf()
  for (let i = 0; i < 1_000; i++) expect(busy.refusalOf(asking())).toBeUndefined()
  expect(busy.refusalOf(asking())?._tag).toBe("RateLimited")
  for (const path of ["/health", "/health/detailed"]) {
    expect(busy.refusalOf(asking({}, "GET", path))).toBeUndefined()
  }
})

it("what costs more is counted once, and not at all where it is too much", () => {
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

it("an endpoint's gate asks for the network, then the page, then its own limit", () => {
  expect(admissionOf({ isMainnet: true }).gateOf(stake)(asking(foreign))).toBe(testnetOnly)
  const gate = admissionOf().gateOf(stake)
  expect(gate(asking(foreign))?._tag).toBe("ForeignOrigin")
  const [first, second] = [asking(), asking()]
  expect(gate(first)).toBeUndefined()
  expect(gate(second)?.message).toBe("more than 1 request to POST /stake within 60 s; ask again in 60 s")
  expect([first, second].map(({ headers }) => headers.at(-1))).toEqual(['"/stake";r=0;t=60', '"/stake";r=0;t=60'])
})

it("a connection ends behind its seventeenth refusal for being too many, and no other one", () => {
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

it("a limit on what is given away counts no refused request", () => {
  const gate = admissionOf().gateOf({ ...stake, limit: { ...stake.limit, onlyGranted: true } })
  const malformed = asking()
  expect(gate(malformed)).toBeUndefined()
  expect(gate(asking())?._tag).toBe("RateLimited")
  malformed.onRefused?.()
  expect(malformed.headers.at(-1)).toBe('"/stake";r=1;t=0')
  const granted = asking()
  expect(gate(granted)).toBeUndefined()
  const another = asking()
  expect(gate(another)?._tag).toBe("RateLimited")
  another.onRefused?.()
  expect(gate(asking())?._tag).toBe("RateLimited")
})

it("a limit that spares the owner of a network of one counts everybody who is not at its machine", () => {
  const limit = { ...stake.limit, notForTheOwner: true }
  const refusals = (isSolo: boolean, headers: Readonly<Record<string, string>> = {}) => {
    const gate = admissionOf({ isSolo }).gateOf({ ...stake, limit })
    return [gate(asking(headers)), gate(asking(headers))].map((refusal) => refusal?._tag)
  }
  expect(refusals(true)).toEqual([undefined, undefined])
  expect(refusals(false)).toEqual([undefined, "RateLimited"])
  for (const name of ["forwarded", "x-forwarded-for", "x-real-ip", "via"])
    expect(refusals(true, { [name]: "203.0.113.1" })).toEqual([undefined, "RateLimited"])
  expect(refusals(true, { host: "node.example" })).toEqual([undefined, "RateLimited"])
  expect(refusals(true, { host: "" })).toEqual([undefined, "RateLimited"])
  expect(refusals(true, foreign)).toEqual(["ForeignOrigin", "ForeignOrigin"])
})
