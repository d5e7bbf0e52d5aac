/**
 * Decides whether a request is admitted, by host name, page origin, network and rate. A check returns nothing, or the
 * failure that answers the request.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Failure } from "../definition/Failure.js"
import type * as Rules from "../definition/Rules.js"
import { ClientLimit } from "./ClientLimit.js"
import { type PageGuard, refusalOfUnnamed } from "./PageGuard.js"

export interface Options {
  readonly guard: PageGuard
  readonly rateLimits: boolean
  /** The limit over all endpoints together. */
  readonly limit: Rules.Limit
  /** Where process managers check that the server lives. */
  readonly livenessPath: string
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
}

/** The parts of a request that matter for admission. */
export interface Asking {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly method: string
  readonly path: string
  /** Arrival time in whole milliseconds, as limits count. */
  readonly at: number
  client: string
  /** The number of requests it has counted as so far. */
  counted: number
  /** Rate limit headers of the response. */
  headers: ReadonlyArray<string>
}

/** The access rules of an endpoint's definition. */
export interface Gate {
  readonly method: string
  readonly path: string
  readonly limit: Rules.Limit | undefined
  /** The failure that a closed endpoint answers. */
  readonly closed: Failure | undefined
  /** Whether pages of other sites are refused. */
  readonly isGuarded: boolean
}

/** Rate limit refusals after which a connection is closed. */
const REFUSALS_PER_CONNECTION = 16

/** Endpoints with their own limit have fewer clients. */
const CLIENTS_PER_ENDPOINT = 8_192

export class Admission {
  readonly #options: Options
  readonly #all: ClientLimit | undefined
  /** Liveness probes and preflights cost next to nothing and must not fail because of the client's other requests. */
  readonly #spared: ClientLimit | undefined
  /** Rate limit refusals of each connection. */
  readonly #refusals = new WeakMap<Socket, number>()

  constructor(options: Options) {
    this.#options = options
    const { rateLimits, limit } = options
    const global = () => (rateLimits ? new ClientLimit({ policy: "global", what: "in all", limit }) : undefined)
    this.#all = global()
    this.#spared = global()
  }

  /** The refusal that applies on any path. */
  refusalOf(asking: Asking): Failure | undefined {
    const { request, method, path, at } = asking
    const unnamed = refusalOfUnnamed(request) ?? this.#options.guard.refusalOfHost(request)
    if (unnamed !== undefined) return this.#refuseOften(asking, unnamed)
    const isPreflight = method === "OPTIONS"
    const isLiveness = path === this.#options.livenessPath && !isPreflight
    const isSpared = isLiveness || isPreflight
    const refusal = this.#count(asking, isSpared ? this.#spared : this.#all, at, 1)
    // A client at the same address, as behind a proxy, must not make a probe fail. The answer costs no more than a
    // refusal.
    if (refusal === undefined || !isLiveness || this.#refusals.get(request.socket) !== 1) return refusal
    asking.response.shouldKeepAlive = false
    return undefined
  }

  /** The refusal that an endpoint's rules require. */
  gateOf({ method, path, limit, closed, isGuarded }: Gate): (asking: Asking) => Failure | undefined {
    const { guard, rateLimits } = this.#options
    const own =
      rateLimits && limit !== undefined
        ? new ClientLimit({ policy: path, what: `to ${method} ${path}`, limit, capacity: CLIENTS_PER_ENDPOINT })
        : undefined
    return (asking) => {
      if (closed !== undefined) return closed
      if (isGuarded) {
        // Before the limit, so that a page cannot use up the allowance of the machine's users.
        const foreign = guard.refusalOfPage(asking.request)
        if (foreign !== undefined) return foreign
      }
      if (own === undefined) return undefined
      const refusal = own.take(asking.client, asking.at)
      asking.headers = own.headers(asking.client, asking.at)
      return refusal
    }
  }

  /** Charges for a request that turns out to cost this many. */
  refusalOfCost(asking: Asking, requests: number): Failure | undefined {
    const more = requests - asking.counted
    if (more <= 0) return undefined
    const refusal = this.#count(asking, this.#all, Math.floor(this.#options.now()), more)
    if (refusal === undefined) asking.counted = requests
    return refusal
  }

  /** Whether the request comes from another site's page. */
  isForeign({ request }: Pick<Asking, "request">): boolean {
    return this.#options.guard.isForeign(request)
  }

  /** Whether a connection had too many refusals and must end. */
  isEnding(socket: Socket): boolean {
    return (this.#refusals.get(socket) ?? 0) > REFUSALS_PER_CONNECTION
  }

  #count(asking: Asking, limit: ClientLimit | undefined, at: number, requests: number): Failure | undefined {
    const refusal = limit?.take(asking.client, at, requests)
    if (limit === undefined || refusal === undefined) return undefined
    asking.headers = limit.headers(asking.client, asking.at)
    return this.#refuseOften(asking, refusal)
  }

  /**
   * Counts a refusal that a client can cause at will. After some of them the connection ends without reading the
   * requests that were sent ahead: the buffers of one socket hold forty thousand requests, and refusing one costs as
   * much as answering it.
   */
  #refuseOften({ request: { socket }, response }: Asking, failure: Failure): Failure {
    this.#refusals.set(socket, (this.#refusals.get(socket) ?? 0) + 1)
    if (this.isEnding(socket)) response.shouldKeepAlive = false
    return failure
  }
}
