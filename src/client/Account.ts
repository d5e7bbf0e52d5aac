/**
 * An account that acts through a node. Each method fills in nonce and fee, signs locally, sends, waits until the
 * transaction is final, and returns a receipt. Any number of calls can run concurrently.
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

/** A finalized transaction that was applied. */
export interface Receipt<T extends Type = Type> {
  readonly hash: Hash
  readonly type: T
  readonly nonce: Nonce
  /** The fee paid, in sats. */
  readonly fee: Sats
  /** The vertex that contains it, and that vertex's round. */
  readonly vertex_hash: Hash
  readonly round: Round
  /** The time of its commit. */
  readonly timestamp: Timestamp
  /** The id of the proposal that it created; null for other types. */
  readonly proposal_id: T extends "CreateProposalTx" ? ProposalId : ProposalId | null
  readonly transaction: Extract<Transaction, { readonly type: T }>
}

export interface SendOptions extends Waiting.WaitOptions {
  /** In sats. Defaults to the current minimum or, while the mempool is full, up to ten times as much. */
  readonly fee?: number
}

/** The fields of a transaction type. Account fields accept `@name`. */
export type Payload<T extends Type> = Wallet.Payloads[T]

/** One transaction of a batch; a transfer if no type is given. */
export type Item =
  | ({ readonly type?: "Transfer"; readonly fee?: number } & Payload<"Transfer">)
  | { [T in Exclude<Type, "Transfer">]: { readonly type: T; readonly fee?: number } & Payload<T> }[Exclude<
      Type,
      "Transfer"
    >]

type Acting<T extends Type> = (payload: Payload<T>, options?: SendOptions) => Promise<Receipt<T>>
type ActingAlone<T extends Type> = (options?: SendOptions) => Promise<Receipt<T>>

/**
 * Returned by `client.account(key)`. Methods reject like all methods of the client, and with `NotApplied` if the
 * transaction is not applied or not final in time.
 */
export interface Account {
  /** In hex, as in nodes' answers. */
  readonly address: Address
  readonly publicKey: PublicKey
  /**
   * The account's current balance, nonce, name and stake.
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
   * Withdraws the whole stake, which is paid out after the cooldown.
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
   * Withdraws the whole delegation and its rewards, which are paid out after the cooldown.
   *
   * @example
   * ```ts
   * await client.account(key).undelegate()
   * ```
   */
  readonly undelegate: ActingAlone<"UndelegateTx">
  /**
   * Sets the percentage of its delegators' rewards that the validator keeps.
   *
   * @example
   * ```ts
   * await client.account(key).setCommission({ commission_percent: 5 })
   * ```
   */
  readonly setCommission: Acting<"SetCommissionTx">
  /**
   * Creates a proposal. The receipt contains its id.
   *
   * @example
   * ```ts
   * const { proposal_id } = await client.account(key).createProposal({ title: "…", description: "…", proposal_type: { Text: {} } })
   * ```
   */
  readonly createProposal: Acting<"CreateProposalTx">
  /**
   * Votes for or against a proposal.
   *
   * @example
   * ```ts
   * await client.account(key).vote({ proposal_id: 1, vote: true })
   * ```
   */
  readonly vote: Acting<"VoteTx">
  /**
   * Registers a name for the account.
   *
   * @example
   * ```ts
   * await client.account(key).registerName({ name: "alice" })
   * ```
   */
  readonly registerName: Acting<"RegisterNameTx">
  /**
   * Makes several keys sign for the account. Its own key no longer signs alone.
   *
   * @example
   * ```ts
   * await client.account(key).setAccountPolicy({ threshold: 2, keys: [first, second, third] })
   * ```
   */
  readonly setAccountPolicy: Acting<"SetAccountPolicyTx">
  readonly rotateKey: Acting<"RotateKeyTx">
  /**
   * Sends several transactions in order. A refused one does not stop the next. Resolves once all are settled, like
   * `Promise.allSettled`.
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

/** Parameters are cached this long: governance changes them rarely. */
const INFO_LASTS_MS = 10_000
const STANDARD_TIMEOUT_MS = 60_000
/** The highest fee paid while the mempool is full, as a multiple of the minimum. */
const MOST_TIMES_LEAST = 10

interface Prepared {
  readonly network: NetworkName
  readonly payload: Readonly<Record<string, unknown>>
  readonly fee: number
  readonly mostFee: number
}

/** Fields of payloads that accept a registered name. */
const ACCOUNTS = ["to", "validator"] as const

/** Shared by all accounts of a client: the network, which must stay the same, and its parameters. */
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
    // A signature for another network could be used there.
    if (network.networkId !== this.#network.networkId) {
      throw new FalseAnswer(200, `the node belongs to ${network.networkId} instead of ${this.#network.networkId}`)
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

/** State per account: its nonces and its event stream. Two for the same key would take each other's nonces. */
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
  if (!isWhole) throw new UnexpectedAnswer(200, "a final transaction has no round, vertex or time")
  if (type === "CreateProposalTx" && proposal_id === null) {
    throw new UnexpectedAnswer(200, "a proposal has no id")
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
    rotateKey: acting("RotateKeyTx"),
    batch: (items, options = {}) =>
      Promise.allSettled(
        items.map(({ type = "Transfer", fee, ...payload }) =>
          mind.act(key, type, payload as Payload<Type>, { ...options, ...(fee === undefined ? {} : { fee }) }),
        ),
      ),
  }
}

/**
 * The accounts of a node's network: each with its key, or with one of the keys of a smart account. Repeated calls for
 * an account share one `Mind`, and thus its nonces.
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
