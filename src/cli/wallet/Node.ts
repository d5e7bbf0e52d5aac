/** A command's connection to its node, and its error messages. */
import { Effect, Option, Predicate, Stream } from "effect"
import * as Client from "../../client/Client.js"
import type * as Failure from "../../rpc/api/Failure.js"
import { fail, type Kind, type WalletFailure } from "../keys/WalletFailure.js"

export const DEFAULT_URL = "http://127.0.0.1:10333"

type Question<A> = (client: Client.PromiseClient) => Promise<A>

export interface Node {
  readonly url: string
  readonly ask: <A>(question: Question<A>) => Effect.Effect<A, WalletFailure>
  /** None if the node does not have the requested thing. */
  readonly find: <A>(question: Question<A>) => Effect.Effect<Option.Option<A>, WalletFailure>
  /**
   * For requests that must not be repeated. If the response is lost, the failure is `open` and `hint` says what to do.
   */
  readonly tell: <A>(question: Question<A>, hint: string) => Effect.Effect<A, WalletFailure>
  readonly events: Stream.Stream<Client.NumberedEvent, WalletFailure>
}

/** A node answers within milliseconds. This leaves time for distant nodes and `Retry-After`. */
const PATIENCE = "30 seconds"
const LONGEST_WAIT_MS = 5_000

const isNotFound = (failure: Failure.Failure): boolean => failure._tag.endsWith("NotFound")

const kindOf = (failure: Failure.Failure): Kind => {
  if (isNotFound(failure)) return "notFound"
  return failure._tag === "InternalError" ? "node" : "refused"
}

/** A node states amounts in UDG and sats; the command line uses UDG. */
const inCoins = (message: string): string => message.replaceAll(/(?<= UDG) \(\d+ sats?\)/g, "")

const refusal = (failure: Failure.Failure): WalletFailure =>
  fail(kindOf(failure), `the node refuses (${failure._tag}): ${inCoins(failure.message)}`)

/** The system's error code, from anywhere in the chain of causes. */
const codeOf = (error: unknown): string | undefined => {
  if (!Predicate.isRecord(error)) return undefined
  const { code, cause } = error
  return typeof code === "string" ? code : codeOf(cause)
}

interface Reason {
  readonly words: string
  /** There was no connection, so the request did not arrive. */
  readonly isBefore: boolean
}

const before = (words: string): Reason => ({ words, isBefore: true })
const after = (words: string): Reason => ({ words, isBefore: false })

const reasons: ReadonlyMap<string, Reason> = new Map([
  ["ECONNREFUSED", before("nothing listens there")],
  ["ENOTFOUND", before("there is no such host")],
  ["EAI_AGAIN", before("the host's name cannot be looked up")],
  ["EHOSTUNREACH", before("that host cannot be reached")],
  ["ENETUNREACH", before("that host cannot be reached")],
  ["UND_ERR_CONNECT_TIMEOUT", before("nothing answers there")],
  ["ECONNRESET", after("it closed the connection")],
  ["UND_ERR_SOCKET", after("it closed the connection")],
])

const SILENT = after("it did not answer in time")

/** Why a request failed. */
type Trouble =
  | { readonly _tag: "Refused"; readonly failure: Failure.Failure }
  | { readonly _tag: "Lost"; readonly reason: Reason }
  | { readonly _tag: "Untrue"; readonly reason: Reason }

const lost = (reason: Reason): Trouble => ({ _tag: "Lost", reason })

const troubleOf = (error: unknown): Trouble => {
  if (error instanceof Client.RequestRefused) return { _tag: "Refused", failure: error.failure }
  if (error instanceof Client.FalseAnswer) {
    return { _tag: "Untrue", reason: after(`its answer cannot be true: ${error.reason}`) }
  }
  if (!(error instanceof Client.Unreachable)) {
    return lost(after("it does not answer like a udg node of this version"))
  }
  const code = codeOf(error) ?? "no connection"
  return lost(reasons.get(code) ?? after(code))
}

const complaint = (url: string, trouble: Trouble): WalletFailure => {
  switch (trouble._tag) {
    case "Refused":
      return refusal(trouble.failure)
    case "Untrue":
      return fail("node", `do not trust ${url}: ${trouble.reason.words}; name another node with --node or UDG_NODE`)
    case "Lost":
      return fail(
        "node",
        `no node answers at ${url}: ${trouble.reason.words}; start one, or name another with --node or UDG_NODE`,
      )
  }
}

/** Whether the node could have carried out the request. */
const isOpen = (trouble: Trouble): boolean =>
  trouble._tag === "Refused" ? trouble.failure._tag === "InternalError" : !trouble.reason.isBefore

/** Connects only when something is asked. */
export const connect = (url: string): Node => {
  const client = Client.connect(url, { longestWaitMs: LONGEST_WAIT_MS })
  const put = <A>(question: Question<A>, onTrouble: (trouble: Trouble) => WalletFailure) =>
    Effect.tryPromise({ try: () => question(client), catch: (error) => onTrouble(troubleOf(error)) }).pipe(
      Effect.timeoutFail({ duration: PATIENCE, onTimeout: () => onTrouble(lost(SILENT)) }),
    )
  const ask = <A>(question: Question<A>) => put(question, (trouble) => complaint(url, trouble))
  const open = (trouble: Trouble, hint: string) => {
    const why = trouble._tag === "Refused" ? trouble.failure.message : trouble.reason.words
    return fail("open", `it was sent to ${url}, but may not have arrived: ${why}; ${hint}`)
  }
  return {
    url,
    ask,
    find: (question) =>
      ask(question).pipe(
        Effect.map(Option.some),
        Effect.catchIf(
          ({ kind }) => kind === "notFound",
          () => Effect.succeedNone,
        ),
      ),
    tell: (question, hint) =>
      put(question, (trouble) => (isOpen(trouble) ? open(trouble, hint) : complaint(url, trouble))),
    events: Stream.fromAsyncIterable(client.follow(), (error) => complaint(url, troubleOf(error))),
  }
}
