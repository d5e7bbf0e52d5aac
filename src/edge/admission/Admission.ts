/**
 * Whether a request is admitted: by the name of the host, the page it comes from, the network, and how often the client
 * asks. A check returns nothing, or the failure that answers the request.
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
  /** Over all endpoints together. */
  readonly limit: Rules.Limit
  /** Where process managers ask whether the server lives. */
  readonly livenessPath: string
  /** Milliseconds of a clock that never runs backwards. */
  readonly now: () => number
}

/** A request, as far as it matters here. */
export interface Asking {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly method: string
  readonly path: string
  /** When it arrived, in whole milliseconds, as limits count. */
  readonly at: number
  client: string
  /** How many requests it counts as so far. */
  counted: number
  /** The headers about limits of its answer. */
  headers: ReadonlyArray<string>
}

/** The access rules of an endpoint's definition. */
export interface Gate {
  readonly method: string
  readonly path: string
  readonly limit: Rules.Limit | undefined
  /** What it answers instead of anything else. */
  readonly closed: Failure | undefined
  /** Whether pages of other sites may not use it. */
  readonly isGuarded: boolean
}

/** A connection is closed after this many refusals for asking too often. */
const REFUSALS_PER_CONNECTION = 16

/** Fewer clients use endpoints with a limit of their own. */
const CLIENTS_PER_ENDPOINT = 8_192

export class Admission {
  readonly #options: Options
  readonly #all: ClientLimit | undefined
  /** Liveness probes and preflights cost next to nothing, and must not fail because of what else the client asks. */
  readonly #spared: ClientLimit | undefined
  /** How many refusals for asking too often each connection has had. */
  readonly #refusals = new WeakMap<Socket, number>()

  constructor(options: Options) {
    this.#options = options
    const { rateLimits, limit } = options
    const global = () => (rateLimits ? new ClientLimit({ policy: "global", what: "in all", limit }) : undefined)
    this.#all = global()
    this.#spared = global()
  }

  /** Why a request is refused on any path. */
  refusalOf(asking: Asking): Failure | undefined {
    const { request, method, path, at } = asking
    const unnamed = refusalOfUnnamed(request) ?? this.#options.guard.refusalOfHost(request)
    if (unnamed !== undefined) return this.#refuseOften(asking, unnamed)
    const isPreflight = method === "OPTIONS"
    const isLiveness = path === this.#options.livenessPath && !isPreflight
    const isSpared = isLiveness || isPreflight
    const refusal = this.#count(asking, isSpared ? this.#spared : this.#all, at, 1)
    // Nobody with the same address, as behind a proxy, may make a probe fail. An answer costs no more than a refusal.
    if (refusal === undefined || !isLiveness || this.#refusals.get(request.socket) !== 1) return refusal
    asking.response.shouldKeepAlive = false
    return undefined
  }

  /** Why a request to an endpoint is refused. */
  gateOf({ method, path, limit, closed, isGuarded }: Gate): (asking: Asking) => Failure | undefined {
    const { guard, rateLimits } = this.#options
    const own =
      rateLimits && limit !== undefined
        ? new ClientLimit({ policy: path, what: `to ${method} ${path}`, limit, capacity: CLIENTS_PER_ENDPOINT })
        : undefined
    return (asking) => {
      if (closed !== undefined) return closed
      if (isGuarded) {
        // Before the limit: a page must not be able to use up what the people at this machine may ask for.
        const foreign = guard.refusalOfPage(asking.request)
        if (foreign !== undefined) return foreign
      }
      if (own === undefined) return undefined
      const refusal = own.take(asking.client, asking.at)
      asking.headers = own.headers(asking.client, asking.at)
      return refusal
    }
  }

  /** The refusal of a request that turns out to cost as much as this many, or nothing. */
  refusalOfCost(asking: Asking, requests: number): Failure | undefined {
    const more = requests - asking.counted
    if (more <= 0) return undefined
    const refusal = this.#count(asking, this.#all, Math.floor(this.#options.now()), more)
    if (refusal === undefined) asking.counted = requests
    return refusal
  }

  /** Whether a page asks that is not the server's own. */
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
   * A refusal that a client can cause as often as it likes. After some of them its connection ends, and requests that it has
   * sent ahead are not even read: forty thousand requests fit into the buffers of one socket, and each costs as much as one
   * that is answered.
   */
  #refuseOften({ request: { socket }, response }: Asking, failure: Failure): Failure {
    this.#refusals.set(socket, (this.#refusals.get(socket) ?? 0) + 1)
    if (this.isEnding(socket)) response.shouldKeepAlive = false
    return failure
  }
}
