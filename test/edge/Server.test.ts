import { createHash } from "node:crypto"
import { once } from "node:events"
import { connect } from "node:net"
import { Deferred, Effect, Either, Exit, Option, Stream } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { Answered } from "../../src/edge/server/Responder.js"
import * as Cidr from "../../src/node/start/Cidr.js"
import * as Failure from "../../src/rpc/api/Failure.js"
import { example } from "../../src/rpc/api/Field.js"
import * as ExampleHandlers from "../rpc/ExampleHandlers.js"
import * as TestServer from "../rpc/TestServer.js"

const { ask, get, post } = TestServer

const everywhere: Readonly<Record<string, string>> = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET, HEAD, POST, OPTIONS",
  "access-control-allow-headers": "Content-Type, Last-Event-ID, Udg-Commit",
  "access-control-expose-headers": "Retry-After, RateLimit, RateLimit-Policy, Allow, Udg-Commit",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
}

const expectStandardHeaders = ({ headers }: TestServer.RawAnswer): void => {
  for (const [name, value] of Object.entries(everywhere)) expect(headers.get(name), name).toBe(value)
}

/** A refusal with its status, code and headers, and the body for more questions. */
const expectFailure = (answer: TestServer.RawAnswer, status: number, code: Failure.Code) => {
  const body = JSON.parse(answer.body)
  expect({ status: answer.status, code: body.code }, answer.body).toEqual({ status, code })
  expect(body.error).toMatch(/^\S.*$/)
  expect(answer.headers.get("content-type")).toBe("application/json")
  expect(answer.headers.get("access-control-max-age")).toBeUndefined()
  expectStandardHeaders(answer)
  return body
}

const stake = JSON.stringify({ secret_key: example.secretKey, amount: 200_000_000_000 })

describe("requests that are in order", () => {
  let server: TestServer.TestServer
  const seen: Array<unknown> = []
  beforeAll(async () => {
    server = await TestServer.start(
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
    )
  })
  afterAll(() => server.stop())

  it("get the answer of the handler with all headers", async () => {
    const answer = await ask(server.port, get("/status"))
    expect(answer.status).toBe(200)
    expect(JSON.parse(answer.body)).toMatchObject({ dag_round: 1205, total_supply_coin: 15_001_203 })
    expectStandardHeaders(answer)
    expect(answer.headers.get("access-control-max-age")).toBeUndefined()
  })

  it("with HEAD get the same without the body", async () => {
    const [whole, head] = await Promise.all([
      ask(server.port, get("/status")),
      TestServer.exchange(server.port, ["HEAD /status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"]),
    ])
    const text = head.toString()
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect(text).toContain(`Content-Length: ${whole.body.length}\r\n`)
    expect(text.endsWith("\r\n\r\n")).toBe(true)
  })

  it("with OPTIONS learn the methods, and only they may be remembered", async () => {
    const answer = await ask(server.port, "OPTIONS /stake HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    expect(answer.status).toBe(204)
    expect(answer.headers.get("allow")).toBe("POST, OPTIONS")
    expect(answer.headers.get("access-control-max-age")).toBe("3600")
    expectStandardHeaders(answer)
  })

  it("reach the handler decoded, and its failures have their own status", async () => {
    expectFailure(await ask(server.port, get("/balance/%40zoe")), 404, "NameNotFound")
    const full = await ask(server.port, post("/stake", stake))
    expect(expectFailure(full, 503, "MempoolFull")).toEqual({ code: "MempoolFull", error: "full", capacity: 10_000 })
    expect(full.headers.get("retry-after")).toBe("1")
    expect(seen).toEqual(["@zoe", [example.publicKey, 200_000_000_000]])
  })

  it("are answered with 500 when a handler has a bug, which is not told", async () => {
    const delegate = { secret_key: example.secretKey, validator: "@zoe", amount: 1 }
    const requests = [get("/peers"), get("/network"), get("/mempool"), post("/delegate", JSON.stringify(delegate))]
    for (const request of requests) {
      expect(expectFailure(await ask(server.port, request), 500, "InternalError").error).not.toContain("a bug")
    }
  })

  it("may come as a whole URL, in HTTP/1.0 without a Host, pipelined", async () => {
    expect((await ask(server.port, get("http://any.example/status"))).status).toBe(200)
    expect((await ask(server.port, "GET /status HTTP/1.0\r\n\r\n")).status).toBe(200)
    const two = await TestServer.exchange(server.port, [
      `GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n${get("/status")}`,
    ])
    expect(TestServer.parse(two).map(({ status }) => status)).toEqual([200, 200])
  })

  it("may ask before they send their body", async () => {
    const [head = "", body = ""] = post("/unstake", JSON.stringify({ secret_key: example.secretKey })).split("\r\n\r\n")
    const bytes = await TestServer.exchange(server.port, [`${head}\r\nExpect: 100-continue\r\n\r\n`, body], {
      pauseMs: 50,
    })
    expect(bytes.toString()).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/)
  })
})

describe("the reference", () => {
  it("is a page that its own policy lets through, and loads nothing", async () => {
    const server = await TestServer.start()
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
    await server.stop()
  })
})

describe("requests that are not in order", () => {
  let server: TestServer.TestServer
  const tolerance = { headersMs: 300, requestMs: 600 }
  beforeAll(async () => {
    server = await TestServer.start({ tolerance })
  })
  afterAll(() => server.stop())

  it("to no path or with another method", async () => {
    expectFailure(await ask(server.port, get("/nothing")), 404, "PathNotFound")
    const answer = await ask(server.port, "DELETE /status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    expect(expectFailure(answer, 405, "MethodNotAllowed").allowed).toEqual(["GET", "HEAD", "OPTIONS"])
    expect(answer.headers.get("allow")).toBe("GET, HEAD, OPTIONS")
    expectFailure(await ask(server.port, "CONNECT x:1 HTTP/1.1\r\nHost: localhost\r\n\r\n"), 405, "MethodNotAllowed")
  })

  it.each([
    ["text/plain", "Content-Type: text/plain\r\n"],
    ["no type", ""],
    ["a type that only begins so", "Content-Type: application/jsonp\r\n"],
    ["an encoding", "Content-Type: application/json\r\nContent-Encoding: gzip\r\n"],
    ["another charset", "Content-Type: application/json; charset=iso-8859-1\r\n"],
    ["another charset in quotes", 'Content-Type: application/json;charset="utf-16"\r\n'],
    ["two charsets", "Content-Type: application/json; charset=utf-8; charset=latin1\r\n"],
  ])("with a body declared as %s", async (_what, headers) => {
    expectFailure(await ask(server.port, post("/stake", stake, headers)), 415, "UnsupportedMediaType")
  })

  it.each(["application/json; charset=utf-8", 'application/json;charset="UTF-8"', "Application/JSON ; Charset=utf8"])(
    "except with a body declared as %s",
    async (type) => {
      expect((await ask(server.port, post("/stake", stake, `Content-Type: ${type}\r\n`))).status).toBe(200)
    },
  )

  it.each([
    ["none", ""],
    ["two", "Host: localhost\r\nhost: localhost\r\n"],
  ])("without exactly one Host: %s", async (got, headers) => {
    const answer = await ask(server.port, `GET /status HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`)
    expect(expectFailure(answer, 400, "InvalidRequest")).toMatchObject({
      error: expect.stringMatching(`got ${got === "two" ? 2 : got}$`),
      field: "host",
    })
  })

  it.each([
    ["/status?x=1", "x", "no such query parameter; this endpoint has none"],
    ["/dag?round=1", "round", "no such field; known are from, rounds"],
    ["/dag?rounds=1&rounds=2", "rounds", "stands twice in the query"],
    ["/balance/@zoe?limit=1", "limit", "no such query parameter; this endpoint has none"],
    ["/events?colour=red", "colour", "no such"],
  ])("with a query that nobody reads, %s", async (path, field, reason) => {
    const refused = expectFailure(await ask(server.port, get(path)), 400, "InvalidRequest")
    expect(refused).toMatchObject({ field, error: expect.stringContaining(`${field}: ${reason}`) })
  })

  it("with a query behind a path that takes a body", async () => {
    for (const [path, body] of [
      ["/stake?x=1", stake],
      ["/tx/submit?x=1", "[]"],
    ] as const) {
      const refused = expectFailure(await ask(server.port, post(path, body)), 400, "InvalidRequest")
      expect(refused).toMatchObject({ field: "x" })
    }
  })

  it("with a body that is no JSON, empty or not UTF-8", async () => {
    for (const body of ["", "{", "{'a':1}", `{"secret_key":"${example.secretKey}"`, "\u0000"]) {
      const answer = await ask(server.port, post("/stake", body))
      expect(expectFailure(answer, 400, "InvalidRequest").error).not.toContain(example.secretKey.slice(0, 8))
    }
    const bytes = Buffer.concat([Buffer.from(`{"a":"`), Buffer.of(0xff, 0xfe), Buffer.from(`"}`)])
    const head = post("/stake", "x".repeat(bytes.length)).split("\r\n\r\n")[0]
    expectFailure(await ask(server.port, `${head}\r\n\r\n`, bytes), 400, "InvalidRequest")
  })

  it.each([
    [
      "/stake",
      { secret_key: example.secretKey, amount: "5" },
      'amount: an integer number of sats from 0 to 2100000000000000 expected, got "5"',
    ],
    [
      "/stake",
      { secret_key: example.secretKey },
      "amount: missing, an integer number of sats from 0 to 2100000000000000 expected",
    ],
    ["/stake", { secret_key: `${example.secretKey}00`, amount: 5 }, "secret_key: 64 hex characters expected"],
    [
      "/stake",
      { secret_key: example.secretKey, amount: 5, more: 1 },
      "more: no such field; known are secret_key, amount",
    ],
    ["/stake", [], "body: an object expected, got an array"],
    ["/stake", null, "body: an object expected, got null"],
    [
      "/vote",
      { secret_key: example.secretKey, proposal_id: 1, vote: "yes", fee: 1 },
      'vote: true or false expected, got "yes"',
    ],
    [
      "/tx/submit",
      { type: "UnstakeTx", from: "x", nonce: -1 },
      "nonce: an integer from 0 to 2^53 - 1 expected, got -1",
    ],
  ])("to %s with the body %j", async (path, body, error) => {
    const answer = expectFailure(await ask(server.port, post(path, JSON.stringify(body))), 400, "InvalidRequest")
    expect(answer.error).toBe(error)
    expect(answer.field).toBe(error.slice(0, error.indexOf(":")))
  })

  // The first two were a 500: a schema makes a string of what stands where the type belongs.
  it.each([
    [`{"type":${"[".repeat(1_000)}${"]".repeat(1_000)}}`, "type", "more than 32 objects and lists within each other"],
    ['{"type":{"toString":1,"valueOf":1}}', "body", "a field holds an object or a list where a text must stand"],
    ['{"type":"UnstakeTx","nonce":0.99999999999999999999}', "nonce", "in digits alone"],
    ['{"type":"UnstakeTx","nonce":1,"nonce":2}', "nonce", "stands twice"],
    [JSON.stringify({ type: "x".repeat(60_000) }), "type", "got 60000 characters"],
  ])("to /tx/submit with the text %.60s", async (text, field, reason) => {
    const answer = expectFailure(await ask(server.port, post("/tx/submit", text)), 400, "InvalidRequest")
    expect(answer.field.startsWith(field)).toBe(true)
    expect(answer.error).toContain(reason)
    expect(answer.error.length).toBeLessThan(500)
  })

  it("with a body that is too large, announced or not", async () => {
    const large = JSON.stringify({ secret_key: "x".repeat(70_000) })
    expect(expectFailure(await ask(server.port, post("/stake", large)), 413, "BodyTooLarge").limit).toBe(65_536)
    const chunked =
      "POST /stake HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    const chunk = `4000\r\n${"x".repeat(0x4000)}\r\n`
    expectFailure(await ask(server.port, chunked, chunk, chunk, chunk, chunk, chunk, "0\r\n\r\n"), 413, "BodyTooLarge")
    const batch = `[${"1,".repeat(600_000)}1]`
    expect(expectFailure(await ask(server.port, post("/tx/submit", batch)), 413, "BodyTooLarge").limit).toBe(1_048_576)
    const single = `  {"memo":"${"x".repeat(70_000)}"}`
    expect(expectFailure(await ask(server.port, post("/tx/submit", single)), 413, "BodyTooLarge").limit).toBe(65_536)
  })

  it("with a body of more values than any transactions have, before it is parsed", async () => {
    const names = (count: number) => `{${Array.from({ length: count }, (_, i) => `"${i}":0`).join(",")}}`
    const bodies = [
      names(1_024),
      `[${names(20_000)}]`,
      `[${"[],".repeat(20_000)}0]`,
      `[${"[".repeat(500_000)}`,
      `{"a":${"[".repeat(60_000)}`,
    ]
    for (const body of bodies) {
      const answer = expectFailure(await ask(server.port, post("/tx/submit", body)), 400, "InvalidRequest")
      expect(answer).toMatchObject({ field: "body", error: expect.stringContaining("values") })
    }
    const keys = JSON.stringify({ type: "SetAccountPolicyTx", keys: Array(1_000).fill("a") })
    expect(expectFailure(await ask(server.port, post("/tx/submit", keys)), 400, "InvalidRequest").field).not.toBe(
      "body",
    )
  })

  it("that are no HTTP, or more of it than one request needs", async () => {
    expectFailure(await ask(server.port, "hello\r\n\r\n"), 400, "InvalidRequest")
    expectFailure(await ask(server.port, get("/status", `X-Long: ${"x".repeat(20_000)}\r\n`)), 431, "HeadersTooLarge")
  })

  it("whose headers or bodies do not come", async () => {
    expectFailure(await ask(server.port, "GET /status HTTP/1.1\r\nHost:"), 408, "RequestTimeout")
    expectFailure(await ask(server.port, post("/stake", stake).slice(0, -5)), 408, "RequestTimeout")
  })

  it("are not asked for a body that would be refused", async () => {
    const awaiting = (type: string, length: number) =>
      `POST /stake HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`
    for (const [head, status] of [
      [awaiting("text/plain", 9), 415],
      [awaiting("application/json", 70_000), 413],
    ] as const) {
      const text = (await TestServer.exchange(server.port, [head])).toString()
      expect(text.startsWith(`HTTP/1.1 ${status} `)).toBe(true)
    }
  })

  it("do not show a key, not even most of one, that stands in their path", async () => {
    const most = example.secretKey.slice(1)
    for (const [method, path] of [
      ["GET", `/nothing/${most}`],
      ["DELETE", `/balance/${most}`],
    ]) {
      const request = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`
      expect((await ask(server.port, request)).body).not.toContain(most.slice(0, 8))
    }
  })

  it("do not disturb the next one on the same connection", async () => {
    const refused = post("/stake", "x".repeat(70_000)).replace("Connection: close\r\n", "")
    const answers = TestServer.parse(
      await TestServer.exchange(server.port, [refused, get("/status")], { pauseMs: 100 }),
    )
    expect(answers.map(({ status }) => status)).toEqual([413, 200])
  })
})

describe("on a mainnet", () => {
  let server: TestServer.TestServer
  beforeAll(async () => {
    server = await TestServer.start({ isMainnet: true })
  })
  afterAll(() => server.stop())

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
  ])("%s %s is gone before its body is looked at", async (method, path, instead) => {
    const request = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n\r\nx`
    const { error } = expectFailure(await ask(server.port, request), 410, "TestnetOnly")
    expect(error).toContain("/tx/submit")
    expect(error).toContain(instead)
  })

  it("what takes no secret works", async () => {
    expect((await ask(server.port, get("/status"))).status).toBe(200)
    expectFailure(await ask(server.port, post("/tx/submit", "{}")), 400, "InvalidRequest")
    expectFailure(await ask(server.port, get("/stake")), 405, "MethodNotAllowed")
  })
})

describe("limits", () => {
  const proxied = { trustedProxies: [Option.getOrThrow(Cidr.parse("127.0.0.0/8"))], rateLimits: true }
  const as = (client: string) => `X-Forwarded-For: ${client}\r\n`
  let server: TestServer.TestServer
  beforeAll(async () => {
    server = await TestServer.start(proxied)
  })
  afterAll(() => server.stop())

  /** Requests over one connection, so that a thousand of them take no time. */
  const statuses = async (requests: ReadonlyArray<string>): Promise<ReadonlyArray<number>> =>
    TestServer.parse(await TestServer.exchange(server.port, [requests.join("") + get("/health", as("192.0.2.99"))]))
      .map(({ status }) => status)
      .slice(0, -1)

  const wish = JSON.stringify({ address: "@zoe", amount: 1 })

  const once = (method: string, path: string, client: string) =>
    `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${as(client)}Content-Length: 0\r\n\r\n`

  it.each([
    ["POST", "/tx", 100],
    ["POST", "/faucet", 1],
    ["POST", "/stake", 5],
    ["POST", "/unstake", 5],
    ["POST", "/delegate", 5],
    ["POST", "/undelegate", 5],
    ["POST", "/set-commission", 5],
    ["POST", "/proposal", 5],
    ["POST", "/vote", 10],
    ["GET", "/keygen", 10],
  ])("%s %s answers %i times, then 429, to each client", async (method, path, limit) => {
    const client = `198.51.100.${limit}`
    const found = await statuses(
      Array.from({ length: limit + 2 }, () => once(method, path, `${path.length}.${client.slice(4)}`)),
    )
    expect(found.slice(0, limit)).not.toContain(429)
    expect(found.slice(limit)).toEqual([429, 429])
    expect(await statuses([once(method, path, "203.0.113.200")])).not.toContain(429)
  })

  it("a refusal says when to come back", async () => {
    const request = post("/faucet", wish, `Content-Type: application/json\r\n${as("203.0.113.1")}`)
    const first = await ask(server.port, request)
    expect(first.headers.get("ratelimit-policy")).toBe('"/faucet";q=1;w=600')
    expect(first.headers.get("ratelimit")).toBe('"/faucet";r=0;t=600')
    const second = await ask(server.port, request)
    const body = expectFailure(second, 429, "RateLimited")
    expect(body).toMatchObject({ limit: 1, window_seconds: 600, retry_after_seconds: 600 })
    expect(body.error).toContain("--rate-limits off")
    expect(second.headers.get("retry-after")).toBe("600")
  })

  it("a request to the faucet counts, whatever its answer", async () => {
    const asked = (body: string) =>
      ask(server.port, post("/faucet", body, `Content-Type: application/json\r\n${as("203.0.113.99")}`))
    expect([(await asked("{}")).status, (await asked(wish)).status]).toEqual([400, 429])
  })

  it("are counted for who the proxy says, behind as many headers as a request may have", async () => {
    // Beside Host, Connection and that of the proxy.
    const asked = (headers: number) => {
      const more = Array.from({ length: headers - 3 }, (_, i) => `X-${i}: y\r\n`).join("")
      return ask(server.port, get("/keygen", `${more}${as("203.0.113.77")}`))
    }
    await asked(128)
    expect((await asked(128)).headers.get("ratelimit")).toMatch(/r=8;/)
    for (const headers of [129, 130, 500]) {
      const refused = await asked(headers)
      expect(expectFailure(refused, 431, "HeadersTooLarge").error).toContain("more than 128 headers")
    }
    expect((await asked(3)).headers.get("ratelimit")).toMatch(/r=7;/)
  })

  it("all endpoints together answer 1000 times; OPTIONS is not counted, everything else is", async () => {
    const client = "203.0.113.2"
    const kinds = [
      once("GET", "/nothing", client),
      once("GET", "/status", client),
      once("DELETE", "/status", client),
      once("POST", "/tx/submit", client),
    ]
    const found = await statuses([
      ...Array.from({ length: 50 }, () => once("OPTIONS", "/status", client)),
      ...Array.from({ length: 1_000 }, (_, i) => kinds[i % kinds.length] ?? ""),
      once("GET", "/status", client),
      once("OPTIONS", "/status", client),
    ])
    expect(found.slice(0, 1_050)).not.toContain(429)
    expect(found.slice(1_050)).toEqual([429, 204])
    const refused = await ask(server.port, get("/status", as(client)))
    expect(expectFailure(refused, 429, "RateLimited").limit).toBe(1_000)
    expect(refused.headers.get("ratelimit-policy")).toBe('"global";q=1000;w=60')
  })

  it.each([
    ["203.0.113.201", "/dag", 100],
    ["203.0.113.202", "/dag?rounds=120", 100],
    ["203.0.113.203", "/dag?rounds=6", 500],
    ["203.0.113.204", "/dag?from=7&rounds=1", 1_000],
  ])("a stretch of the DAG counts by the rounds asked for: %s may ask %s %d times", async (client, path, times) => {
    const found = await statuses(Array.from({ length: times + 2 }, () => once("GET", path, client)))
    expect(found.filter((status) => status !== 429).length).toBe(times)
    expect(found.slice(-2)).toEqual([429, 429])
  })

  it("an array counts as many requests as it has transactions", async () => {
    const batch = (size: number) =>
      post(
        "/tx/submit",
        JSON.stringify(Array.from({ length: size }, () => 1)),
        `Content-Type: application/json\r\n${as("203.0.113.3")}`,
      )
    const answer = await ask(server.port, batch(990))
    expect(JSON.parse(answer.body)).toHaveLength(990)
    expectFailure(await ask(server.port, batch(11)), 429, "RateLimited")
    expect((await ask(server.port, batch(9))).status).toBe(200)
    expectFailure(await ask(server.port, get("/status", as("203.0.113.3"))), 429, "RateLimited")
  })
})

describe("large bodies", () => {
  const from = (client: string, body: string) =>
    post("/tx/submit", body, `Content-Type: application/json\r\nX-Forwarded-For: ${client}\r\n`)
  const largest = (body: string) => body.padEnd(1_048_576, " ")
  const trusted = { rateLimits: true, trustedProxies: [Option.getOrThrow(Cidr.parse("127.0.0.1"))] }

  it("count as a request for every 2 KiB, before they are parsed", async () => {
    const server = await TestServer.start(trusted)
    const client = "203.0.113.4"
    expect((await ask(server.port, from(client, largest("[1]")))).status).toBe(200)
    // 512 of a thousand are used up, so that what comes now is not even looked at.
    const refused = expectFailure(await ask(server.port, from(client, largest("[no JSON"))), 429, "RateLimited")
    expect(refused.limit).toBe(1_000)
    expect((await ask(server.port, from(client, `[${"1,".repeat(486)}1]`))).status).toBe(200)
    expectFailure(await ask(server.port, from(client, "[1]")), 429, "RateLimited")
    await server.stop()
  })

  it("count by their entries where these are more", async () => {
    const server = await TestServer.start(trusted)
    const client = "203.0.113.5"
    expect((await ask(server.port, from(client, `[${"1,".repeat(899)}1]`.padEnd(204_800)))).status).toBe(200)
    expect((await ask(server.port, from(client, `[${"1,".repeat(99)}1]`))).status).toBe(200)
    expectFailure(await ask(server.port, from(client, "{}")), 429, "RateLimited")
    await server.stop()
  })
})

describe("arrays of transactions", () => {
  it("are answered in order with what each alone would have got", async () => {
    const server = await TestServer.start(
      {},
      {
        transactions: {
          submit: ({ payloads }) =>
            Effect.succeed(
              payloads.map(({ from, nonce }) =>
                nonce === 2
                  ? Either.left(new Failure.NonceTooLow({ message: "used", next_nonce: nonce }))
                  : Either.right({ tx_hash: from as never, status: "accepted" as const, nonce }),
              ),
            ),
        },
      },
    )
    const transaction = (nonce: unknown) => ({ type: "UnstakeTx", from: example.hash, nonce })
    const bodies = [
      ...[transaction(1), transaction(2), transaction("3"), transaction(4)].map((body) => JSON.stringify(body)),
      // What JSON.parse would round, or read in one of two ways, is wrong only where it stands.
      `{"type":"UnstakeTx","from":"${example.hash}","nonce":1.5}`,
      `{"type":"UnstakeTx","from":"${example.hash}","nonce":1e0}`,
      `{"type":"UnstakeTx","nonce":1,"from":"${example.hash}","nonce":5}`,
      `${"[".repeat(40)}${"]".repeat(40)}`,
      ' "a, ] string" ',
      JSON.stringify(transaction(6)),
    ]
    const answers = JSON.parse((await ask(server.port, post("/tx/submit", `[${bodies.join(",")}]`))).body)
    const alone = await Promise.all(bodies.slice(0, 7).map((body) => ask(server.port, post("/tx/submit", body))))
    expect(answers.slice(0, 7)).toEqual(alone.map(({ status, body }) => ({ status_code: status, ...JSON.parse(body) })))
    expect(answers.map((answer: { readonly status_code: number }) => answer.status_code)).toEqual([
      200, 400, 400, 200, 400, 400, 400, 400, 400, 200,
    ])
    expectFailure(await ask(server.port, post("/tx/submit", "[]")), 400, "InvalidRequest")
    const many = JSON.stringify(Array.from({ length: 1_001 }, () => 0))
    expectFailure(await ask(server.port, post("/tx/submit", many)), 400, "InvalidRequest")
    await server.stop()
  })
})

it("a burst of bodies that take long is answered to the last", async () => {
  const server = await TestServer.start(
    {},
    {
      transactions: {
        submit: ({ payloads }) =>
          Effect.sync(() => {
            const began = performance.now()
            while (performance.now() - began < 5);
            return payloads.map(({ from, nonce }) =>
              Either.right({ tx_hash: from as never, status: "accepted" as const, nonce }),
            )
          }),
      },
    },
  )
  const nonces = Array.from({ length: 30 }, (_, nonce) => nonce)
  const body = (nonce: number) => JSON.stringify({ type: "UnstakeTx", from: example.hash, nonce })
  // On one connection, so that they all arrive within one turn of the event loop.
  const requests = nonces.map((nonce) => post("/tx/submit", body(nonce)).replace("Connection: close\r\n", ""))
  const bytes = await TestServer.exchange(server.port, [requests.join("") + get("/health")])
  const answers = TestServer.parse(bytes).map(({ body }) => JSON.parse(body))
  expect(answers.slice(0, -1).map(({ nonce }) => nonce)).toEqual(nonces)
  await server.stop()
})

describe("answers that stay the same", () => {
  it("are made once for each path until what they are of changes, and final ones once", async () => {
    let version = 1
    const made: Array<string> = []
    const examples = ExampleHandlers.make()
    const server = await TestServer.start(
      { versions: { ...TestServer.changing, state: () => version } },
      {
        core: {
          names: ({ urlParams: { addresses } }) => Effect.sync(() => ({ names: [], made: made.push(addresses) })),
          health: () => Effect.sync(() => ({ status: "ok" as const, made: made.push("health") })),
        },
        dag: { vertex: (request) => Effect.tap(examples.dag.vertex(request), () => made.push("vertex")) },
      },
    )
    const [a, b, vertex] = [
      `/names?addresses=${"a".repeat(40)}`,
      `/names?addresses=${"b".repeat(40)}`,
      `/vertex/${example.hash}`,
    ]
    const askAll = async (...paths: ReadonlyArray<string>) => {
      made.length = 0
      for (const path of paths) expect((await ask(server.port, get(path))).status).toBe(200)
      return made
    }
    expect(await askAll(a, a, b, vertex, vertex, a)).toEqual(["a".repeat(40), "b".repeat(40), "vertex"])
    version = 2
    expect(await askAll(a, a, vertex)).toEqual(["a".repeat(40)])
    expect(await askAll("/health", "/health")).toEqual(["health", "health"])
    await server.stop()
  })

  it("are not kept for longer than what was looked for while it changed", async () => {
    let version = 1
    const names = Effect.zipRight(
      Effect.sleep(1),
      Effect.sync(() => ({ names: [], at: version++ })),
    )
    const made: Array<number> = []
    const server = await TestServer.start(
      { versions: { ...TestServer.changing, state: () => version } },
      { core: { names: () => Effect.tap(names, ({ at }) => made.push(at)) } },
    )
    for (let i = 0; i < 3; i++) await ask(server.port, get(`/names?addresses=${"a".repeat(40)}`))
    expect(made).toEqual([1, 2, 3])
    await server.stop()
  })
})

describe("event streams", () => {
  it("send frames with all headers until the reader goes, and there are not more than a hundred", async () => {
    let readers = 0
    const server = await TestServer.start(
      {},
      {
        events: {
          stream: ({ headers }) =>
            Effect.succeed(
              Stream.acquireRelease(
                Effect.sync(() => readers++),
                () => Effect.sync(() => readers--),
              ).pipe(
                Stream.map(() => ({
                  id: Number(headers["last-event-id"] ?? 0) + 1,
                  event: { type: "alert", severity: "warning", message: "lag" } as const,
                })),
                Stream.concat(Stream.never),
              ),
            ),
        },
      },
    )
    const bytes = await TestServer.exchange(server.port, [get("/events", "Last-Event-ID: 41\r\n")], {
      isEnough: (text) => /event: alert\n.*\n\n/.test(text),
    })
    const text = bytes.toString()
    expect(text).toContain("content-type: text/event-stream".replace("content-type", "Content-Type"))
    expect(text).toContain("Cache-Control: no-store")
    expect(text).toContain('id: 42\nevent: alert\ndata: {"type":"alert","severity":"warning","message":"lag"}\n\n')
    await expect.poll(() => readers).toBe(0)

    expectFailure(await ask(server.port, get("/events", "Last-Event-ID: x\r\n")), 400, "InvalidRequest")
    const controller = new AbortController()
    const open = Array.from({ length: 100 }, () => fetch(`${server.url}/events`, { signal: controller.signal }))
    expect((await Promise.all(open)).map(({ status }) => status)).toEqual(open.map(() => 200))
    expectFailure(await ask(server.port, get("/events")), 503, "Overloaded")
    controller.abort()
    await expect.poll(() => readers).toBe(0)
    await server.stop()
  })
})

it("event streams of a page of another site give way to those of its visitor's own programs", async () => {
  const server = await TestServer.start(
    { rateLimits: true },
    { events: { stream: () => Effect.succeed(Stream.never) } },
  )
  const controller = new AbortController()
  const ended: Array<string> = []
  const open = async (who: string, headers: Record<string, string> = {}): Promise<number> => {
    const answer = await fetch(`${server.url}/events`, { headers, signal: controller.signal })
    void answer.text().then(
      () => ended.push(who),
      () => {},
    )
    return answer.status
  }
  const foreign = (n: number) => open(`page ${n}`, { Origin: "https://example.org", "Sec-Fetch-Site": "cross-site" })
  const of = async (ask: (n: number) => Promise<number>, count: number) => {
    const statuses: Array<number> = []
    for (let n = 0; n < count; n++) statuses.push(await ask(n))
    return statuses
  }
  const taken = Array.from({ length: 8 }, () => 200)
  expect(await of(foreign, 9)).toEqual([...taken, 429])
  expect(await of(() => open("own"), 2)).toEqual([200, 200])
  await expect.poll(() => ended).toEqual(["page 8", "page 0", "page 1"])
  expect(await of(foreign, 1)).toEqual([429])
  const ownPage = { Origin: server.url, "Sec-Fetch-Site": "same-origin" }
  expect(await of(() => open("own page", ownPage), 7)).toEqual([...taken.slice(2), 429])
  await expect.poll(() => ended.filter((who) => who.startsWith("own"))).toEqual(["own page"])
  controller.abort()
  await server.stop()
})

describe("event streams under pressure", () => {
  const flood = (readers: { count: number; gone: number }) =>
    Stream.acquireRelease(
      Effect.sync(() => readers.count++),
      () => Effect.sync(() => readers.gone++),
    ).pipe(
      Stream.flatMap(() => Stream.iterate(1, (id) => id + 1)),
      Stream.map((id) => ({ id, event: { type: "alert", severity: "warning", message: "x".repeat(10_000) } as const })),
    )

  it("who does not read is dropped, and the others are served on", async () => {
    const readers = { count: 0, gone: 0 }
    const server = await TestServer.start(
      { tolerance: { unreadEventsMs: 200 } },
      { events: { stream: () => Effect.succeed(flood(readers)) } },
    )
    const socket = connect({ port: server.port, host: "127.0.0.1" })
    socket.on("error", () => {})
    socket.pause()
    socket.write(get("/events"))
    await expect.poll(() => readers.gone).toBe(1)
    expect((await ask(server.port, get("/status"))).status).toBe(200)
    socket.destroy()
    await server.stop()
  })

  it("a stop ends them in the middle of a sentence, and nothing is written behind it", async () => {
    const readers = { count: 0, gone: 0 }
    const trickle = Stream.flatMap(flood(readers), (event) => Effect.delay(Effect.succeed(event), 1))
    // A stop that waited for them would last until the test's own limit.
    const server = await TestServer.start(
      { tolerance: { drainMs: 3_600_000 } },
      { events: { stream: () => Effect.succeed(trickle) } },
    )
    const socket = connect({ port: server.port, host: "127.0.0.1" })
    const closed = once(socket, "close")
    let text = ""
    socket.setEncoding("utf8").on("data", (part: string) => {
      text += part
    })
    socket.write(get("/events"))
    await expect.poll(() => text).toContain("event: alert")
    await server.stop()
    await closed
    expect(readers).toEqual({ count: 1, gone: 1 })
    expect(text).toMatch(/\r\n0\r\n\r\n$/)
  })
})

describe("stopping", () => {
  it("gives the answers that are owed, refuses new requests, closes idle connections at once", async () => {
    const gate = Effect.runSync(Deferred.make<void>())
    const happened: Array<string> = []
    const server = await TestServer.start(
      // Whoever were not let go at once would stay until the test's own limit.
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

  it("does not wait longer than it may", async () => {
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
    // Neither ends by itself: a stop that waited for them would last until the test's own limit.
    await server.stop()
    await Promise.all([hanging, streaming])
  })
})

it("a port that is taken is said in one line", async () => {
  const first = await TestServer.start()
  await expect(TestServer.start({ port: first.port })).rejects.toThrow(
    `cannot serve HTTP on 127.0.0.1:${first.port}: the port is in use; stop what uses it, or choose another with --rpc-port`,
  )
  await first.stop()
})

it("every answer is told with its route", async () => {
  const answered: Array<Answered> = []
  const server = await TestServer.start({ onAnswer: (each) => answered.push(each) })
  await ask(server.port, get("/balance/x"))
  await ask(server.port, get("/nothing/at/all"))
  expect(answered.map(({ route, method, status }) => [route, method, status])).toEqual([
    ["/balance/:address", "GET", 200],
    ["none", "GET", 404],
  ])
  await server.stop()
})

it("five hundred slow clients do not keep others waiting", async () => {
  const server = await TestServer.start({ tolerance: { headersMs: 3_600_000, requestMs: 3_600_000 } })
  const slow = Array.from({ length: 500 }, (_, i) => {
    const socket = connect({ port: server.port, host: "127.0.0.1" })
    socket.resume().write(i % 2 ? "GET /sta" : post("/stake", stake).slice(0, -9))
    return socket
  })
  await Promise.all(slow.map((socket) => once(socket, "connect")))
  for (let i = 0; i < 20; i++) expect((await ask(server.port, get("/status"))).status).toBe(200)
  // Who is served has not waited until they were let go.
  expect(slow.filter(({ closed }) => closed)).toEqual([])
  for (const socket of slow) socket.destroy()
  await server.stop()
})
