/**
 * A wallet without a node: keys, addresses, and transactions of every type, built and signed where the key is. Runs in
 * browsers. What a transaction needs to know of the world, its network and its nonce, is given to it:
 *
 *     const network = Wallet.network(await client.core.network())
 *     const alice = Wallet.account(network, Wallet.generate())
 *     const { next_nonce: nonce } = await client.core.balance({ path: { address: alice.addressBech32 } })
 *     await client.transactions.submit({ payload: alice.transfer({ to, amount: Wallet.sats("12.5"), fee: 1000, nonce }) })
 */
import { Either, Option } from "effect"
import * as Address from "../protocol/identity/Address.js"
import type * as Hash from "../protocol/identity/Hash.js"
import * as Keys from "../protocol/identity/Keys.js"
import * as Network from "../protocol/identity/Network.js"
import * as Sats from "../protocol/numbers/Sats.js"
import type * as Operation from "../protocol/transaction/Operation.js"
import * as Transaction from "../protocol/transaction/Transaction.js"
import * as TransactionJson from "../protocol/transaction/TransactionJson.js"

export type SecretKey = Keys.SecretKey
export type SignedTransaction = TransactionJson.TransactionJson
export type ProposalType = TransactionJson.ProposalType

/** What was given makes no transaction; the message says which field and why. */
export class InvalidInput extends Error {
  override readonly name = "InvalidInput"
}

const refuse = (message: string): never => {
  throw new InvalidInput(message)
}

const orRefuse = <A>(result: Either.Either<A, { readonly message: string }>): A =>
  Either.getOrElse(result, ({ message }) => refuse(message))

/** The network that transactions are for: they are worth nothing on any other. */
export interface WalletNetwork {
  readonly networkId: Network.NetworkId
  readonly prefix: Network.AddressPrefix
}

/** From what `GET /network` answers. */
export const network = (info: {
  readonly network_id: string
  readonly address_prefix: Network.AddressPrefix
}): WalletNetwork =>
  Network.isNetworkId(info.network_id)
    ? { networkId: info.network_id, prefix: info.address_prefix }
    : refuse(`network_id: "${info.network_id}" is not the name of a network`)

/** A key that nobody has had before. */
export const generate = (): SecretKey => Keys.SecretKey.generate()

/** The key with these 64 hex characters. */
export const secretKey = (hex: string): SecretKey =>
  Option.getOrElse(Keys.SecretKey.fromHex(hex), () => refuse("a secret key has 64 hex characters"))

/** Coins as a person writes them, in sats: `sats("12.5")` is 1250000000. */
export const sats = (coins: string): Sats.Sats =>
  Option.getOrElse(Sats.parseCoin(coins), () => refuse(`"${coins}" is not an amount in coins`))

/** Sats as a person reads them. */
export const coins = (amount: number): string =>
  Sats.isSats(amount) ? Sats.formatCoin(amount) : refuse(`${amount} is not an amount of sats`)

type Json = typeof TransactionJson.TransactionJson.Encoded

/** Fields that the wallet fills in. */
type Filled = "type" | "from" | "pub_key" | "signature" | "signatures"

/** The fields of each type, under their names on the wire. */
export type Fields = { readonly [T in Operation.Type]: Omit<Extract<Json, { readonly type: T }>, Filled> }

export type Type = keyof Fields

/** A transaction that nobody has signed yet. */
export interface Unsigned {
  readonly network: WalletNetwork
  readonly transaction: Transaction.Unsigned
}

const NOBODYS_KEY = "0".repeat(Keys.PUBLIC_KEY_BYTES * 2)
const NOBODYS_SIGNATURE = "0".repeat(Keys.SIGNATURE_BYTES * 2)

/** What this JSON asks for, which has no signatures yet; the message of a refusal names the field. */
const built = ({ networkId, prefix }: WalletNetwork, json: object): Unsigned => {
  const complete = orRefuse(TransactionJson.decode({ ...json, pub_key: NOBODYS_KEY, signature: NOBODYS_SIGNATURE }))
  const { from, nonce, fee, operation } = orRefuse(TransactionJson.fromJson(networkId, prefix, complete))
  return { network: { networkId, prefix }, transaction: { from, nonce, fee, operation } }
}

/**
 * Builds what is to be signed for the account `from`. The node's own rules decide whether it is a transaction at all,
 * so what passes here is not refused there for its form.
 */
export const unsigned = <T extends Type>(network: WalletNetwork, from: string, type: T, fields: Fields[T]): Unsigned =>
  built(network, { type, from, ...fields })

/** To be carried from one signer to the next, and read there by `parseUnsigned`. */
export const unsignedJson = ({ transaction }: Unsigned): TransactionJson.TransactionJson =>
  TransactionJson.unsignedToJson(transaction)

/** What `unsignedJson` wrote, or anybody: it is judged by the rules of the node. */
export const parseUnsigned = (network: WalletNetwork, json: unknown): Unsigned =>
  typeof json === "object" && json !== null ? built(network, json) : refuse("a transaction is a JSON object")

/** Signs for an account that this key controls alone. */
export const sign = ({ network, transaction }: Unsigned, key: SecretKey): SignedTransaction =>
  TransactionJson.toJson(Transaction.sign(network.networkId, transaction, key))

/** One of the signatures that a smart account needs. Made where each key is, then brought together by `combine`. */
export const cosign = ({ network, transaction }: Unsigned, key: SecretKey): Transaction.KeySignature =>
  Transaction.cosign(network.networkId, transaction, key)

/** A smart account's transaction under as many signatures as its policy asks for. */
export const combine = (
  { network, transaction }: Unsigned,
  signatures: ReadonlyArray<Transaction.KeySignature>,
): SignedTransaction => {
  if (signatures.length === 0) refuse("signatures: at least one expected")
  return TransactionJson.toJson(Transaction.make(network.networkId, transaction, { _tag: "Policy", signatures }))
}

/** The hash under which `GET /tx/:hash` will find it, known before it is sent. */
export const hashOf = ({ network, transaction }: Unsigned): Hash.Hash =>
  Transaction.idOf(network.networkId, transaction)

/** An account with its key on a network: a method for each type of transaction, which signs one. */
export const account = (network: WalletNetwork, key: SecretKey) => {
  const address = Address.fromPublicKey(key.publicKey)
  const signed =
    <T extends Type>(type: T) =>
    (fields: Fields[T]): SignedTransaction =>
      sign(unsigned(network, address, type, fields), key)
  return {
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

export type Account = ReturnType<typeof account>
