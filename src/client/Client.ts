/**
 * The client: a method for each endpoint, derived from the same definition as the server, and helpers built on them.
 * Runs in browsers and does not depend on Effect. `Effects.ts` is the variant for programs with Effect.
 */
import type { Endpoint } from "../effect3/http/Outline.js"
import * as Account from "./Account.js"
import { Hash } from "./Brands.js"
import * as Events from "./Events.js"
import * as NodeUrl from "./NodeUrl.js"
import type { Plain } from "./Plain.js"
import * as Shortcuts from "./Shortcuts.js"
import * as Waiting from "./Waiting.js"
import * as Wallet from "./Wallet.js"
import { Acceptance } from "./wire/Acceptance.js"
import * as Calls from "./wire/Calls.js"
import * as Exchange from "./wire/Exchange.js"
import * as Forms from "./wire/Forms.js"
import type { Methods, TransactionInput } from "./wire/Interface.js"
import * as Subject from "./wire/Subject.js"

export * from "./Brands.js"
export * from "./wire/Failures.js"
export type Options = Exchange.Options
export type NumberedEvent = Events.NumberedEvent
export type Wanted = Events.Wanted
export type { Account, Item, Payload, Receipt, SendOptions } from "./Account.js"
export type { Page } from "./Shortcuts.js"
export type { Entry, Outcome, WaitOptions, WatchOptions } from "./Waiting.js"
export type * from "./wire/Interface.js"
export type { Plain }

/**
 * Returned by `connect`. Has shortcuts (`client.balance("@alice")`), accounts that send
 * (`client.account(key).send(…)`), and a method for each endpoint (`client.core.balance({ path: … })`). All methods
 * reject with `RequestRefused`, `InvalidInput`, `Unreachable` or `UnexpectedAnswer`.
 */
export type PromiseClient = Shortcuts.Shortcuts & Methods & Beyond

interface Beyond {
  /**
   * The account of a key. It fills in nonces and fees, signs locally, sends and waits.
   *
   * @example
   * ```ts
   * const { hash } = await client.account(key).send({ to: "@bob", amount: Wallet.sats("12.5") })
   * ```
   */
  readonly account: (key: Wallet.SecretKey | string) => Account.Account
  /** Events until the connection ends. Starts after the event `after` if the node still has it. */
  readonly events: (after?: string, wanted?: Wanted) => AsyncIterable<NumberedEvent>
  /**
   * Events without end: reconnects after a lost connection and continues after the last event. A connection that is
   * silent for longer than `longestSilenceMs` counts as lost.
   *
   * @example
   * ```ts
   * for await (const { event } of client.follow(undefined, { types: ["transaction"], account: "@shop" })) console.log(event)
   * ```
   */
  readonly follow: (after?: string, wanted?: Wanted) => AsyncIterable<NumberedEvent>
  /**
   * Waits until the transaction is applied. Rejects with `NotApplied` if it is not, or not within a minute.
   *
   * @example
   * ```ts
   * const { round } = await client.waitFor(tx_hash)
   * ```
   */
  readonly waitFor: (hash: string, options?: Waiting.WaitOptions) => Promise<Waiting.Outcome>
  /**
   * Sends a signed transaction and waits until it is applied. If an answer was lost, sending it again is safe.
   *
   * @example
   * ```ts
   * const { applied } = await client.sendAndWait(alice.transfer({ to, amount, fee, nonce }))
   * ```
   */
  readonly sendAndWait: (transaction: TransactionInput, options?: Waiting.WaitOptions) => Promise<Waiting.Outcome>
  /**
   * Every transaction that the account sends or receives, once it is final: each exactly once and in order, without
   * end, across lost connections.
   *
   * @example
   * ```ts
   * for await (const { hash, applied } of client.watch("@shop")) console.log(hash, applied)
   * ```
   */
  readonly watch: (account: string, options?: Waiting.WatchOptions) => AsyncIterable<Waiting.Entry>
}

type Call = (given?: Calls.Arguments) => Promise<unknown>

/** Sends a request, and rejects answers that contradict it. */
const methodOf =
  (base: string, endpoint: Endpoint, options: Options, signal: AbortSignal | undefined): Call =>
  async (given = {}) => {
    const answered = await Exchange.ask(Calls.request(base, endpoint, given), options, signal)
    const answer = Calls.answer(endpoint, answered)
    Subject.require(given.path, answer)
    return answer
  }

/** Adds checks to the methods whose answers contain transactions: their hashes must match. */
const checked = (name: string, call: Call, acceptance: Acceptance): Call => {
  switch (name) {
    case "transactions.submit":
      return async (given = {}) => {
        const check = await acceptance.checking(given.payload)
        const answer = await call(given)
        check(answer)
        return answer
      }
    case "transactions.lookup":
      return async (given) => {
        const answer = await call(given)
        await acceptance.requireShown(answer)
        return answer
      }
    default:
      return call
  }
}

const methodsOf = (base: string, options: Options, acceptance: Acceptance, signal?: AbortSignal): Methods => {
  const groups = Object.entries(Forms.endpoints).map(([group, endpoints]) => {
    const methods = Object.entries(endpoints).map(([name, endpoint]) => [
      name,
      checked(`${group}.${name}`, methodOf(base, endpoint, options, signal), acceptance),
    ])
    return [group, Object.fromEntries(methods)]
  })
  // One method for each endpoint of the definition that the type is derived from.
  return Object.fromEntries(groups) as Methods
}

/**
 * Returns a client for the node at this URL, such as `http://127.0.0.1:10333`, or `localhost:10333` for a local node.
 * Opens no connection until the first request. Throws `InvalidInput` for an invalid URL.
 */
export const connect = (url: string, options: Options = {}): PromiseClient => {
  const base = NodeUrl.parse(url)
  const acceptance: Acceptance = new Acceptance(() => methods.core.network(), options.network)
  const methods = methodsOf(base, options, acceptance)
  const node: Waiting.Node = {
    url: base,
    options,
    methods: (signal) => methodsOf(base, options, acceptance, signal),
  }
  const accountOf = Account.over(node)
  return {
    ...methods,
    ...Shortcuts.over(methods),
    account: (key) => accountOf(typeof key === "string" ? Wallet.secretKey(key) : key),
    events: (after, wanted) => Events.once(node, after, wanted),
    follow: (after, wanted) => Events.follow(node, after, wanted),
    waitFor: async (hash, options = {}) => Waiting.waitFor(node, Hash(hash), options),
    sendAndWait: async (payload, options = {}) => {
      const { tx_hash } = await methods.transactions.submit({ payload })
      return Waiting.waitFor(node, tx_hash, options, true)
    },
    watch: (account, options = {}) => Waiting.watch(node, account, options),
  }
}
