/** A rate limit for each client, on all endpoints or on one, with the refusal and headers for it. */
import * as Words from "../../protocol/numbers/Words.js"
import * as Failure from "../definition/Failure.js"
import type * as Rules from "../definition/Rules.js"
import { RateLimiter } from "./RateLimiter.js"

export interface Options {
  /** The policy's name in response headers. */
  readonly policy: string
  /** The requests' description, after "more than N requests". */
  readonly what: string
  readonly limit: Rules.Limit
  /** How many clients are remembered. */
  readonly capacity?: number
}

const seconds = (ms: number): number => Math.ceil(ms / 1000)

export class ClientLimit {
  readonly #options: Options
  readonly #limiter: RateLimiter

  constructor(options: Options) {
    this.#options = options
    const { limit, capacity } = options
    this.#limiter = new RateLimiter({
      requests: limit.requests,
      windowMs: limit.windowSeconds * 1000,
      ...(capacity === undefined ? {} : { capacity }),
    })
  }

  /** Counts `count` requests at a time in whole milliseconds; or returns a refusal and counts none. */
  take(client: string, at: number, count = 1): Failure.RateLimited | undefined {
    const waitMs = this.#limiter.take(client, at, count)
    return waitMs > 0 ? this.#refusal(seconds(waitMs)) : undefined
  }

  /** Headers of draft-ietf-httpapi-ratelimit-headers: the policy and the remaining allowance. */
  headers(client: string, at: number): ReadonlyArray<string> {
    const { policy, limit } = this.#options
    const { remaining, resetMs } = this.#limiter.allowance(client, at)
    return [
      "RateLimit-Policy",
      `"${policy}";q=${limit.requests};w=${limit.windowSeconds}`,
      "RateLimit",
      `"${policy}";r=${remaining};t=${seconds(resetMs)}`,
    ]
  }

  #refusal(wait: number): Failure.RateLimited {
    const { what, limit } = this.#options
    const { requests, windowSeconds, hint } = limit
    const advice = hint === undefined ? "" : ` (${hint})`
    return new Failure.RateLimited({
      message: `more than ${Words.counted(requests, "request")} ${what} within ${windowSeconds} s; ask again in ${wait} s${advice}`,
      limit: requests,
      window_seconds: windowSeconds,
      retry_after_seconds: wait,
    })
  }
}
