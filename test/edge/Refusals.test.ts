/** Refused requests, each with its reason. */
import { describe, expect, it } from "vitest"
import { example } from "../../src/rpc/api/Field.js"
import * as TestServer from "../rpc/TestServer.js"
import { forTests } from "../support/forTests.js"
import { ask, expectFailure, get, post, stake } from "./Answers.js"

describe("malformed requests", () => {
  const server = forTests(() => TestServer.start({ tolerance }))
  const tolerance = { headersMs: 300, requestMs: 600 }

  it("are refused for an unknown path or another method", async () => {
    expectFailure(await ask(server().port, get("/nothing")), 404, "PathNotFound")
    const answer = await ask(server().port, "DELETE /status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    expect(expectFailure(answer, 405, "MethodNotAllowed").allowed).toEqual(["GET", "HEAD", "OPTIONS"])
    expect(answer.headers.get("allow")).toBe("GET, HEAD, OPTIONS")
    expectFailure(await ask(server().port, "CONNECT x:1 HTTP/1.1\r\nHost: localhost\r\n\r\n"), 405, "MethodNotAllowed")
  })

  it.each([
    ["text/plain", "Content-Type: text/plain\r\n"],
    ["no type", ""],
    ["a type that only begins so", "Content-Type: application/jsonp\r\n"],
    ["an encoding", "Content-Type: application/json\r\nContent-Encoding: gzip\r\n"],
    ["another charset", "Content-Type: application/json; charset=iso-8859-1\r\n"],
    ["another charset in quotes", 'Content-Type: application/json;charset="utf-16"\r\n'],
    ["two charsets", "Content-Type: application/json; charset=utf-8; charset=latin1\r\n"],
  ])("are refused for a body declared as %s", async (_what, headers) => {
    expectFailure(await ask(server().port, post("/stake", stake, headers)), 415, "UnsupportedMediaType")
  })

  it.each(["application/json; charset=utf-8", 'application/json;charset="UTF-8"', "Application/JSON ; Charset=utf8"])(
    "are accepted with a body declared as %s",
    async (type) => {
      expect((await ask(server().port, post("/stake", stake, `Content-Type: ${type}\r\n`))).status).toBe(200)
    },
  )

  it.each([
    ["none", ""],
    ["two", "Host: localhost\r\nhost: localhost\r\n"],
  ])("are refused without exactly one Host: %s", async (got, headers) => {
    const answer = await ask(server().port, `GET /status HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`)
    expect(expectFailure(answer, 400, "InvalidRequest")).toMatchObject({
      error: expect.stringMatching(`got ${got === "two" ? 2 : got}$`),
      field: "host",
    })
  })

  it.each([
    ["/status?x=1", "x", "no such query parameter; this endpoint has none"],
    ["/dag?round=1", "round", "no such field; known are from, rounds"],
    ["/dag?rounds=1&rounds=2", "rounds", "appears twice in the query"],
    ["/balance/@zoe?limit=1", "limit", "no such query parameter; this endpoint has none"],
    ["/events?colour=red", "colour", "no such"],
  ])("are refused for an unknown query parameter, %s", async (path, field, reason) => {
    const refused = expectFailure(await ask(server().port, get(path)), 400, "InvalidRequest")
    expect(refused).toMatchObject({ field, error: expect.stringContaining(`${field}: ${reason}`) })
  })

  it("are refused for a query on a path that takes a body", async () => {
    for (const [path, body] of [
      ["/stake?x=1", stake],
      ["/tx/submit?x=1", "[]"],
    ] as const) {
      const refused = expectFailure(await ask(server().port, post(path, body)), 400, "InvalidRequest")
      expect(refused).toMatchObject({ field: "x" })
    }
  })

  it("are refused for a body that is empty, not JSON or not UTF-8", async () => {
    for (const body of ["", "{", "{'a':1}", `{"secret_key":"${example.secretKey}"`, "\u0000"]) {
      const answer = await ask(server().port, post("/stake", body))
      expect(expectFailure(answer, 400, "InvalidRequest").error).not.toContain(example.secretKey.slice(0, 8))
    }
    const bytes = Buffer.concat([Buffer.from(`{"a":"`), Buffer.of(0xff, 0xfe), Buffer.from(`"}`)])
    const head = post("/stake", "x".repeat(bytes.length)).split("\r\n\r\n")[0]
    expectFailure(await ask(server().port, `${head}\r\n\r\n`, bytes), 400, "InvalidRequest")
  })

  it.each([
    [
      "/stake",
      { secret_key: example.secretKey, amount: "5" },
      'amount: expected an integer number of sats from 0 to 2100000000000000, got "5"',
    ],
    [
      "/stake",
      { secret_key: example.secretKey },
      "amount: missing; expected an integer number of sats from 0 to 2100000000000000",
    ],
    ["/stake", { secret_key: `${example.secretKey}00`, amount: 5 }, "secret_key: expected 64 hex characters"],
    [
      "/stake",
      { secret_key: example.secretKey, amount: 5, more: 1 },
      "more: no such field; known are secret_key, amount",
    ],
    ["/stake", [], "body: expected an object, got an array"],
    ["/stake", null, "body: expected an object, got null"],
    [
      "/vote",
      { secret_key: example.secretKey, proposal_id: 1, vote: "yes", fee: 1 },
      'vote: expected true or false, got "yes"',
    ],
    [
      "/tx/submit",
      { type: "UnstakeTx", from: "x", nonce: -1 },
      "nonce: expected an integer from 0 to 2^53 - 1, got -1",
    ],
  ])("are refused to %s for the body %j", async (path, body, error) => {
    const answer = expectFailure(await ask(server().port, post(path, JSON.stringify(body))), 400, "InvalidRequest")
    expect(answer.error).toBe(error)
    expect(answer.field).toBe(error.slice(0, error.indexOf(":")))
  })

  // The first two used to be a 500, since a schema turns any value into a string.
  it.each([
    [`{"type":${"[".repeat(1_000)}${"]".repeat(1_000)}}`, "type", "more than 32 levels of nested objects and lists"],
    ['{"type":{"toString":1,"valueOf":1}}', "body", "a field holds an object or a list instead of a text"],
    ['{"type":"UnstakeTx","nonce":0.99999999999999999999}', "nonce", "in digits alone"],
    ['{"type":"UnstakeTx","nonce":1,"nonce":2}', "nonce", "appears twice"],
    [JSON.stringify({ type: "x".repeat(60_000) }), "type", "got 60000 characters"],
  ])("are refused to /tx/submit for the text %.60s", async (text, field, reason) => {
    const answer = expectFailure(await ask(server().port, post("/tx/submit", text)), 400, "InvalidRequest")
    expect(answer.field.startsWith(field)).toBe(true)
    expect(answer.error).toContain(reason)
    expect(answer.error.length).toBeLessThan(500)
  })

  it("are refused for a body that is too large, announced or not", async () => {
    const large = JSON.stringify({ secret_key: "x".repeat(70_000) })
    expect(expectFailure(await ask(server().port, post("/stake", large)), 413, "BodyTooLarge").limit).toBe(65_536)
    const chunked =
      "POST /stake HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    const chunk = `4000\r\n${"x".repeat(0x4000)}\r\n`
    expectFailure(
      await ask(server().port, chunked, chunk, chunk, chunk, chunk, chunk, "0\r\n\r\n"),
      413,
      "BodyTooLarge",
    )
    const batch = `[${"1,".repeat(600_000)}1]`
    expect(expectFailure(await ask(server().port, post("/tx/submit", batch)), 413, "BodyTooLarge").limit).toBe(
      1_048_576,
    )
    const single = `  {"memo":"${"x".repeat(70_000)}"}`
    expect(expectFailure(await ask(server().port, post("/tx/submit", single)), 413, "BodyTooLarge").limit).toBe(65_536)
  })

  it("are refused before parsing for a body with more values than any transaction has", async () => {
    const names = (count: number) => `{${Array.from({ length: count }, (_, i) => `"${i}":0`).join(",")}}`
    const bodies = [
      names(1_024),
      `[${names(20_000)}]`,
      `[${"[],".repeat(20_000)}0]`,
      `[${"[".repeat(500_000)}`,
      `{"a":${"[".repeat(60_000)}`,
    ]
    for (const body of bodies) {
      const answer = expectFailure(await ask(server().port, post("/tx/submit", body)), 400, "InvalidRequest")
      expect(answer).toMatchObject({ field: "body", error: expect.stringContaining("values") })
    }
    const keys = JSON.stringify({ type: "SetAccountPolicyTx", keys: Array(1_000).fill("a") })
    expect(expectFailure(await ask(server().port, post("/tx/submit", keys)), 400, "InvalidRequest").field).not.toBe(
      "body",
    )
  })

  it("are refused when they are not HTTP or larger than a request needs", async () => {
    expectFailure(await ask(server().port, "hello\r\n\r\n"), 400, "InvalidRequest")
    expectFailure(await ask(server().port, get("/status", `X-Long: ${"x".repeat(20_000)}\r\n`)), 431, "HeadersTooLarge")
  })

  it("are refused when their headers or bodies do not arrive", async () => {
    expectFailure(await ask(server().port, "GET /status HTTP/1.1\r\nHost:"), 408, "RequestTimeout")
    expectFailure(await ask(server().port, post("/stake", stake).slice(0, -5)), 408, "RequestTimeout")
  })

  it("are refused before their body is requested", async () => {
    const awaiting = (type: string, length: number) =>
      `POST /stake HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`
    for (const [head, status] of [
      [awaiting("text/plain", 9), 415],
      [awaiting("application/json", 70_000), 413],
    ] as const) {
      const text = (await TestServer.exchange(server().port, [head])).toString()
      expect(text.startsWith(`HTTP/1.1 ${status} `)).toBe(true)
    }
  })

  it("never expose a key, or most of one, that their path contains", async () => {
    const most = example.secretKey.slice(1)
    for (const [method, path] of [
      ["GET", `/nothing/${most}`],
      ["DELETE", `/balance/${most}`],
    ]) {
      const request = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`
      expect((await ask(server().port, request)).body).not.toContain(most.slice(0, 8))
    }
  })

  it("do not disturb the next request on the same connection", async () => {
    const refused = post("/stake", "x".repeat(70_000)).replace("Connection: close\r\n", "")
    const answers = TestServer.parse(
      await TestServer.exchange(server().port, [refused, get("/status")], { pauseMs: 100 }),
    )
    expect(answers.map(({ status }) => status)).toEqual([413, 200])
  })
})
