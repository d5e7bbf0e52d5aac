/** How much of a server one client can hold while others compete. All of 127.0.0.0/8 is this machine. */
import { connect, type Socket } from "node:net"
import { Effect, Option, Stream } from "effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { Floods } from "../../src/edge/admission/Floods.js"
import * as Cidr from "../../src/node/start/Cidr.js"
import * as Failure from "../../src/rpc/api/Failure.js"
import * as Rest from "../support/Rest.js"
import * as TestServer from "./TestServer.js"

const { get, post } = TestServer

let server: TestServer.TestServer
const reads = { begun: 0, underWay: 0, most: 0 }
/** Reads that block the thread for a while, wait, and block it again. */
const READ_MS = 4

const hold = Effect.sync(() => {
  const until = performance.now() + READ_MS / 2
  while (performance.now() < until);
})

const slowRead = Effect.gen(function* () {
  reads.begun++
  reads.most = Math.max(reads.most, ++reads.underWay)
  yield* hold
  yield* Effect.sleep(1)
  yield* hold
  reads.underWay--
  return yield* Effect.fail(new Failure.NameNotFound({ message: "nobody is @zoe" }))
})
const sockets: Array<Socket> = []

beforeEach(async () => {
  server = await TestServer.start(
    { rateLimits: true, tolerance: { connections: 60, bodyBytes: 8_000_000, unreadBytes: 4_000_000 } },
    { events: { stream: () => Effect.succeed(Stream.never) }, core: { balance: () => slowRead } },
  )
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await server.stop()
})

interface Visitor {
  readonly socket: Socket
  readonly heard: () => string
}

/** A persistent connection and the data received over it. */
const visit = (from: string, bytes: string | Buffer = "", reads = true, port = server.port): Promise<Visitor> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", localAddress: from })
    let heard = ""
    if (reads) socket.setEncoding("latin1").on("data", (text: string) => (heard += text))
    socket.on("error", () => {})
    socket.once("connect", () => {
      if (bytes.length > 0) socket.write(bytes)
      resolve({ socket, heard: () => heard })
    })
    sockets.push(socket)
  })

const ask = async (from: string, request: string): Promise<number> => {
  const { socket, heard } = await visit(from, request)
  await new Promise((resolve) => socket.once("close", resolve))
  return Number(/^HTTP\/1\.1 (\d+)/.exec(heard())?.[1] ?? 0)
}

const events = "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"
const statusOf = ({ heard }: Visitor): string | undefined => /^HTTP\/1\.1 (\d+)/.exec(heard())?.[1]

describe("event streams", () => {
  it("are limited to eight per client; the ninth is refused with that reason", async () => {
    const own = await Promise.all(Array.from({ length: 8 }, () => visit("127.0.0.2", events)))
    await expect.poll(() => own.map(statusOf)).toEqual(own.map(() => "200"))
    const ninth = await visit("127.0.0.2", events)
    await expect.poll(() => statusOf(ninth)).toBe("429")
    expect(ninth.heard()).toContain("Retry-After: 10\r\n")
    expect(ninth.heard()).toContain('"code":"TooManyStreams"')
    expect(ninth.heard()).toContain('"limit":8')
    const other = await visit("127.0.0.3", events)
    await expect.poll(() => statusOf(other)).toBe("200")
    own[0]?.socket.destroy()
    await expect.poll(async () => statusOf(await visit("127.0.0.2", events).then(settled))).toBe("200")
  })
})

describe("a crowd of clients in one network with one each", () => {
  it("of event streams makes room for clients from elsewhere but not for its own", async () => {
    const settings = { rateLimits: true, trustedProxies: [Option.getOrThrow(Cidr.parse("127.0.0.1"))] }
    const proxied = await TestServer.start(settings, { events: { stream: () => Effect.succeed(Stream.never) } })
    const from = async (address: string): Promise<Visitor> => {
      const forwarded = events.replace("\r\n\r\n", `\r\nX-Forwarded-For: ${address}\r\n\r\n`)
      return settled(await visit("127.0.0.1", forwarded, true, proxied.port))
    }
    const crowd: Array<Visitor> = []
    for (let n = 0; n < 100; n++) crowd.push(await from(`2001:db8:0:${n.toString(16)}::1`))
    expect(new Set(crowd.map(statusOf))).toEqual(new Set(["200"]))
    expect(statusOf(await from("2001:db8:0:ff::1"))).toBe("503")
    const people = await Promise.all(["203.0.113.7", "2001:db9::1", "2001:db8:1::1"].map(from))
    expect(people.map(statusOf)).toEqual(["200", "200", "200"])
    await expect.poll(() => crowd.filter(({ socket }) => socket.closed).length).toBe(3)
    expect(statusOf(await from("2001:db8:0:fe::1"))).toBe("503")
    expect(people.filter(({ socket }) => socket.closed)).toEqual([])
    await proxied.stop()
  })

  it("of connections makes room for clients from elsewhere", async () => {
    const crowd: Array<Visitor> = []
    for (let n = 1; n <= 60; n++) crowd.push(await visit(`127.7.0.${n}`))
    expect(await ask("127.7.0.99", "")).toBe(503)
    expect(await ask("127.8.0.1", get("/validators"))).toBe(200)
    await expect.poll(() => crowd.filter(({ socket }) => socket.closed).length).toBe(1)
  })

  it("of slow bodies leaves room for bodies of others", async () => {
    const head = `POST /tx/submit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 950000\r\n\r\n`
    // Together they use all the memory, and each is far below the limit of one client.
    for (let n = 1; n < 60; n++) await visit(`127.7.0.${n}`, `${head}[${" ".repeat(134_000)}`)
    await expect.poll(() => ask("127.8.0.1", post("/tx/submit", `[${" ".repeat(200_000)}1]`))).toBe(200)
  })
})

/** When a request was answered. */
const settled = async (visitor: Visitor): Promise<Visitor> => {
  await expect.poll(() => statusOf(visitor)).toBeDefined()
  return visitor
}

describe("connections", () => {
  it("of one client that takes all of them make room for others with fewer", async () => {
    const greedy = await Promise.all(Array.from({ length: 60 }, () => visit("127.0.0.2")))
    expect(await ask("127.0.0.3", get("/validators"))).toBe(200)
    await expect.poll(() => greedy.filter(({ socket }) => socket.closed).length).toBe(1)
    // The free place goes to anybody; beyond it, the client that holds the most is refused.
    await visit("127.0.0.2")
    expect(await ask("127.0.0.2", "")).toBe(503)
    expect(await ask("127.0.0.4", get("/validators"))).toBe(200)
  })
})

describe("bodies", () => {
  it("of one client that arrive slowly leave room for other clients' bodies", async () => {
    const body = `[${" ".repeat(900_000)}`
    const head = `POST /tx/submit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 950000\r\n\r\n`
    const slow = await Promise.all(Array.from({ length: 8 }, () => visit("127.0.0.2", head + body)))
    await expect
      .poll(() => slow.filter((each) => ["429", "503"].includes(statusOf(each) ?? "")).length)
      .toBeGreaterThanOrEqual(5)
    expect(await ask("127.8.0.3", post("/tx/submit", `[${" ".repeat(900_000)}1]`))).toBe(200)
  })
})

describe("answers", () => {
  it("that a client does not read close only its own connection when they grow too large", async () => {
    const wanted = "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    const deaf = await visit("127.0.0.2", wanted.repeat(200), false)
    deaf.socket.pause()
    expect(await ask("127.0.0.3", get("/openapi.json"))).toBe(200)
    deaf.socket.resume()
    await expect.poll(() => deaf.socket.closed).toBe(true)
    expect(deaf.socket.bytesRead).toBeLessThan(16_000_000)
    expect(await ask("127.0.0.3", get("/openapi.json"))).toBe(200)
  })
})

describe("pipelined requests", () => {
  it("beyond the limit are refused a few times before the connection closes", async () => {
    const requests = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(20_000)
    const visitor = await visit("127.0.0.2", requests)
    await new Promise((resolve) => visitor.socket.once("close", resolve))
    const answers = visitor.heard().match(/HTTP\/1\.1 \d+/g) ?? []
    expect(answers.filter((line) => line.endsWith("404")).length).toBeLessThanOrEqual(1_000)
    expect(answers.filter((line) => line.endsWith("429")).length).toBeLessThanOrEqual(17)
    expect(await ask("127.0.0.3", get("/validators"))).toBe(200)
  })

  it("have a separate limit for preflights", async () => {
    const requests = "OPTIONS /faucet HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(1_010)
    const visitor = await visit("127.0.0.2", requests)
    await expect.poll(() => visitor.heard().match(/HTTP\/1\.1 204/g)?.length).toBe(1_000)
    await expect.poll(() => visitor.heard().match(/HTTP\/1\.1 429/g)?.length).toBe(10)
    expect(await ask("127.0.0.2", get("/validators"))).toBe(200)
  })

  it(
    Rest.of(
      "ten thousand requests",
      "are begun a few at a time, so that they delay neither the thread nor other clients",
    ),
    async () => {
      Object.assign(reads, { begun: 0, underWay: 0, most: 0 })
      const ahead = 800
      const visitor = await visit("127.0.0.2", "GET /balance/@zoe HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(ahead))
      await expect.poll(() => reads.begun, { interval: 1 }).toBeGreaterThan(0)
      expect(await ask("127.0.0.3", get("/balance/@zoe"))).toBe(404)
      expect(reads.begun).toBeLessThan(ahead / 4)
      await expect.poll(() => visitor.heard().match(/HTTP\/1\.1 404/g)?.length).toBe(ahead)
      expect(reads.most).toBeLessThanOrEqual(17)
    },
  )

  it("are forgotten with their connection", async () => {
    Object.assign(reads, { begun: 0, underWay: 0, most: 0 })
    const visitor = await visit("127.0.0.2", "GET /balance/@zoe HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(800))
    await expect.poll(() => reads.begun, { interval: 1 }).toBeGreaterThan(0)
    visitor.socket.destroy()
    expect(await ask("127.0.0.2", get("/balance/@zoe"))).toBe(404)
    expect(reads.begun).toBeLessThan(400)
  })

  it("in a flood bar only their client for a while", async () => {
    const visitor = await visit("127.0.0.2", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(5_000))
    await new Promise((resolve) => visitor.socket.once("close", resolve))
    expect(await ask("127.0.0.2", get("/validators"))).toBe(0)
    expect(await ask("127.0.0.3", get("/validators"))).toBe(200)
  })
})

it("do not bar a client permanently after a flood", () => {
  let now = 0
  const floods = new Floods(() => now)
  floods.note("a")
  now = 9_999
  expect([floods.keepsOut("a"), floods.keepsOut("b")]).toEqual([true, false])
  now = 10_000
  expect(floods.keepsOut("a")).toBe(false)
  for (let i = 0; i < 5_000; i++) floods.note(`client ${i}`)
  expect([floods.keepsOut("client 0"), floods.keepsOut("client 4999")]).toEqual([false, true])
})

it("in floods from several clients of one network bar that network, but neither its provider nor the network of a repeated single flooder", () => {
  let now = 0
  const floods = new Floods(() => now)
  for (let i = 0; i < 9; i++) floods.note("203.0.113.7")
  expect(["203.0.113.7", "203.0.113.8"].map((client) => floods.keepsOut(client))).toEqual([true, false])
  for (let n = 8; n < 11; n++) floods.note(`203.0.113.${n}`)
  for (let n = 0; n < 64; n++) floods.note(`2001:db8:0:${n.toString(16)}::/64`)
  const strangers = ["203.0.113.99", "2001:db8:0:ff::/64", "2001:db8:0:ff00::/64"]
  const neighbours = ["203.0.114.7", "2001:db8:1:0::/64"]
  expect(strangers.map((client) => floods.keepsOut(client))).toEqual([true, true, true])
  expect(neighbours.map((client) => floods.keepsOut(client))).toEqual([false, false])
  now = 10_000
  expect(strangers.map((client) => floods.keepsOut(client))).toEqual([false, false, false])
})
