import { createHash } from "node:crypto"
import { Deferred, Effect, Exit, Stream } from "effect"
import { describe, expect, it } from "vitest"
import type { Answered } from "../../src/edge/server/Responder.js"
import * as Failure from "../../src/rpc/api/Failure.js"
import { example } from "../../src/rpc/api/Field.js"
import * as TestServer from "../rpc/TestServer.js"
import { forTests } from "../support/forTests.js"
import { ask, expectFailure, expectStandardHeaders, get, post, stake } from "./Answers.js"

describe("valid requests", () => {
  const seen: Array<unknown> = []
  const server = forTests(() =>
    TestServer.start(
      {},
      {
        core: {
          balance: ({ path }) => {
            seen.push(path.address)
            return Effect.fail(new Failure.NameNotFound({ message: "nobody is @zoe" }))
          },
          peers: () => Effect.die(new Error("a bug")),
          network: () => {
            throw new Error("a bug")
          },
          mempool: () => Effect.succeed([{ hash: "not a hash" }] as never),
        },
        staking: {
          stake: ({ payload }) => {
            seen.push([payload.secret_key.publicKey, payload.amount])
            return Effect.fail(new Failure.MempoolFull({ message: "full", capacity: 10_000 }))
          },
        },
        delegation: {
          delegate: () => {
            throw new Error("a bug")
          },
        },
        governance: { voteOf: ({ path }) => Effect.sync(() => seen.push(path)).pipe(Effect.andThen(Effect.never)) },
      },
    ),
  )

  it("get the handler's response with all headers", async () => {
    const answer = await ask(server().port, get("/status"))
    expect(answer.status).toBe(200)
    expect(JSON.parse(answer.body)).toMatchObject({ dag_round: 1205, total_supply_coin: 15_001_203 })
    expectStandardHeaders(answer)
    expect(answer.headers.get("access-control-max-age")).toBeUndefined()
  })

  it("get the same without the body for HEAD", async () => {
    const [whole, head] = await Promise.all([
      ask(server().port, get("/status")),
      TestServer.exchange(server().port, ["HEAD /status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"]),
    ])
    const text = head.toString()
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect(text).toContain(`Content-Length: ${whole.body.length}\r\n`)
    expect(text.endsWith("\r\n\r\n")).toBe(true)
  })

  it("learn the methods from OPTIONS, the only cacheable response", async () => {
    const answer = await ask(server().port, "OPTIONS /stake HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    expect(answer.status).toBe(204)
    expect(answer.headers.get("allow")).toBe("POST, OPTIONS")
    expect(answer.headers.get("access-control-max-age")).toBe("3600")
    expectStandardHeaders(answer)
  })

  it("reach the handler decoded, and its failures have their own status", async () => {
    expectFailure(await ask(server().port, get("/balance/%40zoe")), 404, "NameNotFound")
    const full = await ask(server().port, post("/stake", stake))
    expect(expectFailure(full, 503, "MempoolFull")).toEqual({ code: "MempoolFull", error: "full", capacity: 10_000 })
    expect(full.headers.get("retry-after")).toBe("1")
    expect(seen).toEqual(["@zoe", [example.publicKey, 200_000_000_000]])
  })

  it("get a 500 without the cause when a handler has a bug", async () => {
    const delegate = { secret_key: example.secretKey, validator: "@zoe", amount: 1 }
    const requests = [get("/peers"), get("/network"), get("/mempool"), post("/delegate", JSON.stringify(delegate))]
    for (const request of requests) {
      expect(expectFailure(await ask(server().port, request), 500, "InternalError").error).not.toContain("a bug")
    }
  })

  it("may use an absolute URL, HTTP/1.0 without a Host, or pipelining", async () => {
    expect((await ask(server().port, get("http://any.example/status"))).status).toBe(200)
    expect((await ask(server().port, "GET /status HTTP/1.0\r\n\r\n")).status).toBe(200)
    const two = await TestServer.exchange(server().port, [
      `GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n${get("/status")}`,
    ])
    expect(TestServer.parse(two).map(({ status }) => status)).toEqual([200, 200])
  })

  it("may ask for permission before they send their body", async () => {
    const [head = "", body = ""] = post("/unstake", JSON.stringify({ secret_key: example.secretKey })).split("\r\n\r\n")
    const bytes = await TestServer.exchange(server().port, [`${head}\r\nExpect: 100-continue\r\n\r\n`, body], {
      pauseMs: 50,
    })
    expect(bytes.toString()).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/)
  })
})

describe("the reference page", () => {
  it("is allowed by its own policy and loads nothing", async () => {
    await using server = await TestServer.start()
    const { headers, body } = await ask(server.port, get("/docs"))
    const style = /<style>([\s\S]*)<\/style>/.exec(body)?.[1] ?? ""
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8")
    const script = /<script>([\s\S]*)<\/script>/.exec(body)?.[1] ?? ""
    for (const inline of [style, script]) {
      const hash = createHash("sha256").update(inline).digest("base64")
      expect(headers.get("content-security-policy")).toContain(`'sha256-${hash}'`)
    }
    expect(body).not.toMatch(/\sstyle=/)
    const document = JSON.parse((await ask(server.port, get("/openapi.json"))).body)
    expect(document).toMatchObject({ openapi: "3.1.0", info: { version: "0.0.0" } })
  })
})

describe("on a mainnet", () => {
  const server = forTests(() => TestServer.start({ isMainnet: true }))

  it.each([
    ["POST", "/tx", "Transfer"],
    ["POST", "/stake", "StakeTx"],
    ["POST", "/unstake", "UnstakeTx"],
    ["POST", "/delegate", "DelegateTx"],
    ["POST", "/undelegate", "UndelegateTx"],
    ["POST", "/set-commission", "SetCommissionTx"],
    ["POST", "/proposal", "CreateProposalTx"],
    ["POST", "/vote", "VoteTx"],
    ["POST", "/faucet", "no faucet on a mainnet"],
    ["GET", "/keygen", "make keys on your own machine"],
  ])("refuses %s %s before its body is examined", async (method, path, instead) => {
    const request = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n\r\nx`
    const { error } = expectFailure(await ask(server().port, request), 410, "TestnetOnly")
    expect(error).toContain("/tx/submit")
    expect(error).toContain(instead)
  })

  it("accepts calls that take no secret", async () => {
    expect((await ask(server().port, get("/status"))).status).toBe(200)
    expectFailure(await ask(server().port, post("/tx/submit", "{}")), 400, "InvalidRequest")
    expectFailure(await ask(server().port, get("/stake")), 405, "MethodNotAllowed")
  })
})

describe("shutdown", () => {
  it("answers pending requests, refuses new ones and closes idle connections at once", async () => {
    const gate = Effect.runSync(Deferred.make<void>())
    const happened: Array<string> = []
    const server = await TestServer.start(
      // A connection that stays open would exceed the test's time limit.
      {
        onAnswer: ({ route }) => happened.push(`answered ${route}`),
        tolerance: { drainMs: 3_600_000, keepAliveMs: 3_600_000 },
      },
      {
        core: {
          health: () =>
            Effect.sync(() => happened.push("asked")).pipe(
              Effect.andThen(Deferred.await(gate)),
              Effect.as({ status: "ok" as const }),
            ),
        },
      },
    )
    const owed = TestServer.exchange(server.port, ["GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"])
    const idle = TestServer.exchange(server.port, ["GET /network HTTP/1.1\r\nHost: localhost\r\n\r\n"])
    await expect.poll(() => [...happened].sort()).toEqual(["answered /network", "asked"])
    const stopped = server.stop()
    expect((await idle).toString()).toContain("200 OK")
    await expect(fetch(`${server.url}/status`)).rejects.toThrow()
    await Effect.runPromise(Deferred.done(gate, Exit.void))
    expect((await owed).toString()).toMatch(/200 OK[\s\S]*Connection: close[\s\S]*\{"status":"ok"\}/)
    await stopped
  })

  it("waits no longer than its limit", async () => {
    const begun: Array<string> = []
    const server = await TestServer.start(
      { tolerance: { drainMs: 200 } },
      {
        core: {
          health: () =>
            Effect.zipRight(
              Effect.sync(() => begun.push("health")),
              Effect.never,
            ),
        },
        events: {
          stream: () =>
            Effect.as(
              Effect.sync(() => begun.push("events")),
              Stream.never,
            ),
        },
      },
    )
    const hanging = TestServer.exchange(server.port, [get("/health")])
    const streaming = TestServer.exchange(server.port, [get("/events")])
    await expect.poll(() => [...begun].sort()).toEqual(["events", "health"])
    // Neither ends by itself: a shutdown that waited for them would exceed the test's time limit.
    await server.stop()
    await Promise.all([hanging, streaming])
  })
})

it("reports a port in use in one line", async () => {
  const first = await TestServer.start()
  await expect(TestServer.start({ port: first.port })).rejects.toThrow(
    `cannot serve HTTP on 127.0.0.1:${first.port}: the port is in use; stop what uses it, or choose another with --rpc-port`,
  )
  await first.stop()
})

it("reports every response with its route", async () => {
  const answered: Array<Answered> = []
  await using server = await TestServer.start({ onAnswer: (each) => answered.push(each) })
  await ask(server.port, get("/balance/x"))
  await ask(server.port, get("/nothing/at/all"))
  expect(answered.map(({ route, method, status }) => [route, method, status])).toEqual([
    ["/balance/:address", "GET", 200],
    ["none", "GET", 404],
  ])
})
