/** Waits for finality, using the event stream and polling when the node offers none. */
import type { Hash } from "../protocol/numbers/Kinds.js"
import * as Events from "./Events.js"
import * as Abortable from "./wire/Abortable.js"
import { FalseAnswer, NotApplied, RequestRefused, UnexpectedAnswer, Unreachable } from "./wire/Failures.js"
import type { Methods, TransactionHistory, TransactionLookup } from "./wire/Interface.js"
import { PollTimer } from "./wire/PollTimer.js"
import type { Signal } from "./wire/Signal.js"

/** A transaction and its status on a node. */
export type Outcome = TransactionLookup

type History = TransactionHistory

/** A transaction in the history of an account. */
export type Entry = History["transactions"][number]

export interface WaitOptions {
  /** A minute by default. */
  readonly timeoutMs?: number
  /** Ends the wait, which then rejects with the signal's reason. */
  readonly signal?: Signal
}

export interface WatchOptions {
  /** Starts after this transaction. By default, starts with transactions that become final from now on. */
  readonly after?: string
  /** Ends the iteration, which then rejects with the signal's reason. */
  readonly signal?: Signal
}

/** A node, and its methods with a signal that aborts their requests. */
export interface Node extends Events.Source {
  readonly methods: (signal?: Signal) => Methods
}

const STANDARD_TIMEOUT_MS = 60_000

/** Polls even while events arrive: no event reports an expired transaction, and any event can be missed. */
const POLL_MS = { heard: 5_000, unheard: 500 }

const PASSING: ReadonlySet<string> = new Set(["RateLimited", "NotReady", "Overloaded", "ShuttingDown", "InternalError"])

/** The node may be unreachable or busy for a moment. */
const mayPass = (error: unknown): boolean =>
  error instanceof Unreachable ||
  (error instanceof UnexpectedAnswer && !(error instanceof FalseAnswer)) ||
  (error instanceof RequestRefused && PASSING.has(error.code))

/** Turns temporary failures into undefined, so that the caller asks again. */
const orNothing = async <A>(answer: Promise<A>): Promise<A | undefined> => {
  try {
    return await answer
  } catch (error) {
    if (mayPass(error)) return undefined
    throw error
  }
}

const lost = (hash: Hash, wasKnown: boolean, error: unknown, last: Outcome | undefined): unknown => {
  if (!(error instanceof RequestRefused) || error.failure._tag !== "TransactionNotFound") return error
  const { reason, vertex_hash } = error.failure
  if (vertex_hash !== undefined) {
    return new NotApplied("NoEffect", hash, `${hash} is final but had no effect: ${reason ?? "no reason given"}`, last)
  }
  return wasKnown
    ? new NotApplied("Expired", hash, `${hash} is no longer pending: it was replaced, displaced or too old`, last)
    : new NotApplied("NotFound", hash, `the node does not know ${hash}`)
}

/** An existing listener that wakes callers waiting for this transaction. */
export interface Hearing {
  readonly wait: (hash: Hash, signal: Signal) => Promise<void>
}

const settle = async (
  node: Node,
  hash: Hash,
  isSent: boolean,
  signal: Signal,
  hearing: Hearing | undefined,
): Promise<Outcome> => {
  const { transactions } = node.methods(signal)
  const timer = new PollTimer(POLL_MS)
  let last: Outcome | undefined
  for (;;) {
    if (hearing !== undefined) await hearing.wait(hash, signal)
    const outcome = await orNothing(transactions.lookup({ path: { hash } })).catch((error: unknown) => {
      throw lost(hash, isSent || last !== undefined, error, last)
    })
    if (outcome?.status === "finalized") return outcome
    if (outcome !== undefined && last === undefined && hearing === undefined) {
      // Listens to the sender's events, which are few. Only the node's answer tells the sender.
      Events.listen(node, { types: ["transaction"], account: outcome.transaction.from }, timer, signal)
    }
    last = outcome ?? last
    if (hearing === undefined) await timer.wait(signal)
  }
}

/** Waits until a transaction is applied. Rejects with `NotApplied` if it is not, or not in time. */
export const waitFor = async (
  node: Node,
  hash: Hash,
  options: WaitOptions,
  isSent = false,
  hearing?: Hearing,
): Promise<Outcome> => {
  const { timeoutMs = STANDARD_TIMEOUT_MS, signal } = options
  const limit = AbortSignal.timeout(timeoutMs)
  const done = new AbortController()
  try {
    const ends = AbortSignal.any([limit, done.signal, ...(signal === undefined ? [] : [signal])])
    const outcome = await settle(node, hash, isSent, ends, hearing)
    if (outcome.applied === true) return outcome
    const reason = `${hash} is final, but only its fee was taken: ${outcome.failure ?? "no reason given"}`
    throw new NotApplied("Failed", hash, reason, outcome)
  } catch (error) {
    signal?.throwIfAborted()
    if (limit.aborted)
      throw new NotApplied("Deadline", hash, `${hash} is not final after ${timeoutMs} ms; it may still become final`)
    throw error
  } finally {
    done.abort()
  }
}

/** Where watching starts: newer entries of the history are new. */
interface Mark {
  readonly hash: Hash
  readonly round: number
}

const markOf = ({ hash, round }: Pick<Outcome, "hash" | "round">): Mark => ({ hash, round: round ?? 0 })

async function* pages({ transactions }: Methods, address: string): AsyncGenerator<History["transactions"]> {
  let cursor: string | null = null
  do {
    const urlParams: { readonly limit: number; readonly cursor?: string } =
      cursor === null ? { limit: 100 } : { limit: 100, cursor }
    const page: History = await transactions.history({ path: { address }, urlParams })
    yield page.transactions
    cursor = page.next_cursor
  } while (cursor !== null)
}

/** The latest final transaction, if any. */
const latest = async (methods: Methods, address: string): Promise<Mark | undefined> => {
  for await (const page of pages(methods, address)) {
    const found = page.find(({ status }) => status === "finalized")
    if (found !== undefined) return markOf(found)
  }
  return undefined
}

/**
 * Transactions that became final after the mark, oldest first. The mark itself may be pruned; older ones are not new.
 */
const since = async (methods: Methods, address: string, mark: Mark | undefined): Promise<ReadonlyArray<Entry>> => {
  const found: Array<Entry> = []
  for await (const page of pages(methods, address)) {
    for (const entry of page) {
      if (entry.status !== "finalized") continue
      if (mark !== undefined && (entry.hash === mark.hash || markOf(entry).round < mark.round)) return found.reverse()
      found.push(entry)
    }
  }
  return found.reverse()
}

async function* watching(node: Node, account: string, { after }: WatchOptions, signal: Signal) {
  const methods = node.methods(signal)
  let mark =
    after === undefined
      ? await latest(methods, account)
      : markOf(await methods.transactions.lookup({ path: { hash: after } }))
  const timer = new PollTimer(POLL_MS)
  Events.listen(node, { types: ["transaction"], account }, timer, signal)
  for (;;) {
    for (const entry of (await orNothing(since(methods, account, mark))) ?? []) {
      mark = markOf(entry)
      yield entry
    }
    await timer.wait(signal)
  }
}

/** Every transaction that the account sends or receives, once it is final: each exactly once, in order, without end. */
export const watch = (node: Node, account: string, options: WatchOptions): AsyncIterable<Entry> =>
  Abortable.iterable((signal) => watching(node, account, options, signal), options.signal)
