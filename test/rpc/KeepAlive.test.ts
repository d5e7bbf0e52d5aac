/** Connections that stay open between requests: none closes between the arrival of a request and its response. */
import { once } from "node:events"
import { connect } from "node:net"
import { Worker } from "node:worker_threads"
import { afterEach, describe, expect, it } from "vitest"
import * as Content from "../../src/edge/server/Content.js"
import * as TestServer from "./TestServer.js"

/**
 * A client in a thread of its own, because the server's thread is blocked here. It sends a request, and another one
 * over the same connection when told, and reports each response, or that the connection was closed.
 */
const CLIENT = `
  const { connect } = require("node:net")
  const { parentPort, workerData: { port, flags } } = require("node:worker_threads")
  const request = "GET /status HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n"
  let received = ""
  let asked = 1
  const say = () => { parentPort.postMessage(received); received = "" }
  const socket = connect(port, "127.0.0.1", () => socket.write(request))
  socket.setEncoding("latin1").on("error", () => {}).on("close", say).on("data", (text) => {
    received += text
    const end = received.indexOf("\\r\\n\\r\\n")
    const length = Number(/content-length: (\\d+)/i.exec(received)?.[1] ?? 0)
    if (end < 0 || received.length < end + 4 + length) return
    say()
    if (asked++ > 1) return socket.destroy()
    Atomics.wait(flags, 0, 0)
    socket.write(request)
    Atomics.store(flags, 1, 1)
  })
`

/** More than the buffers of a socket hold. */
const LARGE = 32_000_000

let server: TestServer.TestServer | undefined
let worker: Worker | undefined
afterEach(async () => {
  await worker?.terminate()
  await server?.stop()
  server = undefined
})

const client = (port: number) => {
  const flags = new Int32Array(new SharedArrayBuffer(8))
  const own = new Worker(CLIENT, { eval: true, workerData: { port, flags } })
  worker = own
  const heard = async (): Promise<string> => String((await once(own, "message"))[0])
  /** Blocks the server's thread until the second request has arrived and the given milliseconds have passed. */
  const askBehind = (ms: number): void => {
    const until = performance.now() + ms
    Atomics.store(flags, 0, 1)
    Atomics.notify(flags, 0)
    while (Atomics.load(flags, 1) === 0 || performance.now() < until);
  }
  return { heard, askBehind }
}

describe("a persistent connection", () => {
  it("announces its timeout", async () => {
    server = await TestServer.start()
    const request = "GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n"
    const isEnough = (text: string) => text.includes("\r\n\r\n")
    const text = (await TestServer.exchange(server.port, [request], { isEnough })).toString()
    expect(text).toMatch(/\r\nConnection: keep-alive\r\nKeep-Alive: timeout=15\r\n/)
  })

  it.each([
    ["when its time is over", 5_000],
    ["even after the time beyond that", 0],
  ])("is not closed %s while a request has arrived that a busy thread has not read", async (_, graceMs) => {
    server = await TestServer.start({ tolerance: { keepAliveMs: 100, graceMs } })
    const { heard, askBehind } = client(server.port)
    expect(await heard()).toMatch(/^HTTP\/1\.1 200 /)
    // Node itself waits a second longer than it announces.
    askBehind(1_500)
    expect(await heard()).toMatch(/^HTTP\/1\.1 200 /)
  })

  it("is closed after its timeout and the grace time if no request comes", async () => {
    server = await TestServer.start({ tolerance: { keepAliveMs: 100, graceMs: 100 } })
    const socket = connect(server.port, "127.0.0.1")
    socket.resume().write("GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await once(socket, "close")
    expect(socket.bytesRead).toBeGreaterThan(0)
  })

  it("is not closed by a shutdown before a request that has arrived is answered", async () => {
    server = await TestServer.start({ tolerance: { drainMs: 3_600_000 } })
    const { heard, askBehind } = client(server.port)
    expect(await heard()).toMatch(/^HTTP\/1\.1 200 /)
    const answered = heard()
    askBehind(0)
    const stopped = server.stop()
    server = undefined
    expect(await answered).toMatch(/^HTTP\/1\.1 503 [\s\S]*Connection: close/)
    await stopped
  })

  it("is not closed by a shutdown before its response is read, however large it is", async () => {
    const content = Content.file("text/plain", Buffer.alloc(LARGE, "x"))
    server = await TestServer.start({
      pages: () => ({ status: 200, headers: [], content }),
      tolerance: { drainMs: 60_000 },
    })
    const socket = connect(server.port, "127.0.0.1")
    socket.write("GET /page HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await once(socket, "readable")
    const stopped = server.stop()
    server = undefined
    await new Promise((resolve) => setTimeout(resolve, 300))
    socket.resume()
    await once(socket, "close")
    expect(socket.bytesRead).toBeGreaterThan(LARGE)
    await stopped
  })
})
