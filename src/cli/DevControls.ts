/**
 * The controls of `udg dev` over HTTP, on a port of their own: no node has these paths. They answer programs of this machine
 * only. A web page gets nothing: browsers name the page, its kind or another host, and every change takes a JSON body.
 */
import * as Http from "node:http"
import { Effect, Either, Runtime, Schema } from "effect"
import * as Address from "../protocol/identity/Address.js"
import type { AddressPrefix } from "../protocol/identity/Network.js"
import * as Sats from "../protocol/numbers/Sats.js"
import * as PageGuard from "../rpc/admission/PageGuard.js"
import * as Server from "../rpc/server/Server.js"
import { ControlRefused, type DevNetwork } from "../testing/DevNetwork.js"

interface Answer {
  readonly status: number
  readonly body: object
}

const HOST = "127.0.0.1"
const BODY_BYTES = 4_096
const WAITING_AT_MOST = 16
const REQUEST_MS = 10_000

const failed = (status: number, code: string, error: string): Answer => ({ status, body: { code, error } })

const refusalOf = (request: Http.IncomingMessage): Answer | undefined => {
  if (!PageGuard.isOfThisMachine(request))
    return failed(403, "ForeignHost", "ask under 127.0.0.1 or localhost, without a proxy in between")
  if (PageGuard.isOfPage(request))
    return failed(403, "ForeignOrigin", "the controls are for programs; a web page cannot use them")
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

const controlsOf = (network: DevNetwork, prefix: AddressPrefix): ReadonlyMap<string, Control> =>
  new Map([
    [
      "/advance",
      control(
        Schema.Union(Schema.Struct({ rounds: Schema.Number }), Schema.Struct({ time_ms: Schema.Number })),
        '{"rounds": N} or {"time_ms": N}',
        (wanted) => ("rounds" in wanted ? network.advanceRounds(wanted.rounds) : network.advanceTime(wanted.time_ms)),
      ),
    ],
    ["/snapshot", control(Schema.Struct({}), "{}", () => Effect.map(network.snapshot, (snapshot) => ({ snapshot })))],
    [
      "/revert",
      control(Schema.Struct({ snapshot: Schema.Number }), '{"snapshot": N}', ({ snapshot }) =>
        network.revert(snapshot),
      ),
    ],
    [
      "/balance",
      control(
        Schema.Struct({ address: Schema.String, amount: Schema.Number }),
        '{"address": "…", "amount": SATS}',
        ({ address, amount }) =>
          Effect.gen(function* () {
            const found = Address.parse(address, prefix)
            if (Either.isLeft(found)) return yield* new ControlRefused({ message: "address: not one of this network" })
            if (!Number.isSafeInteger(amount) || amount < 0 || amount > Sats.MAX_SUPPLY)
              return yield* new ControlRefused({ message: "amount: sats from 0 to those of the whole supply expected" })
            const balance = yield* network.setBalance(found.right, Sats.make(amount))
            return { address: found.right, balance }
          }),
      ),
    ],
  ])

/** The body as text; none if it is too long. */
const bodyOf = async (request: Http.IncomingMessage): Promise<string | undefined> => {
  const pieces: Array<Buffer> = []
  let bytes = 0
  // What is too long is answered, so the connection must outlive the reading.
  for await (const piece of request.iterator({ destroyOnReturn: false })) {
    bytes += piece.length
    if (bytes > BODY_BYTES) return undefined
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString("utf8")
}

const parsed = (text: string): Either.Either<unknown, Answer> =>
  Either.try({ try: (): unknown => JSON.parse(text), catch: () => failed(400, "InvalidRequest", "this is not JSON") })

const carriedOut = async (
  request: Http.IncomingMessage,
  run: Control,
  perform: (effect: Effect.Effect<Answer>) => Promise<Answer>,
): Promise<Answer> => {
  if (request.method !== "POST") return failed(405, "MethodNotAllowed", "use POST")
  if (!/^application\/json(?:;|$)/i.test(request.headers["content-type"] ?? ""))
    return failed(415, "UnsupportedMediaType", "use Content-Type: application/json")
  const text = await bodyOf(request)
  if (text === undefined) return failed(413, "BodyTooLarge", `the body is larger than ${BODY_BYTES} bytes`)
  const body = parsed(text)
  if (Either.isLeft(body)) return body.left
  return perform(
    Effect.match(run(body.right), {
      onFailure: ({ message }) => failed(400, "InvalidRequest", message),
      onSuccess: (body) => ({ status: 200, body }),
    }),
  )
}

const send = (response: Http.ServerResponse, { status, body }: Answer): void => {
  const text = `${JSON.stringify(body)}\n`
  response.writeHead(status, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(text),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    ...(status === 413 ? { Connection: "close" } : {}),
  })
  response.end(text)
}

/** Serves the controls until the scope ends, and returns where. */
export const serve = (network: DevNetwork, prefix: AddressPrefix, port: number) =>
  Effect.gen(function* () {
    const controls = controlsOf(network, prefix)
    const perform = Runtime.runPromise(yield* Effect.runtime<never>())
    let waiting = 0
    const answerTo = async (request: Http.IncomingMessage): Promise<Answer> => {
      const refusal = refusalOf(request)
      if (refusal !== undefined) return refusal
      const path = request.url ?? ""
      if (path === "/" && request.method === "GET")
        return { status: 200, body: { rpc: network.url, ...network.position(), snapshots: network.snapshots() } }
      const run = controls.get(path)
      if (run === undefined)
        return failed(
          404,
          "NotFound",
          `there is no ${JSON.stringify(path.slice(0, 80))} here; use ${[...controls.keys()].join(", ")}`,
        )
      if (waiting >= WAITING_AT_MOST) return failed(503, "Overloaded", "too many controls are waiting; ask again")
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
        answerTo(request).then(
          (answer) => send(response, answer),
          () => send(response, failed(500, "InternalError", "it could not be done; the log says why")),
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
