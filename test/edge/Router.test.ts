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
  it("is found with its parameters, still escaped", () => {
    expect(found("/tx/a%2Fb")?.params).toEqual({ hash: "a%2Fb" })
    expect(found("/vote/7/@alice")?.params).toEqual({ id: "7", address: "@alice" })
    expect(found("/validator/x/delegators")?.path).toBe("/validator/:address/delegators")
  })

  it("that is fixed wins over a pattern", () => {
    expect(found("/tx/submit")).toEqual({ path: "/tx/submit", params: {}, allowed: ["POST", "OPTIONS"] })
  })

  it("that can be read can be asked for with HEAD, and every path with OPTIONS", () => {
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
  ])("%j leads nowhere", (path) => {
    expect(router.match(path)).toBeUndefined()
  })
})

it("one path and method belong to one endpoint", () => {
  const twice = { method: "GET", path: "/a", target: 1 }
  expect(() => new Router([twice, twice])).toThrow("GET /a is defined twice")
})
