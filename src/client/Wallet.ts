/**
 * A wallet without a node: keys, addresses, and transactions of every type, built and signed where the key is. Runs in
 * browsers. Pass it the network, the nonce and the fee:
 *
 *     const info = await client.core.network()
 *     const network = Wallet.network(info)
 *     const alice = Wallet.account(network, Wallet.generate())
 *     const { next_nonce: nonce } = await client.core.balance({ path: { address: alice.addressBech32 } })
 *     const fee = Wallet.fee(info, "Transfer", await client.core.balance({ path: { address: to } }))
 *     await client.transactions.submit({ payload: alice.transfer({ to, amount: Wallet.sats("12.5"), fee, nonce }) })
 */
import { Either, Option } from "effect"
import * as JsonProblem from "../protocol/encoding/JsonProblem.js"
import * as Address from "../protocol/identity/Address.js"
import * as Keys from "../protocol/identity/Keys.js"
import * as Network from "../protocol/identity/Network.js"
import type * as Kinds from "../protocol/numbers/Kinds.js"
import * as Sats from "../protocol/numbers/Sats.js"
import * as JsonForm from "../protocol/transaction/JsonForm.js"
import * as Transaction from "../protocol/transaction/Transaction.js"
import * as KeyFile from "./KeyFile.js"
import * as Prices from "./Prices.js"
import * as Calls from "./wire/Calls.js"
import { InvalidInput } from "./wire/Failures.js"
import * as Forms from "./wire/Forms.js"
import type { Transaction as SignedTransaction, TransactionInput } from "./wire/Interface.js"
import type { NetworkName } from "./wire/NetworkName.js"

export type { SignedTransaction }
export { InvalidInput }
/** A secret key, as an object that never prints. `toSecretHex` gives its 64 hex characters. */
export type SecretKey = Kinds.SecretKey
/** What a proposal would do. */
export type ProposalType = Extract<SignedTransaction, { readonly type: "CreateProposalTx" }>["proposal_type"]

const refuse = (message: string): never => {
  throw new InvalidInput(message)
}

const orRefuse = <A>(result: Either.Either<A, JsonProblem.JsonProblem>): A =>
  Either.getOrElse(result, (problem) => refuse(JsonProblem.message(problem)))

/** The network that transactions are for: they are invalid on any other. */
export type WalletNetwork = NetworkName

/** Keys of ours alone sign; a key may come from another copy of this module. */
const ownKey = (key: SecretKey): Keys.SecretKey =>
  key instanceof Keys.SecretKey
    ? key
    : Option.getOrElse(Keys.SecretKey.fromHex(key.toSecretHex()), () => refuse("a secret key has 64 hex characters"))

/** From what `GET /network` answers. */
export const network = (info: {
  readonly network_id: string
  readonly address_prefix: Kinds.AddressPrefix
}): WalletNetwork =>
  Network.isNetworkId(info.network_id)
    ? { networkId: info.network_id, prefix: info.address_prefix }
    : refuse(`network_id: "${info.network_id}" is not the name of a network`)

/**
 * The least fee that is enough now, in sats, from what `GET /network` answers. The first transfer to an account costs more: pass
 * what `GET /balance/:address` answers about the recipient.
 */
export const fee = (info: { readonly parameters: Prices.Prices }, type: Type, recipient?: Prices.Recipient): number =>
  Prices.asked(type, info.parameters, recipient)

/** A new random key. */
export const generate = (): SecretKey => Keys.SecretKey.generate()

/** The key with these 64 hex characters. */
export const secretKey = (hex: string): SecretKey =>
  Option.getOrElse(Keys.SecretKey.fromHex(hex), () => refuse("a secret key has 64 hex characters"))

/**
 * The text of a key file of `udg`, for saving the key: only the passphrase opens it, which takes half a second. To save it in
 * another way, there is `key.toSecretHex()`.
 */
export const saveKey = (key: SecretKey, passphrase: string): Promise<string> => KeyFile.seal(key, passphrase)

/** The key in such a text, from here or from `udg keygen`. */
export const restoreKey = (saved: string, passphrase: string): Promise<SecretKey> => KeyFile.open(saved, passphrase)

/** Coins as a person writes them, in sats: `sats("12.5")` is 1250000000. */
export const sats = (coins: string): Kinds.Sats =>
  Option.getOrElse(Sats.parseCoin(coins), () =>
    refuse(`"${coins}" is not an amount in coins: 0 to 21000000 with up to eight decimals expected`),
  )

/** Sats as a person reads them. */
export const coins = (amount: number): string =>
  Sats.isSats(amount) ? Sats.formatCoin(amount) : refuse(`${amount} is not an amount of sats`)

export interface Common {
  readonly nonce: number
  readonly fee: number
}

/** The type of a transaction. */
export type Type = SignedTransaction["type"]

type Json = TransactionInput

/** Every transaction has a nonce and a fee; free ones may leave out the fee. */
type Envelope<T extends Type> =
  Record<never, never> extends Pick<Extract<Json, { readonly type: T }>, "fee">
    ? Pick<Common, "nonce"> & Partial<Common>
    : Common

/** Fields that the wallet fills in. */
type Filled = "type" | "from" | "pub_key" | "signature" | "signatures"

/** What each type carries besides its nonce and fee, under the names on the wire. */
export type Payloads = { readonly [T in Type]: Omit<Extract<Json, { readonly type: T }>, Filled | keyof Common> }

/** The fields from which a transaction of each type is built. */
export type Fields<T extends Type> = Envelope<T> & Payloads[T]

/** A transaction without a signature. */
export interface Unsigned {
  readonly network: WalletNetwork
  /** @internal Not in the types of the package, so no parameter may be taken apart by it either. */
  readonly transaction: Transaction.Unsigned
}

/** One of the signatures that a smart account needs. */
export interface KeySignature {
  readonly publicKey: Kinds.PublicKey
  readonly signature: Kinds.Signature
}

const NOBODYS_KEY = "0".repeat(Keys.PUBLIC_KEY_BYTES * 2)
const NOBODYS_SIGNATURE = "0".repeat(Keys.SIGNATURE_BYTES * 2)

// The form comes from the schema that the type is derived from.
const decoded = (json: object): SignedTransaction =>
  Calls.input(Forms.transaction, json, "transaction") as SignedTransaction

/** The transaction in this JSON, without signatures; a refusal names the field. */
const built = ({ networkId, prefix }: WalletNetwork, json: object): Unsigned => {
  const complete = decoded({ ...json, pub_key: NOBODYS_KEY, signature: NOBODYS_SIGNATURE })
  const { from, nonce, fee, operation } = orRefuse(JsonForm.fromJson(networkId, prefix, complete))
  return { network: { networkId, prefix }, transaction: { from, nonce, fee, operation } }
}

/** Builds a transaction of `from` for signing. The node's own rules of form apply, so it does not refuse the form. */
export const unsigned = <T extends Type>(network: WalletNetwork, from: string, type: T, fields: Fields<T>): Unsigned =>
  built(network, { type, from, ...fields })

/** For passing from one signer to the next, who reads it with `parseUnsigned`. */
export const unsignedJson = (unsigned: Unsigned): SignedTransaction => JsonForm.unsignedToJson(unsigned.transaction)

/** Reads the output of `unsignedJson`, from any source: the node's own rules apply. */
export const parseUnsigned = (network: WalletNetwork, json: unknown): Unsigned =>
  typeof json === "object" && json !== null ? built(network, json) : refuse("a transaction is a JSON object")

/** Signs for an account that this key controls alone. */
export const sign = (unsigned: Unsigned, key: SecretKey): SignedTransaction =>
  JsonForm.toJson(Transaction.sign(unsigned.network.networkId, unsigned.transaction, ownKey(key)))

/** One of the signatures that a smart account needs. Each is made where its key is; `combine` collects them. */
export const cosign = (unsigned: Unsigned, key: SecretKey): KeySignature =>
  Transaction.cosign(unsigned.network.networkId, unsigned.transaction, ownKey(key))

/** A smart account's transaction with the signatures that its policy requires. */
export const combine = (unsigned: Unsigned, signatures: ReadonlyArray<KeySignature>): SignedTransaction => {
  if (signatures.length === 0) refuse("signatures: at least one expected")
  const authorization = { _tag: "Policy", signatures } as const
  return JsonForm.toJson(Transaction.make(unsigned.network.networkId, unsigned.transaction, authorization))
}

/** The hash under which `GET /tx/:hash` will find it, known before it is sent. */
export const hashOf = (unsigned: Unsigned): Kinds.Hash =>
  Transaction.idOf(unsigned.network.networkId, unsigned.transaction)

type Signing<T extends Type> = (fields: Fields<T>) => SignedTransaction

/**
 * An account with its key on a network: a method for each type of transaction, which signs one and sends nothing. `client.account`
 * fills in nonce and fee, sends, and waits.
 */
export interface Account {
  /** In hex, as nodes answer. */
  readonly address: Kinds.Address
  /** As people pass it on: `tudg1…` or `udg1…`. */
  readonly addressBech32: string
  readonly publicKey: Kinds.PublicKey
  /** Signs a transaction of any type. */
  readonly sign: <T extends Type>(type: T, fields: Fields<T>) => SignedTransaction
  /**
   * Coins for another account.
   *
   * @example
   * ```ts
   * const payment = alice.transfer({ to: bob.address, amount: Wallet.sats("12.5"), fee: 1000, nonce: 0, memo: "thanks" })
   * ```
   */
  readonly transfer: Signing<"Transfer">
  /** Stakes coins, to become a validator. */
  readonly stake: Signing<"StakeTx">
  /** Takes the whole stake back, after the cooldown. */
  readonly unstake: Signing<"UnstakeTx">
  /** Delegates coins to a validator, for a part of its rewards. */
  readonly delegate: Signing<"DelegateTx">
  /** Takes the delegation back, after the cooldown. */
  readonly undelegate: Signing<"UndelegateTx">
  /** Sets the part of the rewards of its delegators that a validator keeps. */
  readonly setCommission: Signing<"SetCommissionTx">
  readonly createProposal: Signing<"CreateProposalTx">
  readonly vote: Signing<"VoteTx">
  readonly registerName: Signing<"RegisterNameTx">
  /** From then on several keys sign for the account. */
  readonly setAccountPolicy: Signing<"SetAccountPolicyTx">
}

/**
 * The account of a key.
 *
 * @example
 * ```ts
 * const alice = Wallet.account(Wallet.network(await client.core.network()), Wallet.generate())
 * ```
 */
export const account = (network: WalletNetwork, key: SecretKey): Account => {
  const address = Address.fromPublicKey(key.publicKey)
  const signing = <T extends Type>(type: T, fields: Fields<T>): SignedTransaction =>
    sign(unsigned(network, address, type, fields), key)
  const signed =
    <T extends Type>(type: T): Signing<T> =>
    (fields) =>
      signing(type, fields)
  return {
    sign: signing,
    address,
    addressBech32: Address.toBech32(address, network.prefix),
    publicKey: key.publicKey,
    transfer: signed("Transfer"),
    stake: signed("StakeTx"),
    unstake: signed("UnstakeTx"),
    delegate: signed("DelegateTx"),
    undelegate: signed("UndelegateTx"),
    setCommission: signed("SetCommissionTx"),
    createProposal: signed("CreateProposalTx"),
    vote: signed("VoteTx"),
    registerName: signed("RegisterNameTx"),
    setAccountPolicy: signed("SetAccountPolicyTx"),
  }
}
