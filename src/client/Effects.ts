/**
 * The client for programs with Effect. Each method is an Effect that fails with the node's refusal, distinguished by
 * `_tag`, or with an error of the client. A separate entry point, because it needs Effect at run time.
 */
import { Effect, Stream } from "effect"
import {
  connect,
  type Entry,
  InvalidInput,
  NotApplied,
  type NumberedEvent,
  type Options,
  type Outcome,
  type PromiseClient,
  RequestRefused,
  UnexpectedAnswer,
  Unreachable,
  type Wanted,
  type WatchOptions,
} from "./Client.js"
import type { Methods, Trouble } from "./Methods.js"
import * as Forms from "./wire/Forms.js"

export type { Trouble }

export type EffectClient = Methods<"effect"> & {
  /** Events until the connection ends. Starts after the event `after` if the node still has it. */
  readonly events: (after?: string, wanted?: Wanted) => Stream.Stream<NumberedEvent, Trouble>
  /** Events without end: reconnects after a lost connection and continues after the last event. */
  readonly follow: (after?: string, wanted?: Wanted) => Stream.Stream<NumberedEvent, Trouble>
  /** Waits until the transaction is applied. */
  readonly waitFor: (hash: string, timeoutMs?: number) => Effect.Effect<Outcome, Trouble | NotApplied>
  /** Every transaction that the account sends or receives, once it is final. */
  readonly watch: (account: string, options?: WatchOptions) => Stream.Stream<Entry, Trouble>
}

/** An error of the client; anything else is a bug. */
const troubleOf = (error: unknown): Trouble => {
  if (error instanceof RequestRefused) return error.failure
  if (error instanceof InvalidInput || error instanceof UnexpectedAnswer || error instanceof Unreachable) return error
  throw error
}

type Untyped = Readonly<Record<string, (request?: object) => Promise<unknown>>>

const effectsOf = (methods: unknown): object =>
  Object.fromEntries(
    Object.entries(methods as Untyped).map(([name, method]) => [
      name,
      (request?: object) => Effect.tryPromise({ try: () => method(request), catch: troubleOf }),
    ]),
  )

const streamOf = <A>(values: AsyncIterable<A>) => Stream.fromAsyncIterable(values, troubleOf)

/** The client as Effects: `client.core.status()`, `client.transactions.submit({ payload })`, by group and endpoint. */
export const make = (url: string, options: Options = {}): Effect.Effect<EffectClient> =>
  Effect.sync(() => {
    const client: PromiseClient = connect(url, options)
    const { events, follow, waitFor, watch } = client
    const groups: Readonly<Record<string, unknown>> = { ...client }
    const effects = Object.keys(Forms.endpoints).map((group) => [group, effectsOf(groups[group])])
    return {
      // The same methods under the same names, each as an Effect.
      ...(Object.fromEntries(effects) as Methods<"effect">),
      events: (after, wanted) => streamOf(events(after, wanted)),
      follow: (after, wanted) => streamOf(follow(after, wanted)),
      waitFor: (hash, timeoutMs) =>
        Effect.tryPromise({
          try: (signal) => waitFor(hash, timeoutMs === undefined ? { signal } : { signal, timeoutMs }),
          catch: (error) => (error instanceof NotApplied ? error : troubleOf(error)),
        }),
      watch: (account, options) => streamOf(watch(account, options)),
    }
  })
