import { describe, expect, it } from "vitest"
import { Router } from "../../src/edge/server/Router.js"

const router = new Router([
  { method: "GET", path: "/status", target: "status" },
  { method: "POST", path: "/tx", target: "send" },
  { method: "POST", path: "/tx/submit", target: "submit" },
  { method: "GET", path: "/tx/:hash", target: "lookup" },
  { method: "POST", path: "/vote", target: "vote" },
  { method: "GET", path: "/vote/:id/:address", target: "voteOf" },
  { method: "GET", path: "/validator/:address/delegators", target: "delegators" },
])

const found = (path: string) => {
  const match = router.match(path)
  return match && { path: match.route.path, params: match.params, allowed: match.route.allowed }
}

describe("a path", () => {
  it("matches with its parameters still escaped", () => {
    expect(found("/tx/a%2Fb")?.params).toEqual({ hash: "a%2Fb" })
    expect(found("/vote/7/@alice")?.params).toEqual({ id: "7", address: "@alice" })
    expect(found("/validator/x/delegators")?.path).toBe("/validator/:address/delegators")
  })

  it("is matched exactly before any pattern", () => {
    expect(found("/tx/submit")).toEqual({ path: "/tx/submit", params: {}, allowed: ["POST", "OPTIONS"] })
  })

  it("accepts HEAD where it accepts GET, and OPTIONS everywhere", () => {
    expect(found("/status")?.allowed).toEqual(["GET", "HEAD", "OPTIONS"])
    expect(found("/vote")?.allowed).toEqual(["POST", "OPTIONS"])
  })

  it.each([
    "/",
    "",
    "/nothing",
    "/status/",
    "//status",
    "/tx/",
    "/tx/a/b",
    "/vote/7",
    "/vote/7/",
    "/validator/x/y",
    "/STATUS",
  ])("matches nothing for %j", (path) => {
    expect(router.match(path)).toBeUndefined()
  })
})

it("has at most one endpoint per method", () => {
  const twice = { method: "GET", path: "/a", target: 1 }
  expect(() => new Router([twice, twice])).toThrow("GET /a is defined twice")
})
