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
/** A secret key, as an object that never prints. `toSecretHex` returns its 64 hex characters. */
export type SecretKey = Kinds.SecretKey
/** The effect of a proposal. */
export type ProposalType = Extract<SignedTransaction, { readonly type: "CreateProposalTx" }>["proposal_type"]

const refuse = (message: string): never => {
  throw new InvalidInput(message)
}

const orRefuse = <A>(result: Either.Either<A, JsonProblem.JsonProblem>): A =>
  Either.getOrElse(result, (problem) => refuse(JsonProblem.message(problem)))

/** The network that transactions are for: they are invalid on any other. */
export type WalletNetwork = NetworkName

/** Only our own keys sign; a key may come from another copy of this module. */
const ownKey = (key: SecretKey): Keys.SecretKey =>
  key instanceof Keys.SecretKey
    ? key
    : Option.getOrElse(Keys.SecretKey.fromHex(key.toSecretHex()), () => refuse("a secret key has 64 hex characters"))

/** The network, from the answer of `GET /network`. */
export const network = (info: {
  readonly network_id: string
  readonly address_prefix: Kinds.AddressPrefix
}): WalletNetwork =>
  Network.isNetworkId(info.network_id)
    ? { networkId: info.network_id, prefix: info.address_prefix }
    : refuse(`network_id: "${info.network_id}" is not the name of a network`)

/**
 * The current minimum fee in sats, from the answer of `GET /network`. The first transfer to an account costs more: also
 * pass the recipient's answer of `GET /balance/:address`.
 */
export const fee = (info: { readonly parameters: Prices.Prices }, type: Type, recipient?: Prices.Recipient): number =>
  Prices.asked(type, info.parameters, recipient)

/** A new random key. */
export const generate = (): SecretKey => Keys.SecretKey.generate()

/** The key with these 64 hex characters. */
export const secretKey = (hex: string): SecretKey =>
  Option.getOrElse(Keys.SecretKey.fromHex(hex), () => refuse("a secret key has 64 hex characters"))

/**
 * The text of an encrypted key file, for saving the key. Opening it takes the passphrase and half a second.
 * `key.toSecretHex()` returns the key without encryption.
 */
export const saveKey = (key: SecretKey, passphrase: string): Promise<string> => KeyFile.seal(key, passphrase)

/** The key in the text of a key file, made by `saveKey` or `udg keygen`. */
export const restoreKey = (saved: string, passphrase: string): Promise<SecretKey> => KeyFile.open(saved, passphrase)

/** Converts coins as people write them to sats: `sats("12.5")` is 1250000000. */
export const sats = (coins: string): Kinds.Sats =>
  Option.getOrElse(Sats.parseCoin(coins), () =>
    refuse(`"${coins}" is not an amount in coins; use 0 to 21000000 with up to eight decimals`),
  )

/** Formats sats as coins. */
export const coins = (amount: number): string =>
  Sats.isSats(amount) ? Sats.formatCoin(amount) : refuse(`${amount} is not an amount of sats`)

export interface Common {
  readonly nonce: number
  readonly fee: number
}

export type Type = SignedTransaction["type"]

type Json = TransactionInput

/** Every transaction has a nonce and a fee; free types can omit the fee. */
type Envelope<T extends Type> =
  Record<never, never> extends Pick<Extract<Json, { readonly type: T }>, "fee">
    ? Pick<Common, "nonce"> & Partial<Common>
    : Common

/** Fields that the wallet fills in. */
type Filled = "type" | "from" | "pub_key" | "signature" | "signatures"

/** The fields of each type besides nonce and fee, named as on the wire. */
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

/** The unsigned transaction in this JSON. Errors name the invalid field. */
const built = ({ networkId, prefix }: WalletNetwork, json: object): Unsigned => {
  const complete = decoded({ ...json, pub_key: NOBODYS_KEY, signature: NOBODYS_SIGNATURE })
  const { from, nonce, fee, operation } = orRefuse(JsonForm.fromJson(networkId, prefix, complete))
  return { network: { networkId, prefix }, transaction: { from, nonce, fee, operation } }
}

/** Builds a transaction of `from` for signing, and checks it by the node's own rules of form. */
export const unsigned = <T extends Type>(network: WalletNetwork, from: string, type: T, fields: Fields<T>): Unsigned =>
  built(network, { type, from, ...fields })

/** JSON to pass to the next signer, who reads it with `parseUnsigned`. */
export const unsignedJson = (unsigned: Unsigned): SignedTransaction => JsonForm.unsignedToJson(unsigned.transaction)

/** Reads the output of `unsignedJson` from any source, and checks it by the node's own rules. */
export const parseUnsigned = (network: WalletNetwork, json: unknown): Unsigned =>
  typeof json === "object" && json !== null ? built(network, json) : refuse("a transaction is a JSON object")

/** Signs for an account that this key controls alone. */
export const sign = (unsigned: Unsigned, key: SecretKey): SignedTransaction =>
  JsonForm.toJson(Transaction.sign(unsigned.network.networkId, unsigned.transaction, ownKey(key)))

/**
 * Makes one of the signatures that a smart account needs. Call it where the key is; `combine` collects the signatures.
 */
export const cosign = (unsigned: Unsigned, key: SecretKey): KeySignature =>
  Transaction.cosign(unsigned.network.networkId, unsigned.transaction, ownKey(key))

/** A smart account's transaction with the signatures that its policy requires. */
export const combine = (unsigned: Unsigned, signatures: ReadonlyArray<KeySignature>): SignedTransaction => {
  if (signatures.length === 0) refuse("signatures: expected at least one")
  const authorization = { _tag: "Policy", signatures } as const
  return JsonForm.toJson(Transaction.make(unsigned.network.networkId, unsigned.transaction, authorization))
}

/** The transaction's hash for `GET /tx/:hash`, known before it is sent. */
export const hashOf = (unsigned: Unsigned): Kinds.Hash =>
  Transaction.idOf(unsigned.network.networkId, unsigned.transaction)

type Signing<T extends Type> = (fields: Fields<T>) => SignedTransaction

/**
 * An account with its key on a network. Has a method for each type of transaction, which signs one and sends nothing.
 * `client.account` fills in nonce and fee, sends, and waits.
 */
export interface Account {
  /** In hex, as in nodes' answers. */
  readonly address: Kinds.Address
  /** The form for people: `tudg1…` or `udg1…`. */
  readonly addressBech32: string
  readonly publicKey: Kinds.PublicKey
  /** Signs a transaction of any type. */
  readonly sign: <T extends Type>(type: T, fields: Fields<T>) => SignedTransaction
  /**
   * Transfers coins to another account.
   *
   * @example
   * ```ts
   * const payment = alice.transfer({ to: bob.address, amount: Wallet.sats("12.5"), fee: 1000, nonce: 0, memo: "thanks" })
   * ```
   */
  readonly transfer: Signing<"Transfer">
  /** Stakes coins, to become a validator. */
  readonly stake: Signing<"StakeTx">
  /** Withdraws the whole stake, which is paid out after the cooldown. */
  readonly unstake: Signing<"UnstakeTx">
  /** Delegates coins to a validator, for a share of its rewards. */
  readonly delegate: Signing<"DelegateTx">
  /** Withdraws the delegation, which is paid out after the cooldown. */
  readonly undelegate: Signing<"UndelegateTx">
  /** Sets the percentage of its delegators' rewards that a validator keeps. */
  readonly setCommission: Signing<"SetCommissionTx">
  readonly createProposal: Signing<"CreateProposalTx">
  readonly vote: Signing<"VoteTx">
  readonly registerName: Signing<"RegisterNameTx">
  /** Makes several keys sign for the account from then on. */
  readonly setAccountPolicy: Signing<"SetAccountPolicyTx">
  /** Changes the key with which a validator signs, from the next epoch on. `proof` is made by the new key. */
  readonly rotateKey: Signing<"RotateKeyTx">
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
    rotateKey: signed("RotateKeyTx"),
  }
}
