/** What every response of a server has. */
import { expect } from "vitest"
import type * as Failure from "../../src/rpc/api/Failure.js"
import { example } from "../../src/rpc/api/Field.js"
import * as TestServer from "../rpc/TestServer.js"

export const { ask, get, post } = TestServer

export const everywhere: Readonly<Record<string, string>> = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET, HEAD, POST, OPTIONS",
  "access-control-allow-headers": "Content-Type, Last-Event-ID, Traceparent, Tracestate, Udg-Commit",
  "access-control-expose-headers": "Retry-After, RateLimit, RateLimit-Policy, Allow, Udg-Commit",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
}

export const expectStandardHeaders = ({ headers }: TestServer.RawAnswer): void => {
  for (const [name, value] of Object.entries(everywhere)) expect(headers.get(name), name).toBe(value)
}

/** A refusal with its status, code and headers, and its body for further checks. */
export const expectFailure = (answer: TestServer.RawAnswer, status: number, code: Failure.Code) => {
  const body = JSON.parse(answer.body)
  expect({ status: answer.status, code: body.code }, answer.body).toEqual({ status, code })
  expect(body.error).toMatch(/^\S.*$/)
  expect(answer.headers.get("content-type")).toBe("application/json")
  expect(answer.headers.get("access-control-max-age")).toBeUndefined()
  expectStandardHeaders(answer)
  return body
}

export const stake = JSON.stringify({ secret_key: example.secretKey, amount: 200_000_000_000 })
