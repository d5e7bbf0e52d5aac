/** The operator listener of a running node: metrics, and the level of the log. */
import { request } from "node:http"
import { connect } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { program, Running } from "./Running.js"

interface Answer {
  readonly status: number
  readonly text: string
}

describe("the operator listener", () => {
  let node: Running
  let url = ""
  beforeAll(async () => {
    const words = ["--ephemeral", "--port", "0", "--metrics-port", "0", "--log-format", "json"]
    node = new Running(process.execPath, [program, ...words])
    await node.until(() => /"running"/.test(node.stderr))
    url = /"url":"(http:\/\/127\.0\.0\.1:\d+)"/.exec(node.stderr)?.[1] ?? ""
  })
  afterAll(async () => {
    expect((await node.stop()).code).toBe(0)
  })

  const ask = (method: string, path: string, body?: string, headers: Record<string, string> = {}): Promise<Answer> =>
    new Promise((answered, failed) => {
      request(`${url}${path}`, { method, headers }, (answer) => {
        let text = ""
        answer.setEncoding("utf8").on("data", (piece: string) => (text += piece))
        answer.on("end", () => answered({ status: answer.statusCode ?? 0, text }))
      })
        .on("error", failed)
        .end(body)
    })

  const rpc = (): string => /^ {2}rpc +(\S+)$/m.exec(node.stdout)?.[1] ?? ""

  it("serves the HTTP API's metrics, which count its responses", async () => {
    await fetch(`${rpc()}/status`)
    const { status, text } = await ask("GET", "/metrics")
    expect(status).toBe(200)
    expect(text).toMatch(/^udg_dag_round \d+$/m)
    expect(text).toMatch(/^udg_http_request_duration_seconds_count\{.*route="\/status".*\} \d+$/m)
    expect(text).toMatch(/^process_start_time_seconds /m)
  })

  it("shows the log level and changes it while the node runs", async () => {
    const count = () => node.stderr.split('"level":"debug","module":"consensus"').length
    expect(await ask("GET", "/log")).toEqual({ status: 200, text: "info\n" })
    expect(count()).toBe(1)
    expect(await ask("PUT", "/log", "info,consensus=debug")).toEqual({ status: 200, text: "info,consensus=debug\n" })
    await node.until(() => count() > 5)
    expect(node.stderr).toContain('"directives":"info,consensus=debug"')
    expect(await ask("PUT", "/log", "error")).toEqual({ status: 200, text: "error\n" })
    expect(await ask("PUT", "/log", "info")).toEqual({ status: 200, text: "info\n" })
  })

  it("refuses invalid directives, long ones, web pages and all other requests", async () => {
    for (const wrong of ["", "loud", "info,nothing=debug"]) {
      const { status, text } = await ask("PUT", "/log", wrong)
      expect([wrong, status, text]).toEqual([wrong, 400, expect.stringContaining("RUST_LOG")])
    }
    expect((await ask("PUT", "/log", "x".repeat(100_000)).catch(() => ({ status: 413 }))).status).toBe(413)
    expect((await ask("PUT", "/log", "trace", { origin: "http://evil.example" })).status).toBe(403)
    for (const [method, path] of [
      ["GET", "/"],
      ["GET", "/status"],
      ["POST", "/log"],
      ["PUT", "/metrics"],
    ] as const)
      expect([method, path, (await ask(method, path)).status]).toEqual([method, path, 404])
    expect((await ask("GET", "/log")).text).toBe("info\n")
  })

  it("refuses pages whose name was made to resolve to this machine", async () => {
    for (const path of ["/metrics", "/log"]) {
      expect([path, (await ask("GET", path, undefined, { host: "evil.example:80" })).status]).toEqual([path, 403])
    }
    expect((await ask("GET", "/log", undefined, { host: "localhost:80" })).status).toBe(200)
  })

  it("closes the connection of an endless body, and keeps nothing of it", async () => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    let received = ""
    const closed = new Promise((resolve) => socket.on("close", resolve))
    socket.on("data", (piece) => (received += piece)).on("error", () => {})
    const length = 900_000_000
    socket.write(`PUT /log HTTP/1.1\r\nHost: ${hostname}\r\nContent-Length: ${length}\r\n\r\n`)
    const piece = Buffer.alloc(65_536, "x")
    let isOpen = true
    closed.then(() => {
      isOpen = false
    })
    let sent = 0
    while (isOpen && sent < length) {
      sent += piece.length
      if (socket.write(piece)) await new Promise((resolve) => setImmediate(resolve))
      else await Promise.race([closed, new Promise((resolve) => socket.once("drain", resolve))])
    }
    expect(sent).toBeLessThan(length)
    expect(received).toMatch(/^HTTP\/1\.1 413 /)
    expect((await ask("GET", "/log")).status).toBe(200)
  })

  it("closes stalled connections within seconds", async () => {
    const { hostname, port } = new URL(url)
    const slow = connect(Number(port), hostname)
    slow
      .resume()
      .on("error", () => {})
      .write("GET /metrics HTTP/1.1\r\nHost: ")
    await new Promise((resolve) => slow.on("close", resolve))
  }, 120_000)
})
