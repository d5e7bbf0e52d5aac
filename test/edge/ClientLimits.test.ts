/** What one client can request at a time: requests, large bodies, arrays. */
import { Effect, Either, Option } from "effect"
import { describe, expect, it } from "vitest"
import * as Cidr from "../../src/node/start/Cidr.js"
import * as Failure from "../../src/rpc/api/Failure.js"
import { example } from "../../src/rpc/api/Field.js"
import * as TestServer from "../rpc/TestServer.js"
import { forTests } from "../support/forTests.js"
import { ask, expectFailure, get, post } from "./Answers.js"

describe("limits", () => {
  const proxied = { trustedProxies: [Option.getOrThrow(Cidr.parse("127.0.0.0/8"))], rateLimits: true }
  const as = (client: string) => `X-Forwarded-For: ${client}\r\n`
  const server = forTests(() => TestServer.start(proxied))

  /** Requests over one connection, so that a thousand of them take no time. */
  const statuses = async (requests: ReadonlyArray<string>): Promise<ReadonlyArray<number>> =>
    TestServer.parse(await TestServer.exchange(server().port, [requests.join("") + get("/health", as("192.0.2.99"))]))
      .map(({ status }) => status)
      .slice(0, -1)

  const wish = JSON.stringify({ address: "@zoe", amount: 1 })

  const once = (method: string, path: string, client: string) =>
    `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${as(client)}Content-Length: 0\r\n\r\n`

  it("count a faucet request with any outcome", async () => {
    const asked = (body: string) =>
      ask(server().port, post("/faucet", body, `Content-Type: application/json\r\n${as("203.0.113.99")}`))
    expect([(await asked("{}")).status, (await asked(wish)).status]).toEqual([400, 429])
  })

  it("apply to the client that the proxy names, behind as many headers as a request may have", async () => {
    // Besides Host, Connection and the proxy's header.
    const asked = (headers: number) => {
      const more = Array.from({ length: headers - 3 }, (_, i) => `X-${i}: y\r\n`).join("")
      return ask(server().port, get("/keygen", `${more}${as("203.0.113.77")}`))
    }
    await asked(128)
    expect((await asked(128)).headers.get("ratelimit")).toMatch(/r=8;/)
    for (const headers of [129, 130, 500]) {
      const refused = await asked(headers)
      expect(expectFailure(refused, 431, "HeadersTooLarge").error).toContain("more than 128 headers")
    }
    expect((await asked(3)).headers.get("ratelimit")).toMatch(/r=7;/)
  })

  it.each([
    ["203.0.113.201", "/dag", 100],
    ["203.0.113.202", "/dag?rounds=120", 100],
    ["203.0.113.203", "/dag?rounds=6", 500],
    ["203.0.113.204", "/dag?from=7&rounds=1", 1_000],
  ])(
    "the weight of a stretch of the DAG is its number of rounds: %s can request %s %d times",
    async (client, path, times) => {
      const found = await statuses(Array.from({ length: times + 2 }, () => once("GET", path, client)))
      expect(found.filter((status) => status !== 429).length).toBe(times)
      expect(found.slice(-2)).toEqual([429, 429])
    },
  )
})

describe("large bodies", () => {
  const from = (client: string, body: string) =>
    post("/tx/submit", body, `Content-Type: application/json\r\nX-Forwarded-For: ${client}\r\n`)
  const largest = (body: string) => body.padEnd(1_048_576, " ")
  const trusted = { rateLimits: true, trustedProxies: [Option.getOrThrow(Cidr.parse("127.0.0.1"))] }

  it("count as one request per 2 KiB before they are parsed", async () => {
    await using server = await TestServer.start(trusted)
    const client = "203.0.113.4"
    expect((await ask(server.port, from(client, largest("[1]")))).status).toBe(200)
    // 512 of a thousand are used up, so the next body is not even examined.
    const refused = expectFailure(await ask(server.port, from(client, largest("[no JSON"))), 429, "RateLimited")
    expect(refused.limit).toBe(1_000)
    expect((await ask(server.port, from(client, `[${"1,".repeat(486)}1]`))).status).toBe(200)
    expectFailure(await ask(server.port, from(client, "[1]")), 429, "RateLimited")
  })

  it("count by their entries where these are more", async () => {
    await using server = await TestServer.start(trusted)
    const client = "203.0.113.5"
    expect((await ask(server.port, from(client, `[${"1,".repeat(899)}1]`.padEnd(204_800)))).status).toBe(200)
    expect((await ask(server.port, from(client, `[${"1,".repeat(99)}1]`))).status).toBe(200)
    expectFailure(await ask(server.port, from(client, "{}")), 429, "RateLimited")
  })
})

describe("arrays of transactions", () => {
  it("are answered in order with what each transaction alone would have got", async () => {
    await using server = await TestServer.start(
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
      // What JSON.parse would round, or read ambiguously, fails only its own entry.
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
  })
})

it("are all answered in a burst of slow bodies", async () => {
  await using server = await TestServer.start(
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
  // On one connection, so that all arrive within one turn of the event loop.
  const requests = nonces.map((nonce) => post("/tx/submit", body(nonce)).replace("Connection: close\r\n", ""))
  const bytes = await TestServer.exchange(server.port, [requests.join("") + get("/health")])
  const answers = TestServer.parse(bytes).map(({ body }) => JSON.parse(body))
  expect(answers.slice(0, -1).map(({ nonce }) => nonce)).toEqual(nonces)
})
