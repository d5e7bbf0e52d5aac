/**
 * Requests from nearly valid to not HTTP at all. Every response has a status below 500, JSON or the endpoint's own
 * type, and all headers.
 */
import { connect, type Socket } from "node:net"
import { FastCheck as fc } from "effect"
import * as TestServer from "../rpc/TestServer.js"

/** The largest body that is read. */
const BODY_BYTES = 65_536

/** Values that are meaningful to the node, for any field, and bodies that it would accept. */
export interface Known {
  readonly values: ReadonlyArray<string>
  readonly posts: ReadonlyArray<{ readonly path: string; readonly body: object }>
}

export const arbitrary = ({ values, posts }: Known): fc.Arbitrary<Buffer> => {
  const paths = fc.oneof(
    fc.constantFrom("/status", "/balance/x", "/round/5", "/keygen", ...posts.map(({ path }) => path)),
    fc
      .tuple(
        fc.constantFrom(
          "/balance/",
          "/tx/",
          "/stake/",
          "/delegation/",
          "/vertex/",
          "/vote/1/",
          "/proof/",
          "/proposal/",
        ),
        fc.constantFrom(...values),
      )
      .map(([start, end]) => `${start}${end}`),
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
    fc.constantFrom<unknown>(...values, "@alice", "Transfer", "UnstakeTx", "", null, true, -0, 1.5),
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
      arbitrary: fc.constantFrom(`"${"x".repeat(BODY_BYTES)}"`, '{"amount":1e999}', '{"amount":00}', "\ufeff{}"),
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

  /** An acceptable body with one field changed. */
  const almost = fc.tuple(fc.constantFrom(...posts), fc.nat(), fc.option(field)).map(([{ path, body }, at, value]) => {
    const names = Object.keys(body)
    const changed = { ...body, [names[at % (names.length + 1)] ?? "more"]: value ?? undefined }
    return { method: "POST", path, body: JSON.stringify(changed), headers: [] as ReadonlyArray<string> }
  })

  const wellFormed = fc
    .oneof(
      { weight: 2, arbitrary: fc.record({ method: methods, path: paths, body: bodies, headers }) },
      { weight: 1, arbitrary: almost },
    )
    .map(({ method, path, body, headers }) => {
      const type = headers.some((header) => header.startsWith("Content-Type")) ? [] : ["Content-Type: application/json"]
      const length = method === "POST" ? [`Content-Length: ${Buffer.byteLength(body)}`] : []
      const head = [
        `${method} ${path} HTTP/1.1`,
        "Host: localhost",
        "Connection: close",
        ...type,
        ...length,
        ...headers,
      ].join("\r\n")
      return Buffer.from(`${head}\r\n\r\n${method === "POST" ? body : ""}`)
    })

  const mutated = fc
    .tuple(wellFormed, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 6 }), fc.option(fc.nat()))
    .map(([request, changes, cut]) => {
      const bytes = Buffer.from(request)
      for (const [at, value] of changes) bytes[at % bytes.length] = value
      return cut === null ? bytes : bytes.subarray(0, cut % bytes.length)
    })

  return fc.oneof({ weight: 3, arbitrary: wellFormed }, { weight: 1, arbitrary: mutated })
}

/** Sends the bytes and ends the connection. Resolves with the response. */
export const send = (port: number, bytes: Buffer): Promise<Buffer> =>
  new Promise((resolve) => {
    const received: Array<Buffer> = []
    const socket: Socket = connect({ port, host: "127.0.0.1" }, () => socket.end(bytes))
    // An event stream never ends.
    const timer = setTimeout(() => socket.destroy(), 2_000)
    socket.on("data", (chunk) => received.push(chunk))
    socket.on("error", () => {})
    socket.on("close", () => {
      clearTimeout(timer)
      resolve(Buffer.concat(received))
    })
  })

/** What is wrong with the response; it must contain none of `secrets`. */
export const complaintAbout = (request: Buffer, bytes: Buffer, secrets: ReadonlyArray<string>): string | undefined => {
  // A connection that is cut within a request gets no response.
  if (bytes.length === 0) return undefined
  // A response to HEAD has a length and no body, so only the first head is read.
  const head = bytes.toString("latin1").split("\r\n\r\n", 1)[0] ?? ""
  // Bytes after a HEAD request are parsed as another request, whose response is not the first one's body.
  const isHead = request.subarray(0, 5).toString("latin1") === "HEAD "
  const rest = bytes.subarray(head.length + 4)
  const isHeadOnly = rest.length === 0 || (isHead && rest.subarray(0, 9).toString("latin1") === "HTTP/1.1 ")
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
    if (secrets.some((secret) => answer.body.includes(secret))) return "a secret key came back"
    if (answer.body.length > 700) return `a refusal of ${answer.body.length} characters`
  }
  return undefined
}
