/** Many slow clients at once, from one address or several, and their effect on other clients. */
import { connect, type Socket } from "node:net"
import { afterEach, describe, expect, it } from "vitest"
import * as Rest from "../support/Rest.js"
import * as TestServer from "./TestServer.js"

interface Crowd {
  readonly clients: number
  readonly addressOf: (n: number) => string
}

/** Each uses one of fifty addresses, or all share one. */
const ofFifty = (n: number) => `127.0.1.${1 + (n % 50)}`
const REASON = "three seconds for each kind"
const crowds: { readonly [name: string]: Crowd } = {
  "two hundred clients from fifty addresses": { clients: 200, addressOf: ofFifty },
  [Rest.of(REASON, "a thousand clients from fifty addresses")]: { clients: 1_000, addressOf: ofFifty },
  [Rest.of(REASON, "a thousand clients from one address")]: { clients: 1_000, addressOf: () => "127.0.0.2" },
}
/** Fewer places than there are slow clients. */
const PLACES_PERCENT = 60
const SETTLED_MS = 1_000
const LOOKED_MS = 2_000
/** Clients that are served wait no longer than this. */
const NOTICED_MS = 1_500
const GROWN_BYTES_A_CLIENT = 300_000

const head = "POST /tx/submit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
const asking = "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
const document = "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"

interface Kind {
  /** The part that is sent at once. */
  readonly first: string
  /** The part that is sent afterwards, one byte at a time. */
  readonly rest: string
  readonly reads: boolean
}

const kinds: { readonly [name: string]: Kind } = {
  "say nothing": { first: "", rest: "", reads: true },
  [Rest.of(REASON, "send headers a byte at a time")]: {
    first: "",
    rest: `${head}X-Long: ${"x".repeat(500)}`,
    reads: true,
  },
  "send a body a byte at a time": { first: `${head}Content-Length: 60000\r\n\r\n`, rest: " ".repeat(500), reads: true },
  [Rest.of(REASON, "send a large body but for its end")]: {
    first: `${head}Content-Length: 1000000\r\n\r\n[${" ".repeat(50_000)}`,
    rest: "",
    reads: true,
  },
  "never read": { first: document.repeat(2), rest: "", reads: false },
  [Rest.of(REASON, "send twenty requests ahead")]: {
    first: "GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(20),
    rest: "",
    reads: true,
  },
  [Rest.of(REASON, "listen to events and do not read them")]: {
    first: "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n",
    rest: "",
    reads: false,
  },
}

const open: Array<Socket> = []
const timers: Array<NodeJS.Timeout> = []
afterEach(() => {
  for (const timer of timers.splice(0)) clearInterval(timer)
  for (const socket of open.splice(0)) socket.destroy()
})

const begin = (port: number, localAddress: string, { first, rest, reads }: Kind): void => {
  const socket = connect({ port, host: "127.0.0.1", localAddress })
  open.push(socket)
  socket.on("error", () => {})
  if (reads) socket.resume()
  else socket.pause()
  socket.write(first)
  let at = 0
  if (rest === "") return
  const timer = setInterval(() => {
    if (at < rest.length && !socket.destroyed) socket.write(rest[at++] ?? "")
    else clearInterval(timer)
  }, 100)
  timers.push(timer)
}

/** The longest wait of a client that sends requests continuously. */
const longestWait = async (port: number): Promise<number> => {
  const until = performance.now() + LOOKED_MS
  let longest = 0
  while (performance.now() < until) {
    const at = performance.now()
    const { status } = await TestServer.ask(port, asking)
    expect(status).toBe(200)
    longest = Math.max(longest, performance.now() - at)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return longest
}

describe.each(Object.entries(crowds))("%s", (_, { clients, addressOf }) => {
  it.each(Object.entries(kinds))("with %s leave room for other clients", async (_, kind) => {
    await using server = await TestServer.start({
      rateLimits: true,
      tolerance: { connections: (clients * PLACES_PERCENT) / 100 },
    })
    const before = process.memoryUsage().rss
    for (let n = 0; n < clients; n++) begin(server.port, addressOf(n), kind)
    // This process is both ends, so opening this many connections takes a while.
    await TestServer.ask(server.port, asking)
    await new Promise((resolve) => setTimeout(resolve, SETTLED_MS))
    const longest = await longestWait(server.port)
    const grown = process.memoryUsage().rss - before
    expect(longest).toBeLessThan(NOTICED_MS)
    expect(grown / clients).toBeLessThan(GROWN_BYTES_A_CLIENT)
    for (const socket of open.splice(0)) socket.destroy()
  })
})
