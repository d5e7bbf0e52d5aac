/**
 * The HTTP controls of `udg dev`, on their own port because no other node has them. They answer local programs only.
 * Web pages are refused by origin, fetch metadata and host, and every change needs a JSON body.
 */
import * as Http from "node:http"
import { Effect, Either, Runtime, Schema } from "effect"
import * as PageGuard from "../edge/admission/PageGuard.js"
import * as Server from "../edge/server/Server.js"
import type { Address } from "../protocol/identity/Address.js"
import * as Name from "../protocol/identity/Name.js"
import * as Sats from "../protocol/numbers/Sats.js"
import { ControlRefused, type DevNetwork } from "../testing/DevNetwork.js"

interface Answer {
  readonly status: number
  readonly body: object
}

const HOST = "127.0.0.1"
const BODY_BYTES = 4_096
/** Limit of a dump, which grows with the network. */
const STATE_BYTES = 268_435_456
const WAITING_AT_MOST = 16
const REQUEST_MS = 10_000

const failed = (status: number, code: string, error: string): Answer => ({ status, body: { code, error } })

/** Origins of pages that have the same access as programs. */
type Allowed = ReadonlySet<string>

const refusalOf = (request: Http.IncomingMessage, allowed: Allowed): Answer | undefined => {
  if (!PageGuard.isOfThisMachine(request))
    return failed(
      403,
      "ForeignHost",
      "the controls answer under 127.0.0.1 and localhost only; use one of these, without a proxy",
    )
  const { origin } = request.headers
  if (origin !== undefined && allowed.has(origin)) return undefined
  if (PageGuard.isOfPage(request))
    return failed(
      403,
      "ForeignOrigin",
      "web pages cannot use the controls; to allow a page of yours, start udg dev with --allow-origin and its origin",
    )
  return undefined
}

type Control = (body: unknown) => Effect.Effect<object, ControlRefused>

const control =
  <A>(schema: Schema.Schema<A>, expected: string, run: (value: A) => Effect.Effect<object, ControlRefused>): Control =>
  (body) =>
    Either.match(Schema.decodeUnknownEither(schema, { onExcessProperty: "error" })(body), {
      onLeft: () => new ControlRefused({ message: `the body must be ${expected}` }),
      onRight: run,
    })

const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64")

const text = Schema.String
const number = Schema.Number

const satsOf = (amount: number) =>
  Number.isSafeInteger(amount) && amount >= 0 && amount <= Sats.MAX_SUPPLY
    ? Effect.succeed(Sats.make(amount))
    : new ControlRefused({ message: `amount: expected a number of sats from 0 to ${Sats.MAX_SUPPLY}` })

const nameOf = (name: string) =>
  Name.isName(name)
    ? Effect.succeed(name)
    : new ControlRefused({ message: "name: expected 3 to 20 characters of a-z, 0-9 and -, without - at either end" })

/** Sets a field of an account and returns its new value. */
const setting = <A, B>(
  network: DevNetwork,
  field: string,
  wanted: Effect.Effect<A, ControlRefused>,
  account: string,
  set: (address: Address, wanted: A) => Effect.Effect<B, ControlRefused>,
) =>
  Effect.gen(function* () {
    const address = yield* network.find(account)
    return { address, [field]: yield* set(address, yield* wanted) }
  })

const controlsOf = (network: DevNetwork): ReadonlyMap<string, Control> =>
  new Map([
    [
      "/advance",
      control(
        Schema.Union(Schema.Struct({ rounds: number }), Schema.Struct({ time_ms: number })),
        '{"rounds": N} or {"time_ms": N}',
        (wanted) => ("rounds" in wanted ? network.advanceRounds(wanted.rounds) : network.advanceTime(wanted.time_ms)),
      ),
    ],
    [
      "/impersonate",
      control(
        Schema.Struct({ address: text, transaction: Schema.Record({ key: text, value: Schema.Unknown }) }),
        '{"address": "…", "transaction": {"type": "…", …}}',
        ({ address, transaction }) =>
          Effect.flatMap(network.find(address), (account) =>
            Effect.map(network.impersonate(account, transaction), (done) => ({ address: account, ...done })),
          ),
      ),
    ],
    ["/snapshot", control(Schema.Struct({}), "{}", () => Effect.map(network.snapshot, (snapshot) => ({ snapshot })))],
    [
      "/revert",
      control(Schema.Struct({ snapshot: number }), '{"snapshot": N}', ({ snapshot }) => network.revert(snapshot)),
    ],
    [
      "/balance",
      control(
        Schema.Struct({ address: text, amount: number }),
        '{"address": "…", "amount": SATS}',
        ({ address, amount }) => setting(network, "balance", satsOf(amount), address, network.setBalance),
      ),
    ],
    [
      "/dump",
      control(Schema.Struct({}), "{}", () => Effect.map(network.dump, (state) => ({ state: toBase64(state) }))),
    ],
    [
      "/load",
      control(Schema.Struct({ state: text }), '{"state": "…"}, as /dump answered', ({ state }) =>
        network.load(Buffer.from(state, "base64")),
      ),
    ],
    [
      "/stake",
      control(
        Schema.Struct({ address: text, amount: number }),
        '{"address": "…", "amount": SATS}',
        ({ address, amount }) => setting(network, "stake", satsOf(amount), address, network.setStake),
      ),
    ],
    [
      "/nonce",
      control(Schema.Struct({ address: text, nonce: number }), '{"address": "…", "nonce": N}', ({ address, nonce }) =>
        setting(network, "nonce", Effect.succeed(nonce), address, network.setNonce),
      ),
    ],
    [
      "/name",
      control(Schema.Struct({ address: text, name: text }), '{"address": "…", "name": "…"}', ({ address, name }) =>
        setting(network, "name", nameOf(name), address, network.setName),
      ),
    ],
  ])

/** Returns the body, or undefined if it is too long. */
const bodyOf = async (request: Http.IncomingMessage, most: number): Promise<string | undefined> => {
  const pieces: Array<Buffer> = []
  let bytes = 0
  // The connection must stay open for the error response.
  for await (const piece of request.iterator({ destroyOnReturn: false })) {
    bytes += piece.length
    if (bytes > most) return undefined
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString("utf8")
}

const parsed = (text: string): Either.Either<unknown, Answer> =>
  Either.try({
    try: (): unknown => JSON.parse(text),
    catch: () => failed(400, "InvalidRequest", "the request body is not valid JSON"),
  })

const carriedOut = async (
  request: Http.IncomingMessage,
  run: Control,
  perform: (effect: Effect.Effect<Answer>) => Promise<Answer>,
): Promise<Answer> => {
  if (request.method !== "POST") return failed(405, "MethodNotAllowed", "use POST")
  if (!/^application\/json(?:;|$)/i.test(request.headers["content-type"] ?? ""))
    return failed(415, "UnsupportedMediaType", "use Content-Type: application/json")
  const most = request.url === "/load" ? STATE_BYTES : BODY_BYTES
  const text = await bodyOf(request, most)
  if (text === undefined) return failed(413, "BodyTooLarge", `the body is larger than ${most} bytes`)
  const body = parsed(text)
  if (Either.isLeft(body)) return body.left
  return perform(
    Effect.match(run(body.right), {
      onFailure: ({ message }) => failed(400, "InvalidRequest", message),
      onSuccess: (body) => ({ status: 200, body }),
    }),
  )
}

/** CORS headers that let an allowed page read the response. */
const forPage = ({ headers: { origin } }: Http.IncomingMessage, allowed: Allowed): Http.OutgoingHttpHeaders =>
  origin !== undefined && allowed.has(origin) ? { "Access-Control-Allow-Origin": origin, Vary: "Origin" } : {}

const preflight = (request: Http.IncomingMessage, response: Http.ServerResponse, allowed: Allowed): void => {
  response.writeHead(204, {
    ...forPage(request, allowed),
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Allow-Headers": "Content-Type",
    // Browsers require this header when a page from another network uses a local address.
    "Access-Control-Allow-Private-Network": "true",
  })
  response.end()
}

const send = (response: Http.ServerResponse, { status, body }: Answer, more: Http.OutgoingHttpHeaders = {}): void => {
  const text = `${JSON.stringify(body)}\n`
  response.writeHead(status, {
    ...more,
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(text),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    ...(status === 413 ? { Connection: "close" } : {}),
  })
  response.end(text)
}

const statusOf = (network: DevNetwork) => ({
  rpc: network.url,
  ...network.position(),
  snapshots: network.snapshots(),
  impersonation_key: network.standIn.toSecretHex(),
})

/** Serves the controls until the scope ends. Returns their URL. */
export const serve = (network: DevNetwork, port: number, allowed: Allowed) =>
  Effect.gen(function* () {
    const controls = controlsOf(network)
    const perform = Runtime.runPromise(yield* Effect.runtime<never>())
    let waiting = 0
    const answerTo = async (request: Http.IncomingMessage): Promise<Answer> => {
      const refusal = refusalOf(request, allowed)
      if (refusal !== undefined) return refusal
      const path = request.url ?? ""
      if (path === "/" && request.method === "GET") return { status: 200, body: statusOf(network) }
      const run = controls.get(path)
      if (run === undefined)
        return failed(
          404,
          "NotFound",
          `there is no ${JSON.stringify(path.slice(0, 80))} here; use ${[...controls.keys()].join(", ")}`,
        )
      if (waiting >= WAITING_AT_MOST) return failed(503, "Overloaded", "too many requests are waiting; try again")
      waiting++
      try {
        return await carriedOut(request, run, perform)
      } finally {
        waiting--
      }
    }
    const server = Http.createServer(
      { requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS },
      (request, response) => {
        const isAllowed = allowed.has(request.headers.origin ?? "")
        if (request.method === "OPTIONS" && isAllowed && refusalOf(request, allowed) === undefined)
          return preflight(request, response, allowed)
        answerTo(request).then(
          (answer) => send(response, answer, forPage(request, allowed)),
          () => send(response, failed(500, "InternalError", "internal error; see the log of udg dev")),
        )
      },
    )
    yield* Effect.addFinalizer(() =>
      Effect.async<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      }),
    )
    const place = { host: HOST, port, what: "the controls", options: { port: "--control-port" } }
    const bound = yield* Server.listen(server, place)
    return Server.urlOf({ host: HOST, port: bound.port })
  })
