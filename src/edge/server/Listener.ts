/**
 * The entry point of requests. One listener serves every endpoint and checks in this order: host, global limit, path
 * and method, testnet gate, origin, the endpoint's limit, content type and size, JSON, schema; then it calls the
 * handler. This is plain code because every request passes it; Effect begins at the handler.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Admission } from "../admission/Admission.js"
import * as Failure from "../definition/Failure.js"
import type { Dispatch, Dispatcher } from "./Dispatcher.js"
import type { Endpoint } from "./Endpoint.js"
import * as Exchange from "./Exchange.js"
import type * as Reply from "./Reply.js"
import * as RequestBody from "./RequestBody.js"
import type { Responder } from "./Responder.js"
import { Router } from "./Router.js"

export interface Options {
  readonly endpoints: ReadonlyArray<Endpoint>
  readonly clientOf: (request: IncomingMessage) => string
  readonly admission: Admission
  readonly dispatcher: Dispatcher
  readonly responder: Responder
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  /** Pages besides the endpoints, such as the explorer. */
  readonly pages: (path: string, request: IncomingMessage) => Reply.Reply | undefined
  /** Called for a connection whose client sent too many requests without reading responses. */
  readonly expel: (socket: Socket) => void
}

/** An endpoint as a route. */
interface Target {
  readonly gate: (exchange: Exchange.Exchange) => Failure.Failure | undefined
  readonly dispatch: Dispatch
}

/** Thousands of empty headers fit into the byte limit, and each costs two strings and a field. */
export const MOST_HEADERS = 128

const tooManyHeaders = new Failure.HeadersTooLarge({ message: `the request has more than ${MOST_HEADERS} headers` })

const PAGE_METHODS = ["GET", "HEAD", "OPTIONS"]

const LONGEST_PATH_SHOWN = 100

/** Also matches a key that lost a character: everything longer than an address. */
const COULD_BE_A_KEY = /[0-9a-f]{41,}/gi

/** The path for error messages: shortened, without a secret key that was put there by mistake. */
const shown = (path: string): string => {
  const text = path.replace(COULD_BE_A_KEY, "…")
  return text.length > LONGEST_PATH_SHOWN ? `${text.slice(0, LONGEST_PATH_SHOWN)}…` : text
}

export class Listener {
  readonly #options: Options
  readonly #router: Router<Target>

  constructor(options: Options) {
    this.#options = options
    const { endpoints, admission, dispatcher } = options
    this.#router = new Router(
      endpoints.map((endpoint) => ({
        method: endpoint.method,
        path: endpoint.path,
        target: { gate: admission.gateOf(endpoint), dispatch: dispatcher.dispatchOf(endpoint) },
      })),
    )
  }

  readonly handle = (request: IncomingMessage, response: ServerResponse, awaitsContinue = false): void => {
    const { admission, responder, now, expel } = this.#options
    // Sent after more refusals than a connection may have, so the client does not read its responses.
    if (response.socket === null && admission.isEnding(request.socket)) {
      expel(request.socket)
      return
    }
    // Endpoints with a body start to read it below.
    if (request.method !== "POST" && RequestBody.isArriving(request)) responder.discard(request)
    responder.guard(Exchange.begin(request, response, now(), awaitsContinue), this.#route)
  }

  readonly #route = (exchange: Exchange.Exchange): undefined => {
    const { request, method, path } = exchange
    const { clientOf, admission, responder } = this.#options
    // The client can be named in one of the dropped headers.
    if (request.rawHeaders.length > 2 * MOST_HEADERS) return responder.refuseAndClose(exchange, tooManyHeaders)
    exchange.client = clientOf(request)
    if (responder.isDraining) return responder.refuseAsStopping(exchange)
    const refusal = admission.refusalOf(exchange)
    if (refusal !== undefined) return responder.refuse(exchange, refusal)
    const match = this.#router.match(path)
    if (match === undefined) return this.#page(exchange)
    const { route, params } = match
    exchange.route = route.path
    if (method === "OPTIONS") return responder.preflight(exchange, route.allowed)
    const target = route.byMethod.get(method === "HEAD" ? "GET" : method)
    if (target === undefined) return this.#refuseMethod(exchange, route.allowed)
    const closed = target.gate(exchange)
    if (closed !== undefined) return responder.refuse(exchange, closed)
    target.dispatch(exchange, params)
  }

  #page(exchange: Exchange.Exchange): undefined {
    const { method, path, request } = exchange
    const { responder, pages } = this.#options
    const page = pages(path, request)
    if (page === undefined) {
      const message = `there is nothing at ${shown(path)}; see GET /docs`
      return responder.refuse(exchange, new Failure.PathNotFound({ message }))
    }
    if (method === "OPTIONS") return responder.preflight(exchange, PAGE_METHODS)
    if (method !== "GET" && method !== "HEAD") return this.#refuseMethod(exchange, PAGE_METHODS)
    responder.write(exchange, page.status, page.content, page.headers)
  }

  #refuseMethod(exchange: Exchange.Exchange, allowed: ReadonlyArray<string>): undefined {
    const message = `${exchange.method} is not possible at ${shown(exchange.path)}, only ${allowed.join(", ")}`
    this.#options.responder.refuse(exchange, new Failure.MethodNotAllowed({ message, allowed }))
  }
}
