/** Transactions of every type in both forms, and invalid ones. */
import { Either } from "effect"
import * as JsonText from "../../src/protocol/encoding/JsonText.js"
import * as Address from "../../src/protocol/identity/Address.js"
import type { Name } from "../../src/protocol/identity/Name.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as JsonForm from "../../src/protocol/transaction/JsonForm.js"
import type * as Operation from "../../src/protocol/transaction/Operation.js"
import * as Possession from "../../src/protocol/transaction/Possession.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import * as TransactionJson from "../../src/protocol/transaction/TransactionJson.js"
import { alice, bob, carol, hex, networkId, requireRefused } from "./people.js"

const operations: ReadonlyArray<readonly [about: string, fee: number, operation: Operation.Operation]> = [
  ["a transfer", 1_000, { _tag: "Transfer", to: bob.address, amount: Sats.make(150_000_000), memo: "" }],
  [
    "a transfer with a memo that is not ASCII",
    1_000,
    { _tag: "Transfer", to: bob.address, amount: Sats.make(1), memo: "für 🍞" },
  ],
  [
    "a transfer of everything there can be, with the longest memo",
    Sats.MAX_SUPPLY,
    { _tag: "Transfer", to: alice.address, amount: Sats.MAX_SUPPLY, memo: "m".repeat(256) },
  ],
  ["the smallest stake", 0, { _tag: "StakeTx", amount: Sats.MIN_STAKE_SATS }],
  ["unstaking", 0, { _tag: "UnstakeTx" }],
  ["a delegation", 0, { _tag: "DelegateTx", validator: carol.address, amount: Sats.make(100_000_000) }],
  ["undelegating, with a fee that nobody asked for", 7, { _tag: "UndelegateTx" }],
  ["a commission", 0, { _tag: "SetCommissionTx", commissionPercent: 100 }],
  [
    "a text proposal without a description",
    1_000,
    { _tag: "CreateProposalTx", title: "Say hello", description: "", payload: { _tag: "Text" } },
  ],
  [
    "a parameter change",
    1_000,
    {
      _tag: "CreateProposalTx",
      title: "Lower the fee",
      description: "Half of it is enough.",
      payload: { _tag: "ParameterChange", param: "min_fee_sats", value: 500 },
    },
  ],
  [
    "a new council member",
    1_000,
    {
      _tag: "CreateProposalTx",
      title: "Seat Bob",
      description: "…",
      payload: { _tag: "CouncilMembership", action: "add", address: bob.address },
    },
  ],
  [
    "a council member who leaves",
    1_000,
    {
      _tag: "CreateProposalTx",
      title: "Unseat Bob",
      description: "",
      payload: { _tag: "CouncilMembership", action: "remove", address: bob.address },
    },
  ],
  [
    "a payment by the treasury",
    1_000,
    {
      _tag: "CreateProposalTx",
      title: "Pay Carol",
      description: "For the explorer.",
      payload: { _tag: "TreasurySpend", recipient: carol.address, amount: Sats.make(2_500_000_000) },
    },
  ],
  ["a vote for", 1_000, { _tag: "VoteTx", proposalId: Natural.proposalId(1), vote: true }],
  ["a vote against", 1_000, { _tag: "VoteTx", proposalId: Natural.proposalId(2 ** 53 - 1), vote: false }],
  ["a name", 100_000, { _tag: "RegisterNameTx", name: "alice" as Name }],
  [
    "an account policy, two of three",
    1_000,
    { _tag: "SetAccountPolicyTx", threshold: 2, keys: [alice.publicKey, bob.publicKey, carol.publicKey] },
  ],
]

/** The last one, because the proof covers its nonce. */
const rotation = (nonce: Natural.Nonce): Operation.Operation => ({
  _tag: "RotateKeyTx",
  validatorKey: bob.publicKey,
  proof: Possession.sign(networkId, { account: alice.address, nonce }, bob.key),
})

const vectorOf = (about: string, transaction: Transaction.Transaction) => ({
  about,
  json: JsonForm.toJson(transaction),
  signed_bytes: hex(Transaction.bytesUnderSignature(networkId, transaction)),
  hash: transaction.id,
  encoded: hex(transaction.encoded),
})

const contentOf = (nonce: Natural.Nonce, fee: number, operation: Operation.Operation): Transaction.Unsigned => ({
  from: alice.address,
  nonce,
  fee: Sats.make(fee),
  operation,
})

const last = Natural.nonce(operations.length)
const unsigned = [
  ...operations.map(([about, fee, operation], nonce) => ({
    about,
    content: contentOf(Natural.nonce(nonce), fee, operation),
  })),
  { about: "another validator key, Bob's", content: contentOf(last, 1_000, rotation(last)) },
]

const policySigned = (content: Transaction.Unsigned): Transaction.Transaction =>
  Transaction.make(networkId, content, {
    _tag: "Policy",
    signatures: [carol, alice].map(({ key }) => Transaction.cosign(networkId, content, key)),
  })

export const transactions = {
  network_id: networkId,
  single_key: unsigned.map(({ about, content }) => vectorOf(about, Transaction.sign(networkId, content, alice.key))),
  policy: unsigned.map(({ about, content }) => vectorOf(`${about}, signed by two keys`, policySigned(content))),
}

const good = transactions.single_key[0]
const signedByTwo = transactions.policy[0]
if (good === undefined || signedByTwo === undefined) throw new Error("no transfer")

const patched = (offset: number, patch: string): string =>
  good.encoded.slice(0, offset * 2) + patch + good.encoded.slice(offset * 2 + patch.length)

/** type 1 · from 20 · nonce 8 · fee 8 · to 20 · amount 8 · memo 2 · count 1 · key 32 · signature 64. */
const at = { type: 0, nonce: 21, fee: 29, amount: 57, memo: 65, count: 67, proof: 68 }
const proof = good.encoded.slice(at.proof * 2)

const rejectedBytes: ReadonlyArray<readonly [about: string, bytes: string, reason: string]> = [
  ["nothing", "", "truncated"],
  ["the last byte is missing", good.encoded.slice(0, -2), "truncated"],
  ["a byte trails", `${good.encoded}00`, "trailing"],
  ["type 0", patched(at.type, "00"), "unknown-type"],
  ["type 12", patched(at.type, "0c"), "unknown-type"],
  ["nonce 2^53", patched(at.nonce, "0000000000002000"), "range"],
  ["fee above the maximum supply", patched(at.fee, "0140075af8750700"), "range"],
  ["amount 0", patched(at.amount, "0000000000000000"), "rule"],
  ["a memo of 257 bytes announced", patched(at.memo, "0101"), "limit"],
  ["a memo longer than what follows", patched(at.memo, "ff00"), "truncated"],
  ["a memo that is not UTF-8", `${good.encoded.slice(0, at.memo * 2)}0100ff00${proof}`, "text"],
  ["17 signatures", `${good.encoded.slice(0, at.count * 2)}11${proof.repeat(17)}`, "limit"],
  ["one key signs twice", `${good.encoded.slice(0, at.count * 2)}02${proof.repeat(2)}`, "rule"],
  ["two signatures announced, one there", patched(at.count, "02"), "truncated"],
]

const json = good.json as unknown as Record<string, unknown>
const changed = (change: Record<string, unknown>): string => JSON.stringify({ ...json, ...change })
const without = (...fields: ReadonlyArray<string>): string =>
  JSON.stringify(Object.fromEntries(Object.entries(json).filter(([field]) => !fields.includes(field))))
const writtenAs = (amount: string): string => JSON.stringify(json).replace('"amount":150000000', `"amount":${amount}`)
const nested = (lists: number): unknown => (lists === 0 ? "Transfer" : [nested(lists - 1)])

/** As texts, because number parsing is part of the test. */
const rejectedJson: ReadonlyArray<readonly [about: string, text: string, field: string, reason: string]> = [
  ["an unknown type", changed({ type: "MintTx" }), "type", "unknown-type"],
  ["a field nobody knows", changed({ gas: 1 }), "gas", "unknown-field"],
  ["no recipient", without("to"), "to", "missing-field"],
  ["no fee where there must be one", without("fee"), "fee", "missing-field"],
  ["no signature", without("signature"), "signature", "missing-field"],
  ["an amount in a string", changed({ amount: "150000000" }), "amount", "json-type"],
  ["an amount of minus one", changed({ amount: -1 }), "amount", "range"],
  ["an amount of minus zero", writtenAs("-0"), "amount", "number"],
  ["an amount with a fraction", writtenAs("0.5"), "amount", "number"],
  ["an amount with a fraction that doubles round away", writtenAs("150000000.000000001"), "amount", "number"],
  ["a fraction that doubles round to 1", writtenAs("0.99999999999999999999"), "amount", "number"],
  ["an amount with a fraction of zero", writtenAs("150000000.0"), "amount", "number"],
  ["an amount with an exponent", writtenAs("15e7"), "amount", "number"],
  ["an amount that a double cannot hold", writtenAs("9007199254740993"), "amount", "number"],
  ["two amounts", writtenAs('1,"amount":150000000'), "amount", "twice"],
  ["two amounts, one written with an escape", writtenAs('1,"\\u0061mount":150000000'), "amount", "twice"],
  ["an object with 32 lists within each other", changed({ type: nested(32) }), `type${"[0]".repeat(31)}`, "depth"],
  ["an amount above the maximum supply", changed({ amount: 2_100_000_000_000_001 }), "amount", "range"],
  ["a nonce of 2^53", changed({ nonce: 2 ** 53 }), "nonce", "number"],
  ["an amount of 0", changed({ amount: 0 }), "amount", "rule"],
  ["a memo of 257 bytes", changed({ memo: "m".repeat(257) }), "memo", "text"],
  ["a memo with a lone surrogate", changed({ memo: "\ud83c" }), "memo", "text"],
  ["a mainnet address on a testnet", changed({ to: Address.toBech32(bob.address, "udg") }), "to", "other-network"],
  ["a name where an address must stand", changed({ to: "@bob" }), "to", "not-an-address"],
  ["a key that is too short", changed({ pub_key: alice.publicKey.slice(2) }), "pub_key", "hex"],
  [
    "both forms of authorization",
    changed({ signatures: [{ pub_key: json["pub_key"], signature: json["signature"] }] }),
    "signatures",
    "rule",
  ],
]

const prefix = "tudg"

export const rejectedTransactions = () => {
  for (const [about, bytes] of rejectedBytes) {
    requireRefused(about, Transaction.decode(networkId, Buffer.from(bytes, "hex")))
  }
  for (const [about, text] of rejectedJson) {
    const decoded = Either.flatMap(JsonText.parse(text, "transaction"), TransactionJson.decode)
    requireRefused(
      about,
      Either.flatMap(decoded, (json) => JsonForm.fromJson(networkId, prefix, json)),
    )
  }
  return {
    network_id: networkId,
    network: "testnet",
    bytes: rejectedBytes.map(([about, encoded, reason]) => ({ about, encoded, reason })),
    json: rejectedJson.map(([about, text, field, reason]) => ({ about, text, field, reason })),
  }
}
