/**
 * Writes responses: content, refusals and bugs. Whatever goes wrong, each request gets one response and the process
 * lives.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { Cause, Exit, Option } from "effect"
import * as Failure from "../definition/Failure.js"
import type * as Content from "./Content.js"
import { type Exchange, NO_HEADERS } from "./Exchange.js"
import type { Errors } from "./Group.js"
import * as Reply from "./Reply.js"
import * as RequestBody from "./RequestBody.js"
import * as ResponseHeaders from "./ResponseHeaders.js"

/** What metrics learn about a response. `route` is the path as defined, or `none`. */
export interface Answered {
  readonly route: string
  readonly method: string
  readonly status: number
  readonly milliseconds: number
}

/** `content`: the response's, if it was written whole. */
export type OnAnswer = (answered: Answered, exchange: Exchange, content?: Content.Content) => void

export interface Options {
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  /** Translates service errors. */
  readonly errors: Errors
  readonly onAnswer: OnAnswer
  readonly onDefect: (route: string, cause: Cause.Cause<unknown>) => void
  /** Headers of every response that is written whole. */
  readonly stamp?: () => ResponseHeaders.ResponseHeaders
  /** Called for a response that the client did not read at once. */
  readonly onUnread: (response: ServerResponse, client: string) => void
  /** Called for a connection whose client sends an answered request's body in too many pieces. */
  readonly expel: (socket: Socket) => void
}

const stopping = new Failure.ShuttingDown({ message: "the node is stopping" })
export const bug = new Failure.InternalError({ message: "the node failed to answer; its log has the cause" })
/** Made in advance, in case making a response fails. */
const lastWord = Reply.ofFailure(bug)

export class Responder {
  readonly #options: Options
  #isDraining = false

  constructor(options: Options) {
    this.#options = options
  }

  /** From now on all requests are refused, and connections end with the response that is due on them. */
  drain(): void {
    this.#isDraining = true
  }

  get isDraining(): boolean {
    return this.#isDraining
  }

  /** Runs a step of answering and answers for a bug in it. */
  guard(exchange: Exchange, step: (exchange: Exchange) => void, onDefect: () => void = () => {}): void {
    try {
      step(exchange)
    } catch (defect) {
      this.#fail(exchange, Cause.die(defect))
      onDefect()
    }
  }

  /** Responds with a handler's result. */
  complete<A, E>(exchange: Exchange, exit: Exit.Exit<A, E>, onSuccess: (answer: A) => void): void {
    this.guard(exchange, () => {
      if (Exit.isSuccess(exit)) onSuccess(exit.value)
      else this.#fail(exchange, exit.cause)
    })
  }

  write(
    exchange: Exchange,
    status: number,
    content: Content.Content,
    more: ResponseHeaders.ResponseHeaders = NO_HEADERS,
  ): undefined {
    const { response } = exchange
    const { headers, body, encoding } = content
    if (response.destroyed) return
    if (this.#isDraining) response.shouldKeepAlive = false
    const stamp = this.#options.stamp?.() ?? NO_HEADERS
    const isPlain = more === NO_HEADERS && exchange.headers === NO_HEADERS && stamp === NO_HEADERS
    response.writeHead(status, isPlain ? headers : [...headers, ...exchange.headers, ...stamp, ...more])
    response.end(body, encoding)
    if (response.writableLength > 0) this.#options.onUnread(response, exchange.client)
    this.#answered(exchange, status, content)
  }

  /** Writes only the head of a response that lasts until the client leaves. */
  writeHead(exchange: Exchange, status: number, headers: ResponseHeaders.ResponseHeaders): undefined {
    exchange.response.writeHead(status, [...ResponseHeaders.bare, ...headers])
    this.#answered(exchange, status)
  }

  preflight(exchange: Exchange, allowed: ReadonlyArray<string>): undefined {
    const { response } = exchange
    response.writeHead(204, [...ResponseHeaders.bare, ...ResponseHeaders.preflight, "Allow", allowed.join(", ")])
    response.end()
    this.#answered(exchange, 204)
  }

  refuse(exchange: Exchange, failure: Failure.Failure): undefined {
    const { request, response, method } = exchange
    if (response.headersSent || response.destroyed) return
    // The client can send its body or omit it, so the next request could start anywhere.
    if (exchange.awaitsContinue && !request.complete) response.shouldKeepAlive = false
    // Before the response, after which Node.js would read any amount of the body.
    if (RequestBody.isArriving(request)) this.discard(request)
    const { status, headers, content } = Reply.ofFailure(failure)
    this.write(exchange, status, content, method === "OPTIONS" ? [...headers, ...ResponseHeaders.preflight] : headers)
  }

  refuseAndClose(exchange: Exchange, failure: Failure.Failure): undefined {
    exchange.response.shouldKeepAlive = false
    this.refuse(exchange, failure)
  }

  /** Discards this request's body. */
  discard(request: IncomingMessage): void {
    RequestBody.discard(request, () => this.#options.expel(request.socket))
  }

  refuseAsStopping(exchange: Exchange): undefined {
    this.refuse(exchange, stopping)
  }

  #failureOf(exchange: Exchange, cause: Cause.Cause<unknown>): Failure.Failure {
    const failure = Option.flatMap(Cause.failureOption(cause), (error) => Reply.failureOf(error, this.#options.errors))
    if (Option.isSome(failure)) return failure.value
    if (this.#isDraining && Cause.isInterruptedOnly(cause)) return stopping
    this.#options.onDefect(exchange.route, cause)
    return bug
  }

  /** Also if reporting the bug fails: no request is left without an end. */
  #fail(exchange: Exchange, cause: Cause.Cause<unknown>): void {
    const { response } = exchange
    try {
      const failure = this.#failureOf(exchange, cause)
      // A response that was begun and cannot be finished must not look complete.
      if (response.headersSent && !response.writableEnded) response.destroy()
      else this.refuse(exchange, failure)
    } catch (defect) {
      this.#options.onDefect(exchange.route, Cause.die(defect))
      if (response.headersSent) response.destroy()
      else response.writeHead(lastWord.status, lastWord.content.headers).end(lastWord.content.body)
    }
  }

  #answered(exchange: Exchange, status: number, content?: Content.Content): void {
    const { route, method, startedAt } = exchange
    this.#options.onAnswer({ route, method, status, milliseconds: this.#options.now() - startedAt }, exchange, content)
  }
}
