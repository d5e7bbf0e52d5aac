/**
 * The client: a method for each endpoint of the definition that the server is made from, and what one does with several of
 * them. Runs in browsers, and has nothing of Effect; `Effects.ts` is the same for programs with Effect.
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
 * What `connect` returns: plain calls (`client.balance("@alice")`), accounts that send (`client.account(key).send(…)`), and a method
 * for each endpoint (`client.core.balance({ path: … })`). Everything rejects with `RequestRefused`, `InvalidInput`, `Unreachable` or
 * `UnexpectedAnswer`.
 */
export type PromiseClient = Shortcuts.Shortcuts & Methods & Beyond

interface Beyond {
  /**
   * The account of a key: it fills in nonces and fees, signs here, sends and waits.
   *
   * @example
   * ```ts
   * const { hash } = await client.account(key).send({ to: "@bob", amount: Wallet.sats("12.5") })
   * ```
   */
  readonly account: (key: Wallet.SecretKey | string) => Account.Account
  /** Until the connection ends; starts after the event `after` if the node still has it. */
  readonly events: (after?: string, wanted?: Wanted) => AsyncIterable<NumberedEvent>
  /**
   * Without an end: a lost connection is opened again and continues after the last event. One that is silent for longer than
   * `longestSilenceMs` counts as lost.
   *
   * @example
   * ```ts
   * for await (const { event } of client.follow(undefined, { types: ["transaction"], account: "@shop" })) console.log(event)
   * ```
   */
  readonly follow: (after?: string, wanted?: Wanted) => AsyncIterable<NumberedEvent>
  /**
   * Waits until the transaction is applied; rejects with `NotApplied` if it is not, or not within a minute.
   *
   * @example
   * ```ts
   * const { round } = await client.waitFor(tx_hash)
   * ```
   */
  readonly waitFor: (hash: string, options?: Waiting.WaitOptions) => Promise<Waiting.Outcome>
  /**
   * Sends a signed transaction and waits for it. Sending the same once more, after a lost answer, does no harm.
   *
   * @example
   * ```ts
   * const { applied } = await client.sendAndWait(alice.transfer({ to, amount, fee, nonce }))
   * ```
   */
  readonly sendAndWait: (transaction: TransactionInput, options?: Waiting.WaitOptions) => Promise<Waiting.Outcome>
  /**
   * Every transaction that the account sends or receives, once it is final: each once and in order, without an end, through
   * lost connections.
   *
   * @example
   * ```ts
   * for await (const { hash, applied } of client.watch("@shop")) console.log(hash, applied)
   * ```
   */
  readonly watch: (account: string, options?: Waiting.WatchOptions) => AsyncIterable<Waiting.Entry>
}

type Call = (given?: Calls.Arguments) => Promise<unknown>

/** Asks, and believes nothing that the question itself shows to be untrue. */
const methodOf =
  (base: string, endpoint: Endpoint, options: Options, signal: AbortSignal | undefined): Call =>
  async (given = {}) => {
    const answered = await Exchange.ask(Calls.request(base, endpoint, given), options, signal)
    const answer = Calls.answer(endpoint, answered)
    Subject.require(given.path, answer)
    return answer
  }

/** Where answers name transactions, these are recognised by their hashes. */
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
 * `const client = connect("http://127.0.0.1:10333")` opens no connection until something is asked. For a node on this machine
 * `localhost:10333` is enough. Throws `InvalidInput` for what is no URL.
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
