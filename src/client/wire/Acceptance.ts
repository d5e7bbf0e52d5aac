/**
 * Checks that a node accepted exactly the transactions sent to it. A transaction's hash follows from its signed bytes
 * and the network id, so the hash in an answer need not be trusted.
 */
import { Either } from "effect"
import type { Form } from "../../effect3/http/Outline.js"
import * as Address from "../../protocol/identity/Address.js"
import * as Network from "../../protocol/identity/Network.js"
import * as JsonForm from "../../protocol/transaction/JsonForm.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import type { TransactionJson } from "../../protocol/transaction/TransactionJson.js"
import * as Verification from "../../protocol/transaction/Verification.js"
import * as Calls from "./Calls.js"
import { FalseAnswer } from "./Failures.js"
import * as Forms from "./Forms.js"
import type { NetworkName } from "./NetworkName.js"

/** The answer of `GET /network`. */
interface Told {
  readonly network_id: string
  readonly address_prefix: Network.AddressPrefix
}

const wrong = (reason: string): never => {
  throw new FalseAnswer(200, reason)
}

const named = ({ network_id, address_prefix: prefix }: Told): NetworkName =>
  Network.isNetworkId(network_id)
    ? { networkId: network_id, prefix }
    : wrong(`${JSON.stringify(network_id)} is not the name of a network`)

const decodedIn = ({ networkId, prefix }: NetworkName, json: TransactionJson): Transaction =>
  Either.getOrElse(JsonForm.fromJson(networkId, prefix, json), ({ field, reason }) =>
    wrong(`a transaction is not valid on ${networkId}: ${field}: ${reason}`),
  )

// The forms come from the schema that the type is derived from.
const several: Form = { kind: "list", of: Forms.transaction }
const decoded = (payload: unknown): ReadonlyArray<TransactionJson> =>
  Array.isArray(payload)
    ? (Calls.input(several, payload, "payload") as ReadonlyArray<TransactionJson>)
    : [Calls.input(Forms.transaction, payload, "payload") as TransactionJson]

const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [value])

type Accepted = { readonly tx_hash: unknown; readonly nonce: unknown }

const isAccepted = (answer: unknown): answer is Accepted =>
  typeof answer === "object" && answer !== null && "tx_hash" in answer && "nonce" in answer

type Shown = { readonly hash: unknown; readonly transaction: unknown }

const isShown = (answer: unknown): answer is Shown =>
  typeof answer === "object" && answer !== null && "hash" in answer && "transaction" in answer

/**
 * Only the account's key can have signed it. The keys of a smart account do not follow from its address; only nodes
 * know them.
 */
const requireKey = ({ authorization, from }: Transaction): void => {
  if (authorization._tag === "Policy" || Address.fromPublicKey(authorization.publicKey) === from) return
  wrong(`a transaction of ${from} is signed by the key of another account`)
}

/** The network of a node, requested once. */
export class Acceptance {
  readonly #ask: () => Promise<Told>
  #asked: Promise<NetworkName> | undefined
  /** Signatures cover the network id, so a valid one proves that this is its network. */
  #isProven: boolean

  constructor(ask: () => Promise<Told>, known?: NetworkName) {
    this.#ask = ask
    this.#asked = known && Promise.resolve(known)
    this.#isProven = known !== undefined
  }

  #network(): Promise<NetworkName> {
    this.#asked ??= this.#ask()
      .then(named)
      .catch((error: unknown) => {
        this.#asked = undefined
        throw error
      })
    return this.#asked
  }

  #prove({ networkId }: NetworkName, transaction: Transaction): void {
    this.#isProven ||= Verification.checksOf(networkId, transaction).every(Verification.isStrictlyValid)
    if (this.#isProven) return
    this.#asked = undefined
    wrong(`it accepted for ${networkId} a transaction that is signed for another network`)
  }

  /**
   * Returns a check for the answer to these transactions. Call it before sending them, so that its failure leaves no
   * doubt whether they were sent.
   */
  async checking(payload: unknown): Promise<(answer: unknown) => void> {
    const sent = decoded(payload)
    const network = await this.#network()
    return (answer) => {
      const answers = listOf(answer)
      if (answers.length !== sent.length) wrong(`${answers.length} answers to ${sent.length} transactions`)
      for (const [n, json] of sent.entries()) {
        const each = answers[n]
        if (isAccepted(each)) this.#require(network, decodedIn(network, json), each)
      }
    }
  }

  /** Fails unless the transaction in an answer has the hash in it, and is signed with its account's key. */
  async requireShown(answer: unknown): Promise<void> {
    if (!isShown(answer)) return
    const network = await this.#network()
    const transaction = this.#shown(network, answer)
    // Uses the validators' check, so that every finalized transaction passes.
    if (Verification.checksOf(network.networkId, transaction).every(Verification.isValid)) return
    wrong(`transaction ${transaction.id} has an invalid signature`)
  }

  #shown(network: NetworkName, { hash, transaction: json }: Shown): Transaction {
    const transaction = decodedIn(network, Calls.input(Forms.transaction, json, "transaction") as TransactionJson)
    if (transaction.id !== hash) wrong(`transaction ${transaction.id} is shown as ${hash}`)
    requireKey(transaction)
    return transaction
  }

  #require(network: NetworkName, transaction: Transaction, { tx_hash, nonce }: Accepted): void {
    this.#prove(network, transaction)
    if (tx_hash !== transaction.id) wrong(`it accepted transaction ${tx_hash} instead of ${transaction.id}`)
    if (nonce !== transaction.nonce) wrong(`it accepted nonce ${nonce} instead of ${transaction.nonce}`)
  }
}
