/**
 * Sends requests to a node with bounds on the answer's bytes, counted as they arrive, and on the total time. Does not
 * follow redirects.
 */
import { Effect, Predicate } from "effect"
import * as Bytes from "../protocol/encoding/Bytes.js"
import { Declined, type Refusal, Silent, TooLong, Unreachable } from "./checks/Refusal.js"

/** `fetch` as in browsers and Node. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface Question {
  readonly path: string
  readonly limit: number
}

export interface Reading {
  readonly fetch: Fetch
  readonly answerWithinMs: number
}

/** The system's error code, which a failed connection carries somewhere inside. */
const codeOf = (error: unknown): string | undefined => {
  if (!Predicate.isRecord(error)) return undefined
  const { code, cause } = error
  return typeof code === "string" ? code : codeOf(cause)
}

const unreachable = (error: unknown) => new Unreachable({ reason: codeOf(error) ?? "no connection" })

/** Undefined if there are more than `limit` bytes. */
const bytesOf = async (body: ReadableStream<Uint8Array>, limit: number): Promise<Uint8Array | undefined> => {
  const reader = body.getReader()
  const pieces: Array<Uint8Array> = []
  let length = 0
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    length += next.value.length
    if (length > limit) {
      await reader.cancel()
      return undefined
    }
    pieces.push(next.value)
  }
  return Bytes.joined(pieces, length)
}

const INIT = {
  redirect: "error",
  credentials: "omit",
  cache: "no-store",
  headers: { accept: "application/json" },
} as const

export const read = (
  { fetch, answerWithinMs }: Reading,
  node: string,
  { path, limit }: Question,
): Effect.Effect<Uint8Array, Refusal> =>
  Effect.gen(function* () {
    const abort = yield* Effect.acquireRelease(
      Effect.sync(() => new AbortController()),
      // Whatever the reason, nobody needs the rest of the answer.
      (controller) => Effect.sync(() => controller.abort()),
    )
    const { signal } = abort
    const response = yield* Effect.tryPromise({
      try: () => fetch(`${node}${path}`, { ...INIT, signal }),
      catch: unreachable,
    })
    const { status, body } = response
    if (status !== 200) return yield* new Declined({ asked: path, status })
    if (Number(response.headers.get("content-length") ?? 0) > limit) return yield* new TooLong({ asked: path, limit })
    if (body === null) return new Uint8Array()
    const bytes = yield* Effect.tryPromise({ try: () => bytesOf(body, limit), catch: unreachable })
    return bytes ?? (yield* new TooLong({ asked: path, limit }))
  }).pipe(
    Effect.scoped,
    Effect.timeoutFail({
      duration: answerWithinMs,
      onTimeout: () => new Silent({ waitedMs: answerWithinMs }),
    }),
  )
