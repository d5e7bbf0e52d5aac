/**
 * Asks a node, with a bound on everything: the bytes of an answer, counted as they come, and the time until its end. A node
 * that sends a client elsewhere is not followed.
 */
import { Effect, Predicate } from "effect"
import * as Bytes from "../protocol/encoding/Bytes.js"
import { Declined, type Refusal, Silent, TooLong, Unreachable } from "./checks/Refusal.js"

/** As every browser and Node have it. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface Question {
  readonly path: string
  /** The most bytes that an answer can have. */
  readonly limit: number
}

export interface Reading {
  readonly fetch: Fetch
  readonly answerWithinMs: number
}

/** The code of the system that a failed connection carries somewhere inside. */
const codeOf = (error: unknown): string | undefined => {
  if (!Predicate.isRecord(error)) return undefined
  const { code, cause } = error
  return typeof code === "string" ? code : codeOf(cause)
}

const unreachable = (error: unknown) => new Unreachable({ reason: codeOf(error) ?? "no connection" })

/** None as soon as there are more than `limit`. */
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

/** The body of the node's answer. */
export const read = (
  { fetch, answerWithinMs }: Reading,
  node: string,
  { path, limit }: Question,
): Effect.Effect<Uint8Array, Refusal> =>
  Effect.gen(function* () {
    const abort = yield* Effect.acquireRelease(
      Effect.sync(() => new AbortController()),
      // What is still on its way is of no use to anybody, whatever the reason.
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
