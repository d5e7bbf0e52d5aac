/** A request, its response and their state. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Asking } from "../admission/Admission.js"
import type { ResponseHeaders } from "./ResponseHeaders.js"

export interface Exchange extends Asking {
  readonly startedAt: number
  /** The client waits for permission to send its body. */
  readonly awaitsContinue: boolean
  readonly query: string
  /** The path as defined, or `none`, for metrics. */
  route: string
}

/** Before limits have been checked. */
export const NO_HEADERS: ResponseHeaders = []

/** Path and query of a request target, which can be a whole URL. */
const splitTarget = (target: string): readonly [path: string, query: string] => {
  const local = target.startsWith("/") ? target : target.replace(/^[a-z]+:\/\/[^/?]*/i, "")
  const mark = local.indexOf("?")
  return mark < 0 ? [local, ""] : [local.slice(0, mark), local.slice(mark + 1)]
}

export const begin = (
  request: IncomingMessage,
  response: ServerResponse,
  startedAt: number,
  awaitsContinue: boolean,
): Exchange => {
  const [path, query] = splitTarget(request.url ?? "/")
  return {
    request,
    response,
    method: request.method ?? "GET",
    client: "unknown",
    startedAt,
    at: Math.floor(startedAt),
    path,
    query,
    awaitsContinue,
    counted: 1,
    route: "none",
    headers: NO_HEADERS,
  }
}
