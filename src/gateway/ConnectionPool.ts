/**
 * Requests to nodes over persistent connections. `fetch` would take four times the processor time, and a gateway asks a
 * node for every balance it answers.
 */
import * as Http from "node:http"
import * as Https from "node:https"
import { Effect, type Scope } from "effect"
import { MOST_CHARACTERS, type Send } from "../client/wire/Exchange.js"

/** Per node; later requests wait for one of them. */
const CONNECTIONS = 64
/** A node keeps an idle connection for fifteen seconds. Closing it first prevents sending into a closing connection. */
const IDLE_MS = 5_000

const collected = (response: Http.IncomingMessage, done: (text: string) => void, failed: (error: Error) => void) => {
  let text = ""
  response
    .setEncoding("utf8")
    .on("data", (piece: string) => {
      text += piece
      if (text.length > MOST_CHARACTERS) response.destroy(new Error(`more than ${MOST_CHARACTERS} characters`))
    })
    .on("end", () => done(text))
    .on("error", failed)
}

/** The connections close with the scope. */
export const make: Effect.Effect<Send, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const options = { keepAlive: true, maxSockets: CONNECTIONS, timeout: IDLE_MS }
      return { plain: new Http.Agent(options), secure: new Https.Agent(options) }
    }),
    ({ plain, secure }) =>
      Effect.sync(() => {
        plain.destroy()
        secure.destroy()
      }),
  ),
  ({ plain, secure }): Send =>
    ({ method, url, body }, timeoutMs, signal) =>
      new Promise((resolve, reject) => {
        const isSecure = url.startsWith("https:")
        const headers = body === undefined ? {} : { "content-type": "application/json" }
        const options = { method, headers, agent: isSecure ? secure : plain, ...(signal && { signal }) }
        const request = (isSecure ? Https : Http).request(url, options, (response) => {
          const { statusCode: status = 0, headers } = response
          const retryAfter = headers["retry-after"] ?? null
          collected(response, (text) => resolve({ status, retryAfter, text }), reject)
        })
        const late = setTimeout(() => request.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
        request.on("error", reject).on("close", () => clearTimeout(late))
        request.end(body)
      }),
)
