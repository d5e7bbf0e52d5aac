import { Either, FastCheck as fc, Option, Schema } from "effect"
import { describe, expect, it } from "vitest"
import type { JsonProblem } from "../../src/protocol/encoding/JsonProblem.js"
import * as Address from "../../src/protocol/identity/Address.js"
import { addressPrefix, type NetworkId } from "../../src/protocol/identity/Network.js"
import * as Limits from "../../src/protocol/numbers/Limits.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as JsonForm from "../../src/protocol/transaction/JsonForm.js"
import type * as Operation from "../../src/protocol/transaction/Operation.js"
import * as TransactionJson from "../../src/protocol/transaction/TransactionJson.js"
import * as arbitrary from "./arbitraries.js"

const network = "udg-test" as NetworkId

const parse = (input: unknown) =>
  Either.flatMap(TransactionJson.decode(input), (json) => JsonForm.fromJson(network, "tudg", json))

const throughText = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe("a transaction in JSON", () => {
  it.each(Object.entries(arbitrary.operationOf))(
    "of type %s survives encoding and decoding in both forms",
    (type, operation) => {
      for (const authorization of [arbitrary.singleKey, arbitrary.policySigned]) {
        const values = arbitrary.transaction(network, { unsigned: arbitrary.unsignedOf(operation), authorization })
        fc.assert(
          fc.property(values, (transaction) => {
            const json = throughText(JsonForm.toJson(transaction))
            expect(json).toHaveProperty("type", type)
            expect(Either.getOrThrow(parse(json))).toStrictEqual(transaction)
            // The node's own schema accepts it too, without an unknown field.
            const decode = Schema.decodeUnknownEither(TransactionJson.TransactionJson, { onExcessProperty: "error" })
            expect(Either.isRight(decode(json))).toBe(true)
          }),
          { numRuns: 40 },
        )
      }
    },
  )

  it("accepts addresses in hex of any case and in bech32m of its network", () => {
    fc.assert(
      fc.property(
        arbitrary.transaction(network),
        fc.constantFrom("testnet" as const, "mainnet" as const),
        (tx, mode) => {
          const prefix = addressPrefix(mode)
          const json = JsonForm.toJson(tx)
          for (const from of [tx.from.toUpperCase(), Address.toBech32(tx.from, prefix)]) {
            const decoded = Either.getOrThrow(TransactionJson.decode({ ...json, from }))
            expect(Either.getOrThrow(JsonForm.fromJson(network, prefix, decoded)).id).toBe(tx.id)
          }
        },
      ),
      { numRuns: 50 },
    )
  })

  it("may omit the fee exactly where the type is free of fees, which is then 0", () => {
    const types = Object.keys(arbitrary.operationOf) as ReadonlyArray<Operation.Type>
    const free = types.filter((type) => {
      const { fee: _, ...json } = sampleOf(type)
      const parsed = parse(json)
      if (Either.isRight(parsed)) expect(parsed.right.fee).toBe(0)
      return Either.isRight(parsed)
    })
    expect(free).toEqual(["StakeTx", "UnstakeTx", "DelegateTx", "UndelegateTx", "SetCommissionTx"])
  })

  it("omits an empty memo", () => {
    const { memo: _, ...json } = sampleOf("Transfer")
    expect(JsonForm.toJson(Either.getOrThrow(parse({ ...json, memo: "" })))).not.toHaveProperty("memo")
    expect(Either.getOrThrow(parse(json)).id).toBe(Either.getOrThrow(parse({ ...json, memo: "" })).id)
  })
})

const hex = (bytes: number, of = "ab"): string => of.repeat(bytes)
const bech32 = (prefix: "udg" | "tudg"): string => Address.toBech32(hex(20) as Address.Address, prefix)

/** One valid transaction of each type, as a client would write it. */
const bodies: { readonly [T in Operation.Type]: object } = {
  Transfer: { to: hex(20), amount: 5, memo: "for lunch" },
  StakeTx: { amount: Sats.MIN_STAKE_SATS },
  UnstakeTx: {},
  DelegateTx: { validator: hex(20), amount: 100_000_000 },
  UndelegateTx: {},
  SetCommissionTx: { commission_percent: 5 },
  CreateProposalTx: {
    title: "Lower fees",
    description: "",
    proposal_type: { ParameterChange: { param: "min_fee_sats", value: 1 } },
  },
  VoteTx: { proposal_id: 1, vote: true },
  RegisterNameTx: { name: "alice" },
  SetAccountPolicyTx: { threshold: 1, keys: [hex(32)] },
  RotateKeyTx: { validator_key: hex(32), proof: hex(64) },
}
const sampleOf = (type: Operation.Type): Record<string, unknown> => ({
  type,
  from: hex(20),
  nonce: 0,
  fee: 1_000,
  pub_key: hex(32),
  signature: hex(64),
  ...bodies[type],
})

const without = (json: Record<string, unknown>, ...fields: ReadonlyArray<string>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(json).filter(([field]) => !fields.includes(field)))

const refusalOf = (input: unknown): JsonProblem => Option.getOrThrow(Either.getLeft(parse(input)))

describe("a transaction in JSON is refused with the field's name when", () => {
  const transfer = sampleOf("Transfer")
  const proposal = (proposal_type: unknown) => ({ ...sampleOf("CreateProposalTx"), proposal_type })
  const signatures = [{ pub_key: hex(32), signature: hex(64) }]

  it.each<[string, unknown, string]>([
    ["it is no object", "Transfer", "transaction"],
    ["it is a list", [transfer], "type"],
    ["the type is missing", without(transfer, "type"), "type"],
    ["the type is unknown", { ...transfer, type: "MintTx" }, "type"],
    ["the type is an inherited name", { ...transfer, type: "toString" }, "type"],
    ["a field is unknown", { ...transfer, gas: 1 }, "gas"],
    ["a field is __proto__", JSON.parse(JSON.stringify(transfer).replace("{", '{"__proto__":{},')), "__proto__"],
    ["a field of another type is there", { ...transfer, validator: hex(20) }, "validator"],
    ["a field is missing", without(transfer, "to"), "to"],
    ["the fee is missing where there must be one", without(transfer, "fee"), "fee"],
    ["the description is missing", without(sampleOf("CreateProposalTx"), "description"), "description"],
    ["a vote is no boolean", { ...sampleOf("VoteTx"), vote: 1 }, "vote"],
    ["the memo has a lone surrogate", { ...transfer, memo: "\ud83e" }, "memo"],
    ["the memo is over 256 bytes", { ...transfer, memo: "é".repeat(129) }, "memo"],
    ["the memo is null", { ...transfer, memo: null }, "memo"],
    ["the title is empty", { ...sampleOf("CreateProposalTx"), title: "" }, "title"],
    ["the title is over 128 bytes", { ...sampleOf("CreateProposalTx"), title: "x".repeat(129) }, "title"],
    [
      "the description is over 4096 bytes",
      { ...sampleOf("CreateProposalTx"), description: "x".repeat(4_097) },
      "description",
    ],
    ["the description has a lone surrogate", { ...sampleOf("CreateProposalTx"), description: "\udc00" }, "description"],
    ["the name has a capital", { ...sampleOf("RegisterNameTx"), name: "Alice" }, "name"],
    ["an address is of the other network", { ...transfer, to: bech32("udg") }, "to"],
    ["the sender is of the other network", { ...transfer, from: bech32("udg") }, "from"],
    ["an address is a name", { ...transfer, to: "@alice" }, "to"],
    ["an address is short", { ...transfer, to: hex(19) }, "to"],
    ["the validator is no address", { ...sampleOf("DelegateTx"), validator: "me" }, "validator"],
    ["the key is short", { ...transfer, pub_key: hex(31) }, "pub_key"],
    ["the key is no hex", { ...transfer, pub_key: hex(32, "xy") }, "pub_key"],
    ["the signature is short", { ...transfer, signature: hex(63) }, "signature"],
    ["the key is missing", without(transfer, "pub_key"), "pub_key"],
    ["the signature is missing", without(transfer, "signature"), "signature"],
    ["nobody signed", without(transfer, "pub_key", "signature"), "pub_key"],
    ["both forms of authorization are there", { ...transfer, signatures }, "signatures"],
    ["a lone key stands beside signatures", { ...without(transfer, "signature"), signatures }, "signatures"],
    ["a lone signature stands beside signatures", { ...without(transfer, "pub_key"), signatures }, "signatures"],
    ["there are no signatures", { ...without(transfer, "pub_key", "signature"), signatures: [] }, "signatures"],
    [
      "there are 17 signatures",
      { ...without(transfer, "pub_key", "signature"), signatures: new Array(17).fill(signatures[0]) },
      "signatures",
    ],
    [
      "a key signs twice",
      { ...without(transfer, "pub_key", "signature"), signatures: [...signatures, ...signatures] },
      "signatures",
    ],
    [
      "a signature is no hex",
      { ...without(transfer, "pub_key", "signature"), signatures: [{ pub_key: hex(32), signature: "" }] },
      "signatures[0].signature",
    ],
    ["a transfer moves nothing", { ...transfer, amount: 0 }, "amount"],
    ["a stake is below the minimum", { ...sampleOf("StakeTx"), amount: Sats.MIN_STAKE_SATS - 1 }, "amount"],
    ["the commission is 101", { ...sampleOf("SetCommissionTx"), commission_percent: 101 }, "commission_percent"],
    ["the policy has no keys", { ...sampleOf("SetAccountPolicyTx"), keys: [] }, "keys"],
    ["the policy has a key twice", { ...sampleOf("SetAccountPolicyTx"), keys: [hex(32), hex(32)] }, "keys"],
    ["a key of the policy is short", { ...sampleOf("SetAccountPolicyTx"), keys: [hex(32), hex(31)] }, "keys[1]"],
    ["the threshold is 0", { ...sampleOf("SetAccountPolicyTx"), threshold: 0 }, "threshold"],
    ["the threshold is above the keys", { ...sampleOf("SetAccountPolicyTx"), threshold: 2 }, "threshold"],
    ["the proposal is of two types", proposal({ Text: {}, TreasurySpend: {} }), "proposal_type"],
    ["the proposal is of no type", proposal({}), "proposal_type"],
    ["a text proposal has a field", proposal({ Text: { x: 1 } }), "proposal_type.Text"],
    ["a text proposal is a number", proposal({ Text: 5 }), "proposal_type.Text"],
    ["a text proposal is a list", proposal({ Text: [] }), "proposal_type.Text"],
    [
      "a new value is negative",
      proposal({ ParameterChange: { param: "min_fee_sats", value: -1 } }),
      "proposal_type.ParameterChange.value",
    ],
    [
      "a parameter has no name",
      proposal({ ParameterChange: { param: "", value: 1 } }),
      "proposal_type.ParameterChange.param",
    ],
    [
      "a council action is unknown",
      proposal({ CouncilMembership: { action: "promote", address: hex(20) } }),
      "proposal_type.CouncilMembership.action",
    ],
    [
      "who gets money of the treasury is of the other network",
      proposal({ TreasurySpend: { recipient: bech32("udg"), amount: 1 } }),
      "proposal_type.TreasurySpend.recipient",
    ],
    [
      "a council member is of the other network",
      proposal({ CouncilMembership: { action: "add", address: bech32("udg") } }),
      "proposal_type.CouncilMembership.address",
    ],
    [
      "the treasury is to spend nothing",
      proposal({ TreasurySpend: { recipient: hex(20), amount: 0 } }),
      "proposal_type.TreasurySpend.amount",
    ],
  ])("%s", (_, input, field) => {
    const refusal = refusalOf(input)
    expect(refusal.field).toBe(field)
    expect(refusal.reason).not.toBe("")
  })

  const numbers: ReadonlyArray<[Operation.Type, string]> = [
    ["Transfer", "amount"],
    ["Transfer", "fee"],
    ["Transfer", "nonce"],
    ["StakeTx", "amount"],
    ["UnstakeTx", "fee"],
    ["DelegateTx", "amount"],
    ["SetCommissionTx", "commission_percent"],
    ["VoteTx", "proposal_id"],
    ["SetAccountPolicyTx", "threshold"],
  ]
  it.each(numbers)("a number is anything but a fitting integer: %s %s", (type, field) => {
    for (const value of ["1", -1, -0, 1.5, 2 ** 53, 1e300, Number.NaN, null, true, [1], { value: 1 }]) {
      expect(refusalOf({ ...sampleOf(type), [field]: value }).field).toBe(field)
    }
    // The texts as JSON.parse reads them.
    const text = JSON.stringify({ ...sampleOf(type), [field]: 77_777 })
    for (const written of ["-0", "9007199254740993", "1e-7", '"1"', "0.1"]) {
      expect(refusalOf(JSON.parse(text.replace("77777", written))).field).toBe(field)
    }
  })

  it("a text proposal holds anything, with the allowed fields", () => {
    expect(refusalOf(proposal({ Text: { x: 1 } })).reason).toContain("an empty object")
  })

  it("the mainnet gets a testnet address", () => {
    const decoded = Either.getOrThrow(TransactionJson.decode({ ...transfer, to: bech32("tudg") }))
    const refused = Option.getOrThrow(Either.getLeft(JsonForm.fromJson(network, "udg", decoded)))
    expect(refused.reason).toContain("an address of the other network")
  })

  // A schema chooses the type of a transaction by a string, and these cannot become one.
  it.each([
    ["lists by the thousand", JSON.parse("[".repeat(20_000) + "]".repeat(20_000))],
    ["an object that is no string", { toString: 1, valueOf: 1 }],
  ])("the type is %s", (_, type) => {
    expect(refusalOf({ ...transfer, type }).field).toBe("transaction")
  })

  it("a field is long, with a short error", () => {
    const long = "x".repeat(60_000)
    for (const input of [
      { ...transfer, type: long },
      { ...transfer, [long]: 1 },
      { ...transfer, to: long },
    ]) {
      expect(refusalOf(input).reason.length).toBeLessThan(400)
    }
  })

  it("it is any other value, without throwing", () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.constantFrom(...Object.keys(bodies)),
        fc.constantFrom("to", "amount", "fee", "x"),
        (value, type, field) => {
          parse(value)
          parse({ ...sampleOf(type as Operation.Type), [field]: value })
        },
      ),
      { numRuns: 2_000 },
    )
  })
})

describe("the limits of texts", () => {
  it("are the same in JSON as in bytes", () => {
    const atLimit = { ...sampleOf("Transfer"), memo: "x".repeat(Limits.MEMO_BYTES) }
    expect(Either.isRight(parse(atLimit))).toBe(true)
  })
})
