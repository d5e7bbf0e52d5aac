/** One request and its answer over `fetch`, repeated when the node asks to retry later. */

import { UnexpectedAnswer, Unreachable } from "./Failures.js"
import type { NetworkName } from "./NetworkName.js"
import type { Signal } from "./Signal.js"

export interface Options {
  /** Number of retries after a 429 or 503 with `Retry-After`; 3 by default, 0 for none. */
  readonly retries?: number
  /** The longest requested wait that the client accepts before it gives up; 30 seconds by default. */
  readonly longestWaitMs?: number
  /** The time limit for one answer; 30 seconds by default. */
  readonly timeoutMs?: number
  /**
   * The silence after which an event stream counts as lost; 35 seconds by default, since nodes send a heartbeat every
   * 15.
   */
  readonly longestSilenceMs?: number
  /** The network that the node must belong to; requested from the node by default. */
  readonly network?: NetworkName
  /** Sends a request; `fetch` by default. Event streams always use `fetch`. */
  readonly send?: Send
}

export interface Request {
  readonly method: string
  readonly url: string
  readonly body?: string
}

export interface Answer {
  readonly status: number
  readonly text: string
}

export interface Sent extends Answer {
  readonly retryAfter: string | null
}

/** Sends a request once. Rejects if no answer comes in time, or with the signal's reason. */
export type Send = (request: Request, timeoutMs: number, signal?: Signal) => Promise<Sent>

const STANDARD_RETRIES = 3
const STANDARD_LONGEST_WAIT_MS = 30_000
const STANDARD_TIMEOUT_MS = 30_000
const STANDARD_LONGEST_SILENCE_MS = 35_000

/** The longest answer, a page of the DAG, has some megabytes. A malicious server could send without end. */
export const MOST_CHARACTERS = 64 * 1024 * 1024

/** The wait before repeating the request; undefined if it must not be repeated. */
const waitOf = (status: number, retryAfter: string | null): number | undefined => {
  if ((status !== 429 && status !== 503) || retryAfter === null) return undefined
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter) * 1000
  // Proxies may send a date instead.
  const until = Date.parse(retryAfter) - Date.now()
  return Number.isNaN(until) ? undefined : Math.max(0, until)
}

export const sleep = (ms: number, signal?: Signal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop)
      resolve()
    }, ms)
    signal?.addEventListener("abort", stop, { once: true })
  })

const unreachable = (url: string, cause: unknown): Unreachable =>
  new Unreachable(`no answer from ${new URL(url).origin}: ${cause instanceof Error ? cause.message : cause}`, { cause })

/** Limits a wait. */
type InTime = <A>(waiting: Promise<A>) => Promise<A>

/** A body as it arrives. */
async function* pieces({ body }: Response, inTime: InTime = (waiting) => waiting): AsyncGenerator<string> {
  const reader = body?.getReader()
  if (reader === undefined) return
  const decoder = new TextDecoder()
  try {
    for (let piece = await inTime(reader.read()); !piece.done; piece = await inTime(reader.read())) {
      yield decoder.decode(piece.value, { stream: true })
    }
  } finally {
    // A broken connection has nothing to release.
    await reader.cancel().catch(() => {})
  }
}

const textOf = async (response: Response): Promise<string> => {
  let text = ""
  for await (const piece of pieces(response)) {
    text += piece
    if (text.length > MOST_CHARACTERS) {
      throw new UnexpectedAnswer(response.status, `the body has more than ${MOST_CHARACTERS} characters`)
    }
  }
  return text
}

const init = ({ method, body }: Request, headers: Readonly<Record<string, string>>, signal: Signal) =>
  body === undefined
    ? { method, signal, headers }
    : { method, signal, body, headers: { ...headers, "content-type": "application/json" } }

const byFetch: Send = async (request, timeoutMs, signal) => {
  const limit = AbortSignal.timeout(timeoutMs)
  const response = await fetch(
    request.url,
    init(request, {}, signal === undefined ? limit : AbortSignal.any([limit, signal])),
  )
  return {
    status: response.status,
    retryAfter: response.headers.get("retry-after"),
    text: await textOf(response),
  }
}

/** Sends it once; fails with `Unreachable`, `UnexpectedAnswer`, or the signal's reason. */
const once = async (request: Request, { send = byFetch, timeoutMs }: Options, signal: Signal | undefined) => {
  try {
    return await send(request, timeoutMs ?? STANDARD_TIMEOUT_MS, signal)
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    throw error instanceof UnexpectedAnswer ? error : unreachable(request.url, error)
  }
}

/** The node's answer, whatever its status. */
export const ask = async (request: Request, options: Options, signal?: Signal): Promise<Answer> => {
  const { retries = STANDARD_RETRIES, longestWaitMs = STANDARD_LONGEST_WAIT_MS } = options
  for (let left = retries; ; left--) {
    const { status, text, retryAfter } = await once(request, options, signal)
    const wait = waitOf(status, retryAfter)
    if (left <= 0 || wait === undefined || wait > longestWaitMs) return { status, text }
    await sleep(wait, signal)
  }
}

/** Aborts when a read takes longer. Time that the consumer takes does not count. */
const silence = (ms: number): { readonly signal: Signal; readonly inTime: InTime } => {
  const silent = new AbortController()
  return {
    signal: silent.signal,
    inTime: async (waiting) => {
      const timer = setTimeout(() => silent.abort(new Error(`the stream was silent for ${ms} ms`)), ms)
      try {
        return await waiting
      } finally {
        clearTimeout(timer)
      }
    },
  }
}

/**
 * A text that arrives in pieces, until the connection ends or falls silent or the signal aborts. `refuse` handles any
 * other answer.
 */
export async function* stream(
  request: Request,
  headers: Readonly<Record<string, string>>,
  { longestSilenceMs = STANDARD_LONGEST_SILENCE_MS }: Options,
  signal: Signal,
  refuse: (answer: Answer) => never,
  onOpen: () => void,
): AsyncGenerator<string> {
  const silent = silence(longestSilenceMs)
  const ends = AbortSignal.any([signal, silent.signal])
  const response = await silent.inTime(fetch(request.url, init(request, headers, ends))).catch((error: unknown) => {
    throw unreachable(request.url, error)
  })
  if (response.status !== 200) refuse({ status: response.status, text: await silent.inTime(textOf(response)) })
  onOpen()
  try {
    yield* pieces(response, silent.inTime)
  } catch (error) {
    throw unreachable(request.url, error)
  }
}
