/**
 * Bugs planted everywhere along a request's path. The request gets a 500 or is cut off, each bug is counted every time
 * and logged once, and the next client is served.
 */
import { Cause, Effect, Stream } from "effect"
import { afterEach, beforeEach, expect, it } from "vitest"
import * as Defects from "../../src/edge/server/Defects.js"
import type * as Server from "../../src/edge/server/Server.js"
import { example } from "../../src/rpc/api/Field.js"
import * as TestServer from "../rpc/TestServer.js"

const { ask, get, post } = TestServer

const bug = (): never => {
  throw new Error("a planted bug with 203.0.113.7 inside")
}

const explosive: object = new Proxy({}, { get: bug, ownKeys: bug, has: bug, getPrototypeOf: bug })

let server: TestServer.TestServer
const counted: Array<string> = []
const unhandled: Array<unknown> = []
const note = (error: unknown) => unhandled.push(error)
let isBroken: { readonly [what: string]: boolean } = {}

beforeEach(async () => {
  counted.length = 0
  unhandled.length = 0
  isBroken = {}
  process.on("uncaughtException", note)
  process.on("unhandledRejection", note)
  const settings: Partial<Server.Settings> = {
    onDefect: (route) => counted.push(route),
    pages: () => (isBroken["pages"] ? bug() : undefined),
    isPressed: () => (isBroken["pressed"] ? bug() : false),
    versions: { ...TestServer.changing, figures: bug },
    onAnswer: () => (isBroken["answered"] ? bug() : undefined),
  }
  server = await TestServer.start(settings, {
    core: {
      network: bug,
      mempool: () => Effect.succeed(explosive as never),
      peers: () => Effect.die(new Error("a bug")),
      balance: () => Effect.fail(explosive as never),
      keygen: () => Effect.sync(bug),
    },
    staking: { stake: bug, unstake: () => Effect.promise(() => Promise.reject(new Error("a bug"))) },
    transactions: {
      submit: ({ payloads }) => {
        if (payloads.some(({ nonce }) => nonce === 1)) return bug()
        if (payloads.some(({ nonce }) => nonce === 2)) return Effect.die(new Error("a bug"))
        if (payloads.some(({ nonce }) => nonce === 3)) return Effect.succeed([])
        if (payloads.some(({ nonce }) => nonce === 4)) return Effect.succeed(explosive as never)
        return Effect.succeed(payloads.map(() => explosive as never))
      },
    },
    events: {
      stream: ({ headers }) => {
        switch (headers["last-event-id"]) {
          case "1":
            return bug()
          case "2":
            return Effect.succeed(Stream.die(new Error("a bug")))
          case "3":
            return Effect.succeed(explosive as never)
          default:
            return Effect.succeed(Stream.make({ id: 1, event: explosive as never }))
        }
      },
    },
  })
})

afterEach(async () => {
  await server.stop()
  process.off("uncaughtException", note)
  process.off("unhandledRejection", note)
  expect(unhandled).toEqual([])
})

const expectBug = ({ status, body }: TestServer.RawAnswer): void => {
  expect({ status, body: JSON.parse(body) }).toEqual({
    status: 500,
    body: { code: "InternalError", error: "the node failed to answer; its log has the cause" },
  })
}

const expectAlive = async (): Promise<void> => expect((await ask(server.port, get("/validators"))).status).toBe(200)

it.each(["/metrics/json", "/network", "/mempool", "/peers", "/balance/@zoe", "/keygen"])("a read: %s", async (path) => {
  for (let i = 1; i <= 3; i++) {
    expectBug(await ask(server.port, get(path)))
    expect(counted).toHaveLength(i)
  }
  await expectAlive()
})

it.each([
  ["/stake", { amount: 1 }],
  ["/unstake", {}],
])("a body: %s", async (path, more) => {
  expectBug(await ask(server.port, post(path, JSON.stringify({ secret_key: example.secretKey, ...more }))))
  expect(counted).toEqual([path])
  await expectAlive()
})

const transaction = (nonce: number) => ({ type: "UnstakeTx", from: example.hash, nonce })

it.each([0, 1, 2, 3, 4])("an array of transactions, variant %i", async (nonce) => {
  expectBug(await ask(server.port, post("/tx/submit", JSON.stringify([transaction(nonce), transaction(nonce)]))))
  expectBug(await ask(server.port, post("/tx/submit", JSON.stringify(transaction(nonce)))))
  expect(counted).toEqual(["/tx/submit", "/tx/submit"])
  await expectAlive()
})

it("keeps one request's bug away from the others in a batch", async () => {
  const requests = [1, 2, 3].map((nonce) => post("/tx/submit", JSON.stringify(transaction(nonce))))
  for (const answer of await Promise.all(requests.map((request) => ask(server.port, request)))) expectBug(answer)
  await expectAlive()
})

it.each(["1", "2", "3", "4"])("an event stream, variant %s", async (manner) => {
  const bytes = await TestServer.exchange(server.port, [get("/events", `Last-Event-ID: ${manner}\r\n`)])
  // A stream that is cut off does not end as a finished stream does.
  if (manner === "1") expect(bytes.toString()).toMatch(/^HTTP\/1\.1 500 /)
  else expect(bytes.toString()).not.toMatch(/\r\n0\r\n\r\n$/)
  await expect.poll(() => counted).toEqual(["/events"])
  await expectAlive()
})

it("the code around the handlers", async () => {
  isBroken = { pages: true }
  expectBug(await ask(server.port, get("/nothing")))
  expect(counted).toEqual(["none"])
  isBroken = { answered: true }
  expect((await ask(server.port, get("/validators"))).status).toBe(200)
  expect((await ask(server.port, post("/stake", "{"))).status).toBe(400)
  counted.length = 0
  isBroken = { pressed: true }
  expect((await ask(server.port, post("/stake", "{}"))).status).toBe(400)
  expect(counted).toContain("none")
})

it("logs a bug once per route and place, even if its message varies with the request", () => {
  const logged: Array<string> = []
  let count = 0
  const report = Defects.reporter({ onDefect: () => count++, log: (route) => logged.push(route) })
  const thrownHere = (text: string): Cause.Cause<never> => Cause.die(new Error(text))
  for (let i = 0; i < 50; i++) {
    report("/a", thrownHere(`at ${i}`))
    report("/b", thrownHere(`at ${i}`))
    report("/b", Cause.die(`text ${i}`))
  }
  expect(count).toBe(150)
  expect(logged).toEqual(["/a", "/b", "/b"])
})
