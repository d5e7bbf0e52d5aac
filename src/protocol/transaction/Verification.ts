/**
 * Who may reject a signature. A signature in a vertex is judged by ZIP-215 with S < L, the same on every machine. The
 * native verifier accepts a subset of that, so its acceptance is final anywhere, and its rejection only at admission.
 */
import { fromHex, verifyNative, verifyZip215 } from "#crypto"
import type * as Hash from "../identity/Hash.js"
import type { PublicKey, Signature } from "../identity/Keys.js"
import type { NetworkId } from "../identity/Network.js"
import * as Transaction from "./Transaction.js"

/** One signature to be verified. */
export interface Check {
  readonly message: Uint8Array
  readonly publicKey: PublicKey
  readonly signature: Signature
}

/** Consensus-critical: for signatures in a vertex. */
export const isValid = ({ message, publicKey, signature }: Check): boolean => {
  const key = fromHex(publicKey)
  const proof = fromHex(signature)
  return verifyNative(proof, message, key) || verifyZip215(proof, message, key)
}

/** For input from the RPC and gossip: an invalid signature costs one native call, never the slow second verifier. */
export const isStrictlyValid = ({ message, publicKey, signature }: Check): boolean =>
  verifyNative(fromHex(signature), message, fromHex(publicKey))

/** Every signature of a transaction with the bytes it covers. */
export const checksOf = (networkId: NetworkId, transaction: Transaction.Transaction): ReadonlyArray<Check> => {
  const message = Transaction.bytesUnderSignature(networkId, transaction)
  return Transaction.keySignatures(transaction.authorization).map((proof) => ({ message, ...proof }))
}

/**
 * Remembers valid signatures, so that a transaction verified at admission is not verified again in a vertex. A key
 * covers the signed bytes and every key and signature, never the transaction id alone: the same transaction under
 * another signature is another key. Only acceptance is kept; unlike rejection, it means the same at admission and in a
 * vertex.
 */
export class VerifiedTransactions {
  /** Each generation holds half of them; when the younger one is full, the older one is dropped at once. */
  #younger = new Set<Hash.Hash>()
  #older = new Set<Hash.Hash>()
  readonly #capacity: number

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#younger.size + this.#older.size
  }

  /** By its `Transaction.verificationKey`. */
  has(key: Hash.Hash): boolean {
    return this.#younger.has(key) || this.#older.has(key)
  }

  /** For callers that had the signatures verified elsewhere, for example in a worker thread. */
  add(key: Hash.Hash): void {
    if (this.has(key)) return
    if (2 * (this.#younger.size + 1) > this.#capacity) {
      this.#older = this.#younger
      this.#younger = new Set()
    }
    this.#younger.add(key)
  }

  /** Whether every signature is valid by the rule for vertices. */
  isValid(networkId: NetworkId, transaction: Transaction.Transaction): boolean {
    const key = Transaction.verificationKey(networkId, transaction)
    if (this.has(key)) return true
    const valid = checksOf(networkId, transaction).every(isValid)
    if (valid) this.add(key)
    return valid
  }
}
