/** Bodies in one-byte chunks. Each chunk costs as much as a whole packet, so every entrance limits their number. */
import { connect, type Socket } from "node:net"
import { Effect, Option } from "effect"
import { afterEach, describe, expect, it } from "vitest"
import * as Cidr from "../../src/node/start/Cidr.js"
import * as TestServer from "./TestServer.js"

const HOUR_MS = 3_600_000
/** Nothing but the chunks may close a connection. */
const patient = { headersMs: HOUR_MS, requestMs: HOUR_MS, keepAliveMs: HOUR_MS }

const headOf = (method: string, path: string, type = "application/json", more = ""): string =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\n${more}Transfer-Encoding: chunked\r\n\r\n`

/** `text` in chunks of the given size, followed by the end of the body. */
const chunked = (text: string, size: number): string => {
  let body = ""
  for (let at = 0; at < text.length; at += size) {
    const chunk = text.slice(at, at + size)
    body += `${chunk.length.toString(16)}\r\n${chunk}\r\n`
  }
  return `${body}0\r\n\r\n`
}

const CONFETTI = Buffer.from("1\r\n \r\n".repeat(5_000))

const open: Array<Socket> = []
let server: TestServer.TestServer | undefined
afterEach(async () => {
  for (const socket of open.splice(0)) socket.destroy()
  await server?.stop()
  server = undefined
})

const dial = (port: number, localAddress = "127.0.0.1"): Socket => {
  const socket = connect({ port, host: "127.0.0.1", localAddress })
  open.push(socket)
  socket.on("error", () => {})
  return socket
}

const closed = (socket: Socket): Promise<void> => new Promise((resolve) => socket.on("close", () => resolve()))

/** Sends the head and then tiny chunks until the server closes the connection; returns what the server sent. */
const pour = (port: number, head: string, localAddress?: string): Promise<string> => {
  const socket = dial(port, localAddress)
  let received = ""
  socket.setEncoding("latin1").on("data", (text: string) => {
    received += text
  })
  const send = (): void => {
    while (!socket.destroyed && socket.write(CONFETTI));
  }
  socket.write(head)
  socket.on("drain", send)
  send()
  return closed(socket).then(() => received)
}

const address = JSON.stringify({ address: "@zoe", amount: 1 })

describe("a body in one-byte chunks", () => {
  it("is read when it is short, as is a long body in 64-byte chunks", async () => {
    server = await TestServer.start()
    const head = headOf("POST", "/faucet", undefined, "Connection: close\r\n")
    for (const [body, size] of [
      [address, 1],
      [address.padEnd(512), 1],
      [address.padEnd(57_600), 64],
    ] as const) {
      expect(await TestServer.ask(server.port, head + chunked(body, size))).toMatchObject({ status: 200 })
    }
  })

  it("is refused when it is long, and its connection is closed", async () => {
    server = await TestServer.start({ tolerance: patient })
    const head = headOf("POST", "/faucet")
    const text = (await TestServer.exchange(server.port, [head + chunked(address.padEnd(513), 1)])).toString()
    expect(text).toMatch(/^HTTP\/1\.1 400 .*\r\n/)
    expect(text).toContain("Connection: close\r\n")
    expect(text).toContain("too many pieces")
  })

  it.each([
    ["a body that is wanted", headOf("POST", "/tx/submit")],
    ["an unknown path (404)", headOf("POST", "/nothing")],
    ["another method (405)", headOf("DELETE", "/status")],
    ["what a mainnet has not (410)", headOf("POST", "/stake")],
    ["another type (415)", headOf("POST", "/tx/submit", "text/plain")],
    ["no host (400)", headOf("POST", "/tx/submit").replace("Host: localhost\r\n", "")],
    ["a read", headOf("GET", "/status")],
    ["a read of the head", headOf("HEAD", "/status")],
    ["a preflight", headOf("OPTIONS", "/status")],
    ["a stream of events", headOf("GET", "/events")],
    ["the head of a stream of events", headOf("HEAD", "/events")],
    ["a page", headOf("GET", "/docs")],
    ["permission to send it", headOf("POST", "/tx/submit", undefined, "Expect: 100-continue\r\n")],
    ["something else that is expected", headOf("POST", "/tx/submit", undefined, "Expect: wonders\r\n")],
    ["another protocol", headOf("GET", "/status", undefined, "Connection: Upgrade\r\nUpgrade: websocket\r\n")],
    ["a request behind another", TestServer.get("/status").replace("Connection: close\r\n", "") + headOf("POST", "/x")],
  ])("without an end closes the connection: with %s", async (_, head) => {
    server = await TestServer.start({ isMainnet: true, tolerance: patient })
    await pour(server.port, head)
  })

  it("closes all connections of its client and bars new ones for a while; other clients keep theirs", async () => {
    server = await TestServer.start({ tolerance: patient })
    const { port } = server
    const idle = dial(port, "127.0.0.2")
    const other = dial(port, "127.0.0.3")
    let heard = ""
    other.on("data", (bytes) => {
      heard += bytes.toString()
    })
    for (const socket of [idle, other]) {
      socket.write("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
      await new Promise((resolve) => socket.once("data", resolve))
    }
    const left = closed(idle)
    await pour(port, headOf("POST", "/nothing"), "127.0.0.2")
    await left
    const next = dial(port, "127.0.0.2")
    next.resume()
    next.write(TestServer.get("/status"))
    await closed(next)
    expect(next.bytesRead).toBe(0)
    heard = ""
    other.write(TestServer.get("/health"))
    await closed(other)
    expect(heard).toMatch(/^HTTP\/1\.1 200 OK/)
  })

  it("leaves liveness probes from the same address answered, without a way to continue the flood", async () => {
    let asked = 0
    const health = () => Effect.sync(() => ({ status: ++asked > 0 ? ("ok" as const) : ("ok" as const) }))
    server = await TestServer.start({ tolerance: patient }, { core: { health } })
    const { port } = server
    const local = "127.0.0.2"
    const ask = (bytes: string): Promise<string> => {
      const socket = dial(port, local)
      let heard = ""
      socket.on("data", (piece) => {
        heard += piece.toString()
      })
      socket.write(bytes)
      return closed(socket).then(() => heard)
    }
    const probe = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    await pour(port, headOf("POST", "/nothing"), local)
    // Connections without requests lose their places to newer ones.
    const silent = Array.from({ length: 100 }, () => closed(dial(port, local)))
    expect(await ask(probe)).toMatch(/^HTTP\/1\.1 200 [\s\S]*Connection: close[\s\S]*\{"status":"ok"\}$/)
    expect(asked).toBe(1)
    // Of a thousand requests in one packet, one is answered.
    expect((await ask(probe.repeat(1_000))).match(/HTTP\/1\.1/g)).toBe(null)
    expect((await ask(probe.repeat(10))).match(/HTTP\/1\.1/g)).toHaveLength(1)
    for (const other of [probe.replace("health", "status"), probe.replace("GET", "POST"), "x".repeat(3_000)])
      expect(await ask(other)).toBe("")
    await pour(port, headOf("GET", "/health"), local)
    expect(asked).toBeLessThan(5)
    await Promise.all(silent)
    expect(await ask(probe)).toContain('{"status":"ok"}')
  })

  it("closes only its own connection when it comes through a trusted proxy", async () => {
    const trustedProxies = [Option.getOrThrow(Cidr.parse("127.0.0.0/8"))]
    server = await TestServer.start({ tolerance: patient, trustedProxies })
    await pour(server.port, headOf("POST", "/nothing"))
    expect(await TestServer.ask(server.port, TestServer.get("/health"))).toMatchObject({ status: 200 })
  })

  it("counts its chunks as requests, and an announced body before it arrives", async () => {
    server = await TestServer.start({ rateLimits: true })
    const { port } = server
    const from = (lines: string) => headOf("POST", "/tx/submit", undefined, `Connection: close\r\n${lines}`)
    // 512 chunks of 64 bytes are sixteen requests.
    const body = chunked(JSON.stringify([{}]).padEnd(512), 1)
    const statuses: Array<number> = []
    for (let i = 0; i < 63; i++) statuses.push((await TestServer.ask(port, from("") + body)).status)
    expect(statuses).toEqual([...Array.from({ length: 62 }, () => 200), 429])
  })
})

it("counts requests with bodies that never arrive before their first byte", async () => {
  // A client that holds two bodies has two KiB, and as much must be free.
  server = await TestServer.start({ tolerance: { ...patient, bodyBytes: 4_096 } })
  const begun =
    "POST /tx/submit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n"
  for (let i = 0; i < 2; i++) {
    dial(server.port).write(begun)
    await TestServer.ask(server.port, TestServer.get("/health"))
  }
  const text = await TestServer.exchange(server.port, [begun], { isEnough: (text) => text.includes("\r\n\r\n{") })
  expect(text.toString()).toMatch(/^HTTP\/1\.1 503 .*[\s\S]*too many bodies/)
})
