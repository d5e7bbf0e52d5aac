/** What every transaction and vertex costs before anything is done with it. */
import { Either, Option } from "effect"
import { sha256Hex, verifyNative, verifyZip215 } from "#crypto"
import * as Address from "../src/protocol/identity/Address.js"
import * as Hash from "../src/protocol/identity/Hash.js"
import { SecretKey } from "../src/protocol/identity/Keys.js"
import type { NetworkId } from "../src/protocol/identity/Network.js"
import * as Natural from "../src/protocol/numbers/Natural.js"
import * as Sats from "../src/protocol/numbers/Sats.js"
import * as Transaction from "../src/protocol/transaction/Transaction.js"
import * as TransactionJson from "../src/protocol/transaction/TransactionJson.js"
import * as Verification from "../src/protocol/transaction/Verification.js"
import * as Heartbeat from "../src/protocol/vertex/Heartbeat.js"
import * as Vertex from "../src/protocol/vertex/Vertex.js"
import type { Suite } from "./Harness.js"

const networkId = "udg-solo-0123456789abcdef" as NetworkId
const key = Option.getOrThrow(SecretKey.fromHex("be".repeat(32)))

const transfer = (nonce: number): Transaction.Unsigned => ({
  from: Address.fromPublicKey(key.publicKey),
  nonce: Natural.nonce(nonce),
  fee: Sats.make(1_000),
  operation: { _tag: "Transfer", to: Address.fromPublicKey(key.publicKey), amount: Sats.make(5), memo: "" },
})

const IN_A_VERTEX = 1_000

const fullVertex = (): Vertex.Vertex => {
  const heartbeat = Heartbeat.sign(Natural.commitIndex(1), Hash.ZERO, key)
  const transactions = Array.from({ length: IN_A_VERTEX }, (_, i) => Transaction.sign(networkId, transfer(i), key))
  const content = {
    base: Hash.ZERO,
    epoch: Natural.epoch(1),
    round: Natural.round(1),
    parents: [],
    timestamp: Natural.timestamp(0),
    coinbase: Sats.ZERO,
  }
  return Vertex.sign(content, { transactions, evidence: [], heartbeats: [heartbeat] }, key)
}

export const suite: Suite = {
  about: "signatures, hashes and codecs, on one core",
  cases: () => {
    const unsigned = transfer(7)
    const transaction = Transaction.sign(networkId, unsigned, key)
    const [check] = Verification.checksOf(networkId, transaction)
    if (check === undefined) throw new Error("a transaction without a signature")
    const raw = [
      Uint8Array.from(Buffer.from(check.signature, "hex")),
      check.message,
      Uint8Array.from(Buffer.from(check.publicKey, "hex")),
    ] as const
    const remembering = new Verification.VerifiedTransactions(1)
    remembering.add(transaction)
    const vertex = fullVertex()
    const json = TransactionJson.toJson(transaction)
    const text = JSON.stringify(json)
    return [
      { name: "verify, native, raw", run: () => verifyNative(...raw) },
      {
        name: "verify, native, a transaction",
        run: () => Verification.checksOf(networkId, transaction).every(Verification.isStrictlyValid),
      },
      { name: "verify, zip215, raw", run: () => verifyZip215(...raw) },
      { name: "verify, remembered", run: () => remembering.has(transaction) },
      { name: "sign a transfer", run: () => Transaction.sign(networkId, unsigned, key) },
      { name: "sha-256 of 145 bytes, raw", run: () => sha256Hex(transaction.encoded) },
      { name: "hash: id of a transfer", run: () => Transaction.idOf(networkId, unsigned) },
      { name: "hash: address of a key", run: () => Address.fromPublicKey(key.publicKey) },
      { name: "encode a transfer", run: () => Transaction.make(networkId, unsigned, transaction.authorization) },
      { name: "decode a transfer", run: () => Transaction.decode(networkId, transaction.encoded) },
      {
        name: `encode a vertex, a transaction of ${IN_A_VERTEX}`,
        run: () => Vertex.make(vertex.header, vertex.body),
        operations: IN_A_VERTEX,
      },
      {
        name: `decode a vertex, a transaction of ${IN_A_VERTEX}`,
        run: () => Vertex.decode(networkId, vertex.encoded),
        operations: IN_A_VERTEX,
      },
      {
        name: "json to a transfer",
        run: () =>
          Either.flatMap(TransactionJson.decode(JSON.parse(text)), (input) =>
            TransactionJson.fromJson(networkId, "tudg", input),
          ),
      },
      { name: "transfer to json", run: () => JSON.stringify(TransactionJson.toJson(transaction)) },
    ]
  },
}
