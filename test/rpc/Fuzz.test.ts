import { connect, type Socket } from "node:net"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { FastCheck as fc } from "effect"
import { expect, it } from "vitest"
import { bodyBytes } from "../../src/rpc/access/Api.js"
import { example } from "../../src/rpc/field/Api.js"
import * as TestServer from "./TestServer.js"

/**
 * Twenty thousand requests, from nearly right to not HTTP at all, each batch with a seed of its own that a failure
 * prints. Whatever comes: if it is answered, then below 500, in JSON (or the endpoint's own type), with all headers.
 */
const REQUESTS = 20_000
const CONNECTIONS = 16

const paths = fc.oneof(
  fc.constantFrom("/status", "/balance/x", "/tx", "/tx/submit", "/stake", "/vote", "/proposal", "/round/5", "/keygen"),
  fc.constantFrom(
    "/docs",
    "/openapi.json",
    "/metrics",
    "/proof/@a",
    "/account/x/transactions?limit=5",
    "*",
    "//",
    "/%",
    "",
  ),
  fc
    .array(fc.constantFrom("/", "tx", "vote", "..", "%2e", "%zz", ":id", "1e3", "\u00e9", "?", "&limit=", "#", "@"), {
      maxLength: 8,
    })
    .map((parts) => `/${parts.join("")}`),
  fc.webPath(),
  fc.string({ maxLength: 40, unit: "binary" }),
)

const methods = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("GET", "POST", "HEAD", "OPTIONS") },
  { weight: 1, arbitrary: fc.constantFrom("PUT", "DELETE", "PATCH", "TRACE", "get", "FOO", "", "CONNECT", "PRI") },
)

const field = fc.oneof(
  fc.constantFrom<unknown>(
    example.secretKey,
    example.address,
    "@alice",
    "Transfer",
    "UnstakeTx",
    "",
    null,
    true,
    -0,
    1.5,
  ),
  fc.constantFrom<unknown>(
    Number.MAX_SAFE_INTEGER,
    -1,
    1e300,
    "5",
    {},
    [],
    { Text: {} },
    { ParameterChange: { param: "x" } },
  ),
  fc.jsonValue({ maxDepth: 3 }),
)

const names =
  "secret_key amount type from to nonce fee pub_key signature signatures title description proposal_type vote"
const likely = fc
  .dictionary(fc.oneof(fc.constantFrom(...names.split(" "), "__proto__", "constructor"), fc.string()), field, {
    maxKeys: 8,
  })
  .map((value) => JSON.stringify(value))

const bodies = fc.oneof(
  { weight: 6, arbitrary: likely },
  { weight: 2, arbitrary: fc.array(likely, { maxLength: 5 }).map((items) => `[${items.join(",")}]`) },
  { weight: 2, arbitrary: fc.json({ maxDepth: 4 }) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 200 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 40_000 }).map((depth) => "[".repeat(depth)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(`"${"x".repeat(bodyBytes)}"`, '{"amount":1e999}', '{"amount":00}', "\ufeff{}"),
  },
)

const headers = fc.array(
  fc.oneof(
    fc.constantFrom(
      "Content-Type: text/plain",
      "Expect: 100-continue",
      "Expect: more",
      "Upgrade: websocket",
      "Connection: upgrade",
    ),
    fc.constantFrom(
      "Transfer-Encoding: chunked",
      "Content-Length: 5",
      "Content-Encoding: br",
      "X-Forwarded-For: 1.2.3.4, x",
    ),
    fc.constantFrom(
      "Last-Event-ID: 1",
      "Accept: */*",
      "Host:",
      "Origin: null",
      "Range: bytes=0-1",
      `Cookie: ${"a".repeat(300)}`,
    ),
    fc
      .tuple(fc.string({ maxLength: 10 }), fc.string({ maxLength: 20, unit: "binary" }))
      .map(([name, value]) => `${name}: ${value}`),
  ),
  { maxLength: 3 },
)

const wellFormed = fc
  .record({ method: methods, path: paths, body: bodies, headers })
  .map(({ method, path, body, headers }) => {
    const type = headers.some((header) => header.startsWith("Content-Type")) ? [] : ["Content-Type: application/json"]
    const length = method === "POST" ? [`Content-Length: ${Buffer.byteLength(body)}`] : []
    const head = [`${method} ${path} HTTP/1.1`, "Host: x", "Connection: close", ...type, ...length, ...headers].join(
      "\r\n",
    )
    return Buffer.from(`${head}\r\n\r\n${method === "POST" ? body : ""}`)
  })

const mutated = fc
  .tuple(wellFormed, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 6 }), fc.option(fc.nat()))
  .map(([request, changes, cut]) => {
    const bytes = Buffer.from(request)
    for (const [at, value] of changes) bytes[at % bytes.length] = value
    return cut === null ? bytes : bytes.subarray(0, cut % bytes.length)
  })

const requests = fc.oneof({ weight: 3, arbitrary: wellFormed }, { weight: 1, arbitrary: mutated })

/** Sends the bytes and an end; resolves with what came back. */
const send = (port: number, bytes: Buffer): Promise<Buffer> =>
  new Promise((resolve) => {
    const received: Array<Buffer> = []
    const socket: Socket = connect({ port, host: "127.0.0.1" }, () => socket.end(bytes))
    // An event stream has no end of its own.
    const timer = setTimeout(() => socket.destroy(), 150)
    socket.on("data", (chunk) => received.push(chunk))
    socket.on("error", () => {})
    socket.on("close", () => {
      clearTimeout(timer)
      resolve(Buffer.concat(received))
    })
  })

/** Bytes in use after everything that can be collected was. */
const heapInUse = (): number => {
  setFlagsFromString("--expose-gc")
  const collect: unknown = runInNewContext("gc")
  if (typeof collect === "function") collect()
  return process.memoryUsage().heapUsed
}

const complaintAbout = (bytes: Buffer): string | undefined => {
  // A connection that is cut in the middle of a request is owed nothing.
  if (bytes.length === 0) return undefined
  // To HEAD the length is told and nothing sent, so only the first head is read where there is no more.
  const head = bytes.toString("latin1").split("\r\n\r\n", 1)[0] ?? ""
  const isHeadOnly = bytes.length === head.length + 4
  const [answer] = isHeadOnly
    ? TestServer.parse(Buffer.from(`${head.replace(/content-length/i, "x")}\r\n\r\n`))
    : TestServer.parse(bytes)
  if (answer === undefined) return head.startsWith("HTTP/1.1 100") ? undefined : "no answer"
  if (!(answer.status >= 200 && answer.status < 500)) return `status ${answer.status}`
  for (const name of ["access-control-allow-origin", "access-control-allow-methods", "access-control-allow-headers"]) {
    if (!answer.headers.has(name)) return `no ${name}`
  }
  if (answer.headers.get("cache-control") !== "no-store") return "may be stored"
  if (answer.headers.get("x-content-type-options") !== "nosniff") return "may be sniffed"
  if (answer.status >= 400 && !isHeadOnly) {
    const body = JSON.parse(answer.body)
    if (typeof body.code !== "string" || typeof body.error !== "string") return `body ${answer.body}`
    if (answer.body.includes(example.secretKey)) return "a secret key came back"
    if (answer.body.length > 700) return `a refusal of ${answer.body.length} characters`
  }
  return undefined
}

it("whatever comes gets a well-formed answer below 500, and memory stays bounded", async () => {
  const server = await TestServer.start({ tolerance: { headersMs: 1_000, requestMs: 1_000 } })
  const seed = Date.now() % 2 ** 31
  const all = fc.sample(requests, { seed, numRuns: REQUESTS })
  const statuses = new Map<number, number>()
  const complaints: Array<string> = []
  const before = heapInUse()
  let next = 0
  const worker = async (): Promise<void> => {
    for (let i = next++; i < all.length && complaints.length < 5; i = next++) {
      const request = all[i] ?? Buffer.alloc(0)
      const bytes = await send(server.port, request)
      const status = Number(bytes.subarray(9, 12).toString())
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      let complaint: string | undefined
      try {
        complaint = complaintAbout(bytes)
      } catch (error) {
        complaint = String(error)
      }
      if (complaint !== undefined) {
        complaints.push(
          `seed ${seed}, request ${i}: ${complaint}\n${JSON.stringify(request.subarray(0, 400).toString("latin1"))}`,
        )
      }
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, worker))
  expect(complaints).toEqual([])
  // Not everything was refused at the door, and nothing was left out.
  for (const status of [200, 204, 400, 404, 405, 413, 415]) expect(statuses.get(status), `${status}`).toBeGreaterThan(0)
  expect((await TestServer.ask(server.port, TestServer.get("/status"))).status).toBe(200)
  expect(heapInUse() - before).toBeLessThan(30_000_000)
  await server.stop()
}, 60_000)
