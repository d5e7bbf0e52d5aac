/**
 * An account that acts through a node: each method fills in the nonce and the fee, signs here, sends, waits until the transaction
 * is final, and returns a receipt. Any number may be under way at once.
 */
import * as AddressOf from "../protocol/identity/Address.js"
import type {
  Address,
  Hash,
  Nonce,
  ProposalId,
  PublicKey,
  Round,
  Sats,
  SecretKey,
  Timestamp,
} from "../protocol/numbers/Kinds.js"
import * as Brands from "./Brands.js"
import { OutcomeListener } from "./OutcomeListener.js"
import * as Prices from "./Prices.js"
import { type Accepted, type Draft, Sequence } from "./Sequence.js"
import * as Waiting from "./Waiting.js"
import * as Wallet from "./Wallet.js"
import {
  FalseAnswer,
  InvalidInput,
  NotApplied,
  RequestRefused,
  UnexpectedAnswer,
  Unreachable,
} from "./wire/Failures.js"
import * as Forms from "./wire/Forms.js"
import type { Balance, NetworkInfo, Transaction, TransactionLookup } from "./wire/Interface.js"
import type { NetworkName } from "./wire/NetworkName.js"
import type { Signal } from "./wire/Signal.js"

type Type = Wallet.Type

/** What a transaction did, once it is final and applied. */
export interface Receipt<T extends Type = Type> {
  readonly hash: Hash
  readonly type: T
  readonly nonce: Nonce
  /** What was paid for it, in sats. */
  readonly fee: Sats
  /** The vertex that carried it, and the round of that vertex. */
  readonly vertex_hash: Hash
  readonly round: Round
  /** Of its commit. */
  readonly timestamp: Timestamp
  /** The number of the proposal that it made; null for other types. */
  readonly proposal_id: T extends "CreateProposalTx" ? ProposalId : ProposalId | null
  readonly transaction: Extract<Transaction, { readonly type: T }>
}

export interface SendOptions extends Waiting.WaitOptions {
  /** In sats. By default the least that is enough now, and more while the mempool is full, up to ten times as much. */
  readonly fee?: number
}

/** What a transaction of this type says. Where an account is meant, `@name` will do. */
export type Payload<T extends Type> = Wallet.Payloads[T]

/** One of several transactions; a transfer where no type is given. */
export type Item =
  | ({ readonly type?: "Transfer"; readonly fee?: number } & Payload<"Transfer">)
  | { [T in Exclude<Type, "Transfer">]: { readonly type: T; readonly fee?: number } & Payload<T> }[Exclude<
      Type,
      "Transfer"
    >]

type Acting<T extends Type> = (payload: Payload<T>, options?: SendOptions) => Promise<Receipt<T>>
type ActingAlone<T extends Type> = (options?: SendOptions) => Promise<Receipt<T>>

/**
 * What `client.account(key)` returns. Methods reject with `RequestRefused` if the node refuses the transaction, with `NotApplied` if
 * it is not applied or not final in time, and like every method of the client.
 */
export interface Account {
  /** In hex, as nodes answer. */
  readonly address: Address
  readonly publicKey: PublicKey
  /**
   * The account now: balance, nonce, name, stake.
   *
   * @example
   * ```ts
   * const { balance } = await client.account(key).balance()
   * ```
   */
  readonly balance: () => Promise<Balance>
  /**
   * Pays coins, in sats.
   *
   * @example
   * ```ts
   * const receipt = await client.account(key).send({ to: "@bob", amount: Wallet.sats("12.5"), memo: "thanks" })
   * ```
   */
  readonly send: Acting<"Transfer">
  /**
   * Stakes coins, or adds to a stake, to become a validator.
   *
   * @example
   * ```ts
   * await client.account(key).stake({ amount: Wallet.sats("2000") })
   * ```
   */
  readonly stake: Acting<"StakeTx">
  /**
   * Withdraws the whole stake, which comes back after the cooldown.
   *
   * @example
   * ```ts
   * await client.account(key).unstake()
   * ```
   */
  readonly unstake: ActingAlone<"UnstakeTx">
  /**
   * Delegates coins to a validator, or adds to a delegation.
   *
   * @example
   * ```ts
   * await client.account(key).delegate({ validator: "@carol", amount: Wallet.sats("100") })
   * ```
   */
  readonly delegate: Acting<"DelegateTx">
  /**
   * Takes the whole delegation back, with what it earned, after the cooldown.
   *
   * @example
   * ```ts
   * await client.account(key).undelegate()
   * ```
   */
  readonly undelegate: ActingAlone<"UndelegateTx">
  /**
   * Sets how much of the rewards of its delegators a validator keeps.
   *
   * @example
   * ```ts
   * await client.account(key).setCommission({ commission_percent: 5 })
   * ```
   */
  readonly setCommission: Acting<"SetCommissionTx">
  /**
   * Makes a proposal; the receipt has its number.
   *
   * @example
   * ```ts
   * const { proposal_id } = await client.account(key).createProposal({ title: "…", description: "…", proposal_type: { Text: {} } })
   * ```
   */
  readonly createProposal: Acting<"CreateProposalTx">
  /**
   * Votes on a proposal, for it or against it.
   *
   * @example
   * ```ts
   * await client.account(key).vote({ proposal_id: 1, vote: true })
   * ```
   */
  readonly vote: Acting<"VoteTx">
  /**
   * Registers a name, under which others find the account.
   *
   * @example
   * ```ts
   * await client.account(key).registerName({ name: "alice" })
   * ```
   */
  readonly registerName: Acting<"RegisterNameTx">
  /**
   * Lets several keys sign for the account. From then on this key alone does not.
   *
   * @example
   * ```ts
   * await client.account(key).setAccountPolicy({ threshold: 2, keys: [first, second, third] })
   * ```
   */
  readonly setAccountPolicy: Acting<"SetAccountPolicyTx">
  /**
   * Several at once, in their order, each by itself: one that is refused does not hold up the next. Resolves once all are settled,
   * like `Promise.allSettled`.
   *
   * @example
   * ```ts
   * const paid = await client.account(key).batch([{ to: "@bob", amount: 1 }, { type: "VoteTx", proposal_id: 1, vote: true }])
   * ```
   */
  readonly batch: (
    items: ReadonlyArray<Item>,
    options?: Waiting.WaitOptions,
  ) => Promise<ReadonlyArray<PromiseSettledResult<Receipt>>>
}

/** Parameters change by governance, at the end of an epoch. */
const INFO_LASTS_MS = 10_000
const STANDARD_TIMEOUT_MS = 60_000
/** How much more than the least fee is paid while the mempool is full. */
const MOST_TIMES_LEAST = 10

interface Prepared {
  readonly network: NetworkName
  readonly payload: Readonly<Record<string, unknown>>
  readonly fee: number
  readonly mostFee: number
}

/** The accounts that a payload may name by a registered name. */
const ACCOUNTS = ["to", "validator"] as const

/** What all accounts of a client share: the network, which must not become another one, and its parameters. */
class Market {
  readonly #node: Waiting.Node
  #network: NetworkName | undefined
  #info: { readonly at: number; readonly told: Promise<NetworkInfo> } | undefined

  constructor(node: Waiting.Node) {
    this.#node = node
    this.#network = node.options.network
  }

  async network(): Promise<{ readonly network: NetworkName; readonly info: NetworkInfo }> {
    const info = await this.#told()
    const network = Wallet.network(info)
    this.#network ??= network
    // A signature for another network than was meant could be used there.
    if (network.networkId !== this.#network.networkId) {
      throw new FalseAnswer(200, `it is a node of ${network.networkId}, and ${this.#network.networkId} was asked for`)
    }
    return { network: this.#network, info }
  }

  #told(): Promise<NetworkInfo> {
    const now = performance.now()
    if (this.#info === undefined || now - this.#info.at > INFO_LASTS_MS) {
      const told = this.#node.methods().core.network()
      this.#info = { at: now, told }
      told.catch(() => {
        if (this.#info?.told === told) this.#info = undefined
      })
    }
    return this.#info.told
  }
}

/** One of an account's own mind: its nonces, and what it listens to. Two for the same key would take each other's nonces. */
class Mind {
  readonly #node: Waiting.Node
  readonly #market: Market
  readonly #sequence: Sequence
  readonly #outcomes: OutcomeListener
  #underWay = 0
  readonly address: Address

  constructor(node: Waiting.Node, market: Market, address: Address) {
    this.#node = node
    this.#market = market
    this.address = address
    this.#outcomes = new OutcomeListener(node, address)
    this.#sequence = new Sequence({
      nextNonce: async (signal) => (await this.balance(signal)).next_nonce,
      submit: async (payload, signal) => (await node.methods(signal).transactions.submit({ payload })).tx_hash,
      knows: async (hash, signal) => {
        try {
          await node.methods(signal).transactions.lookup({ path: { hash } })
          return true
        } catch (error) {
          if (error instanceof RequestRefused && error.code === "TransactionNotFound") return false
          throw error
        }
      },
    })
  }

  balance(signal?: Signal): Promise<Balance> {
    return this.#node.methods(signal).core.balance({ path: { address: this.address } })
  }

  /** Sends a transaction with this key and waits for it. */
  async act<T extends Type>(key: SecretKey, type: T, given: Payload<T>, options: SendOptions): Promise<Receipt<T>> {
    const { timeoutMs = STANDARD_TIMEOUT_MS, signal: until } = options
    const limit = AbortSignal.timeout(timeoutMs)
    const signal = until === undefined ? limit : AbortSignal.any([limit, until])
    const from = this.address
    const drafted = this.#prepared(type, given, options, signal).then(({ network, payload, ...fees }): Draft => {
      const sign = (nonce: number, fee: number) => {
        const unsigned = Wallet.parseUnsigned(network, { ...payload, type, from, nonce, fee })
        const isOwn = AddressOf.fromPublicKey(key.publicKey) === from
        const transaction = isOwn
          ? Wallet.sign(unsigned, key)
          : Wallet.combine(unsigned, [Wallet.cosign(unsigned, key)])
        return { transaction, hash: Wallet.hashOf(unsigned) }
      }
      return { ...fees, sign }
    })
    this.#underWay++
    const receipt = this.#outcomes.during(async () => {
      const accepted = await this.#sequence.send(drafted, signal).catch((error: unknown) => {
        throw error === limit.reason ? new Unreachable(`not sent within ${timeoutMs} ms`, { cause: error }) : error
      })
      return receiptOf(type, accepted, await this.#settled(accepted, options))
    })
    return receipt.finally(() => {
      if (--this.#underWay === 0) this.#sequence.pause()
    })
  }

  async #settled({ hash }: Accepted, options: Waiting.WaitOptions): Promise<TransactionLookup> {
    try {
      return await Waiting.waitFor(this.#node, hash, options, true, this.#outcomes)
    } catch (error) {
      // Its nonce may be free again.
      if (error instanceof NotApplied && error.code !== "Failed") this.#sequence.forget()
      throw error
    }
  }

  async #prepared<T extends Type>(type: T, given: Payload<T>, options: SendOptions, signal: Signal): Promise<Prepared> {
    const { network, info } = await this.#market.network()
    const payload: Record<string, unknown> = { ...given }
    let recipient: Prices.Recipient | undefined
    for (const field of ACCOUNTS) {
      const named = payload[field]
      if (typeof named !== "string" || (type !== "Transfer" && !named.startsWith("@"))) continue
      const account = await this.#node.methods(signal).core.balance({ path: { address: named } })
      payload[field] = account.address
      if (type === "Transfer") recipient = account
    }
    if (options.fee !== undefined) return { network, payload, fee: options.fee, mostFee: options.fee }
    const fee = Prices.asked(type, info.parameters, recipient)
    if (Prices.isDear(type, fee, Forms.usualPrices, recipient)) {
      throw new InvalidInput(`the node asks for a fee of ${fee} sats, far more than usual; to pay it, pass it as fee`)
    }
    return { network, payload, fee, mostFee: MOST_TIMES_LEAST * Math.max(fee, info.parameters.min_fee_sats) }
  }
}

const isOf = <T extends Type>(
  transaction: Transaction,
  type: T,
): transaction is Extract<Transaction, { readonly type: T }> => transaction.type === type

const receiptOf = <T extends Type>(type: T, { hash, nonce, fee }: Accepted, outcome: TransactionLookup): Receipt<T> => {
  const { round, vertex_hash, timestamp, transaction, proposal_id } = outcome
  const isWhole = round !== null && vertex_hash !== null && timestamp !== null && isOf(transaction, type)
  if (!isWhole) throw new UnexpectedAnswer(200, "a final transaction without its round, vertex or time")
  if (type === "CreateProposalTx" && proposal_id === null) {
    throw new UnexpectedAnswer(200, "a proposal without its number")
  }
  return {
    hash,
    type,
    nonce: Brands.Nonce(nonce),
    fee: Brands.Sats(fee),
    vertex_hash,
    round,
    timestamp,
    proposal_id: proposal_id as Receipt<T>["proposal_id"],
    transaction,
  }
}

/** The account of a mind, for which the key signs. */
const make = (mind: Mind, key: SecretKey): Account => {
  const acting =
    <T extends Type>(type: T): Acting<T> =>
    (payload, options = {}) =>
      mind.act(key, type, payload, options)
  return {
    address: mind.address,
    publicKey: key.publicKey,
    balance: () => mind.balance(),
    send: acting("Transfer"),
    stake: acting("StakeTx"),
    unstake: (options) => acting("UnstakeTx")({}, options),
    delegate: acting("DelegateTx"),
    undelegate: (options) => acting("UndelegateTx")({}, options),
    setCommission: acting("SetCommissionTx"),
    createProposal: acting("CreateProposalTx"),
    vote: acting("VoteTx"),
    registerName: acting("RegisterNameTx"),
    setAccountPolicy: acting("SetAccountPolicyTx"),
    batch: (items, options = {}) =>
      Promise.allSettled(
        items.map(({ type = "Transfer", fee, ...payload }) =>
          mind.act(key, type, payload as Payload<Type>, { ...options, ...(fee === undefined ? {} : { fee }) }),
        ),
      ),
  }
}

/**
 * The accounts of a node's network: each with its key, or with one that signs as one of several. One mind for each, however often
 * it is asked for: all share its nonces.
 */
export const over = (node: Waiting.Node) => {
  const market = new Market(node)
  const minds = new Map<string, Mind>()
  return (key: SecretKey, address = AddressOf.fromPublicKey(key.publicKey)): Account => {
    const mind = minds.get(address) ?? new Mind(node, market, address)
    minds.set(address, mind)
    return make(mind, key)
  }
}
