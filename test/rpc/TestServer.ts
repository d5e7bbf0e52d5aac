/** A real server on a free port for the length of a test, and a client that sends exactly the bytes it is given. */
import { connect } from "node:net"
import { Effect, Exit, Layer, Logger, LogLevel, Option, Scope } from "effect"
import * as Server from "../../src/edge/server/Server.js"
import { Api } from "../../src/rpc/api/Api.js"
import * as ServiceErrors from "../../src/rpc/handlers/ServiceErrors.js"
import * as ServerSettings from "../../src/rpc/server/ServerSettings.js"
import * as ExampleHandlers from "./ExampleHandlers.js"

export interface TestServer extends AsyncDisposable {
  readonly port: number
  readonly url: string
  readonly stop: () => Promise<void>
}

const always = () => ({})

/** Nothing is cached, since everything may differ the next time. */
export const changing: Server.Settings["versions"] = {
  ...{ state: always, commit: always, record: always, written: always },
  ...{ figures: always, history: always, proof: always },
}

export const start = async (
  { isMainnet = false, ...settings }: Partial<Server.Settings> & { readonly isMainnet?: boolean } = {},
  handlers: ExampleHandlers.Overrides = {},
): Promise<TestServer> => {
  const scope = Effect.runSync(Scope.make())
  const layer = Server.serve(Api, {
    host: "127.0.0.1",
    port: 0,
    ...ServerSettings.settings({ isMainnet }),
    versions: changing,
    errors: ServiceErrors.failures,
    rateLimits: false,
    trustedProxies: [],
    clientIpHeader: Option.none(),
    ...settings,
  }).pipe(
    Layer.provide(ExampleHandlers.layer(handlers)),
    // Tests look for the bugs they plant in the responses, not in the log.
    Layer.provide(Logger.minimumLogLevel(LogLevel.None)),
  )
  const context = await Effect.runPromise(Layer.buildWithScope(layer, scope))
  const { port } = await Effect.runPromise(Effect.provide(Server.Server, context))
  const stop = () => Effect.runPromise(Scope.close(scope, Exit.void))
  return { port, url: `http://127.0.0.1:${port}`, stop, [Symbol.asyncDispose]: stop }
}

export interface RawAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** The responses received over one connection. Header names are in lower case. */
export const parse = (bytes: Buffer): ReadonlyArray<RawAnswer> => {
  const answers: Array<RawAnswer> = []
  let rest = bytes
  while (rest.length > 0) {
    const end = rest.indexOf("\r\n\r\n")
    if (end < 0) throw new Error(`no end of headers in ${JSON.stringify(rest.toString().slice(0, 300))}`)
    const [first = "", ...lines] = rest.subarray(0, end).toString("latin1").split("\r\n")
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1])
    const headers = new Map(
      lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 2)]),
    )
    const length = Number(headers.get("content-length") ?? 0)
    const body = rest.subarray(end + 4, end + 4 + length)
    if (status !== 100) answers.push({ status, headers, body: body.toString() })
    rest = rest.subarray(end + 4 + length)
  }
  return answers
}

/** Sends the parts in sequence and returns everything received until the connection closes or the predicate holds. */
export const exchange = (
  port: number,
  parts: ReadonlyArray<string | Buffer>,
  options: { readonly pauseMs?: number; readonly isEnough?: (text: string) => boolean } = {},
): Promise<Buffer> =>
  new Promise((resolve) => {
    const received: Array<Buffer> = []
    const socket = connect({ port, host: "127.0.0.1" })
    socket.on("data", (chunk) => {
      received.push(chunk)
      if (options.isEnough?.(Buffer.concat(received).toString()) === true) socket.destroy()
    })
    socket.on("error", () => {})
    socket.on("close", () => resolve(Buffer.concat(received)))
    const send = ([first, ...others]: ReadonlyArray<string | Buffer>): void => {
      if (first === undefined || socket.destroyed) return
      socket.write(first)
      if (others.length > 0) setTimeout(() => send(others), options.pauseMs ?? 5)
    }
    send(parts)
  })

/** One request over its own connection. */
export const ask = async (port: number, ...parts: ReadonlyArray<string | Buffer>): Promise<RawAnswer> => {
  const [answer] = parse(await exchange(port, parts))
  if (answer === undefined) throw new Error("the connection was closed without an answer")
  return answer
}

/** `POST path` with a body, as text. */
export const post = (path: string, body: string, headers = "Content-Type: application/json\r\n"): string =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

export const get = (path: string, headers = ""): string =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${headers}\r\n`
