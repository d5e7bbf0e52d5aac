import { gunzipSync } from "node:zlib"
import { describe, expect, it } from "vitest"
import * as Site from "../../../src/rpc/server/Site.js"
import { forTests } from "../../support/forTests.js"
import * as TestServer from "../TestServer.js"

const PAGE = "<!doctype html><title>explorer</title>"
const PROGRAM = "console.log(1)\n".repeat(100)

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describe("the explorer on the node's server", () => {
  const files = new Map([
    ["index.html", bytes(PAGE)],
    ["assets/main-1a2b.js", bytes(PROGRAM)],
  ])
  const server = forTests(() => TestServer.start({ pages: Site.make(files) }))

  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${server().url}${path}`, { headers, redirect: "manual" })

  it.each(["/explorer/", "/explorer/tx/3f9a", "/explorer/address/@alice"])("serves its page at %s", async (path) => {
    const answer = await get(path)
    expect(answer.status).toBe(200)
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8")
    expect(answer.headers.get("cache-control")).toBe("no-store")
    expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'; script-src 'self'")
    expect(await answer.text()).toBe(PAGE)
  })

  it("lets browsers cache files with content-based names, with the headers of every response", async () => {
    const answer = await get("/explorer/assets/main-1a2b.js")
    expect(answer.headers.get("content-type")).toBe("text/javascript; charset=utf-8")
    expect(answer.headers.get("cache-control")).toBe("public, max-age=31536000, immutable")
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff")
    expect(answer.headers.get("access-control-allow-origin")).toBe("*")
    expect(await answer.text()).toBe(PROGRAM)
  })

  it("compresses for clients that accept it", async () => {
    const raw = await TestServer.exchange(server().port, [
      TestServer.get("/explorer/assets/main-1a2b.js", "Accept-Encoding: gzip, br\r\n"),
    ])
    const end = raw.indexOf("\r\n\r\n")
    const head = raw.subarray(0, end).toString()
    expect(head).toContain("Content-Encoding: gzip")
    expect(head).toContain("Vary: Accept-Encoding")
    expect(gunzipSync(raw.subarray(end + 4)).toString()).toBe(PROGRAM)
  })

  it("returns no page in place of a missing file", async () => {
    const answer = await get("/explorer/assets/main-old.js")
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ code: "PathNotFound" })
  })

  it("redirects only browsers to it from / and /explorer", async () => {
    const browser = await get("/", { accept: "text/html,application/xhtml+xml" })
    expect([browser.status, browser.headers.get("location")]).toEqual([302, "/explorer/"])
    const short = await get("/explorer")
    expect([short.status, short.headers.get("location")]).toEqual([302, "/explorer/"])
    const program = await get("/", { accept: "application/json" })
    expect(program.status).toBe(404)
  })

  it("accepts no other method", async () => {
    const answer = await fetch(`${server().url}/explorer/`, { method: "POST" })
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"])
  })
})
