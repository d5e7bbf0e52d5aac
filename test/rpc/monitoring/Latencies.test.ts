import { METHODS } from "node:http"
import { expect, it } from "vitest"
import * as Family from "../../../src/rpc/metrics/Family.js"
import { Latencies } from "../../../src/rpc/metrics/Latencies.js"
import * as TestServer from "../TestServer.js"

const answered = (milliseconds: number, changes = {}) => ({
  route: "/tx/:hash",
  method: "GET",
  status: 200,
  milliseconds,
  ...changes,
})

it("counts each response in every bucket at or above it, separately by route, method and status", () => {
  const latencies = new Latencies()
  // 0.5 ms falls in the first bucket, and eleven seconds lie beyond the last.
  for (const milliseconds of [0.1, 0.5, 0.6, 30, 11_000]) latencies.observe(answered(milliseconds))
  latencies.observe(answered(1, { status: 404 }))
  latencies.observe(answered(1, { method: "HEAD" }))
  latencies.observe(answered(1, { route: "none" }))
  const series = Family.labelled(
    "histogram",
    "times",
    "How long it took",
    ["route", "method", "status"],
    () => latencies.rows,
  )
  const lines = Family.expose([series], null).split("\n")
  expect(lines.slice(0, 2)).toEqual(["# HELP times How long it took", "# TYPE times histogram"])
  const ofFirst = lines.filter((line) => line.includes('route="/tx/:hash",method="GET",status="200"'))
  expect(ofFirst.map((line) => [/le="([^"]+)"/.exec(line)?.[1], Number(line.slice(line.indexOf("} ") + 2))])).toEqual([
    ["0.0005", 2],
    ["0.001", 3],
    ["0.0025", 3],
    ["0.005", 3],
    ["0.01", 3],
    ["0.02", 3],
    ["0.05", 4],
    ["0.1", 4],
    ["0.25", 4],
    ["0.5", 4],
    ["1", 4],
    ["2.5", 4],
    ["10", 4],
    ["+Inf", 5],
    [undefined, 11.0312],
    [undefined, 5],
  ])
  expect(lines.filter((line) => line.includes("_count{") && line.endsWith("} 1"))).toHaveLength(3)
})

it("has one label for all methods without an endpoint", async () => {
  const latencies = new Latencies()
  const server = await TestServer.start({ onAnswer: latencies.observe })
  // The parser hands CONNECT over elsewhere, before there is a request.
  const foreign = METHODS.filter((method) => !["GET", "HEAD", "POST", "OPTIONS", "CONNECT"].includes(method))
  for (const path of ["/status", "/balance/@zoe", "/nothing"]) {
    for (const method of ["GET", "HEAD", ...foreign]) {
      await TestServer.exchange(server.port, [
        `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
      ])
    }
  }
  await server.stop()
  const seen = latencies.rows.map(([route, method, status]) => `${method} ${route} ${status}`)
  expect(seen.filter((each) => each.startsWith("other"))).toEqual([
    "other /status 405",
    "other /balance/:address 405",
    "other none 404",
  ])
  expect(seen).toHaveLength(9)
  expect(
    latencies.rows.filter(([, method]) => method === "other").map(([, , , { cumulative }]) => cumulative.at(-1)),
  ).toEqual(Array.from({ length: 3 }, () => foreign.length))
})
