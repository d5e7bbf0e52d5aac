/**
 * Which verifier may reject a signature. Signatures in a vertex are judged by ZIP-215 with S < L, the same on every
 * machine. The native verifier accepts a subset of that, so its acceptance is final anywhere, and its rejection only at
 * admission.
 */
import { fromHex, verifyNative, verifyZip215 } from "#crypto"
import type { Hash } from "../identity/Hash.js"
import type { PublicKey, Signature } from "../identity/Keys.js"
import type { NetworkId } from "../identity/Network.js"
import * as Possession from "./Possession.js"
import * as Transaction from "./Transaction.js"

export interface Check {
  readonly message: Uint8Array
  readonly publicKey: PublicKey
  readonly signature: Signature
  /** The transaction that the signature belongs to, if any. */
  readonly transaction?: Transaction.Transaction
}

/** Consensus-critical: for signatures in a vertex. */
export const isValid = ({ message, publicKey, signature }: Check): boolean => {
  const key = fromHex(publicKey)
  const proof = fromHex(signature)
  return verifyNative(proof, message, key) || verifyZip215(proof, message, key)
}

/** For input from the API and gossip: an invalid signature costs one native call, never the slow second verifier. */
export const isStrictlyValid = ({ message, publicKey, signature }: Check): boolean =>
  verifyNative(fromHex(signature), message, fromHex(publicKey))

const possession = (networkId: NetworkId, transaction: Transaction.Transaction): ReadonlyArray<Check> => {
  const { from: account, nonce, operation } = transaction
  if (operation._tag !== "RotateKeyTx") return []
  const { validatorKey: publicKey, proof: signature } = operation
  const message = Possession.signedBytes(networkId, { account, nonce }, publicKey)
  return [{ message, publicKey, signature, transaction }]
}

/** Every signature of a transaction with the bytes it covers. */
export const checksOf = (networkId: NetworkId, transaction: Transaction.Transaction): ReadonlyArray<Check> => {
  const message = Transaction.bytesUnderSignature(networkId, transaction)
  const signatures = Transaction.keySignatures(transaction.authorization)
  return [...signatures.map((one) => ({ message, ...one, transaction })), ...possession(networkId, transaction)]
}

/**
 * Remembers transactions with valid signatures, so that one verified at admission is not verified again in a vertex.
 * The id does not cover the signatures, so these are stored beside it: the same transaction under another signature is
 * unknown. Only acceptance is stored; unlike rejection, it means the same at admission and in a vertex.
 */
export class VerifiedTransactions {
  /** Each generation holds half of them. When the younger one is full, the older one is dropped at once. */
  #younger = new Map<Hash, Transaction.Authorization>()
  #older = new Map<Hash, Transaction.Authorization>()
  /** Signatures in the younger one. */
  #signatures = 0
  readonly #capacity: number

  /** Counted in signatures, which take most of the memory: a transaction of a smart account may have many. */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#younger.size + this.#older.size
  }

  has({ id, authorization }: Transaction.Transaction): boolean {
    const known = this.#younger.get(id) ?? this.#older.get(id)
    return known !== undefined && Transaction.isSameAuthorization(known, authorization)
  }

  /** The caller must have verified its signatures. */
  add(transaction: Transaction.Transaction): void {
    if (this.has(transaction)) return
    const added = Transaction.keySignatures(transaction.authorization).length
    if (2 * (this.#signatures + added) > this.#capacity) {
      this.#older = this.#younger
      this.#younger = new Map()
      this.#signatures = 0
    }
    this.#signatures += added
    this.#younger.set(transaction.id, transaction.authorization)
  }
}
