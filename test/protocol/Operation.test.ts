import { Either } from "effect"
import { describe, expect, it } from "vitest"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import type { PublicKey } from "../../src/protocol/identity/Keys.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as Operation from "../../src/protocol/transaction/Operation.js"
import * as arbitrary from "./arbitraries.js"
import { itObeysTheLawsOfACodec } from "./codecLaws.js"

itObeysTheLawsOfACodec("operations", {
  values: arbitrary.operation,
  encode: (operation) =>
    Binary.encode((writer) => {
      writer.u8(Operation.TYPE_BYTE[operation._tag])
      Operation.write(writer, operation)
    }),
  decode: (bytes) => Binary.decode("operation", bytes, (reader) => Operation.read(reader, reader.u8())),
})

const someone = "00".repeat(20) as Address
const key = "01".repeat(32) as PublicKey
const policy = (threshold: number, keys: ReadonlyArray<PublicKey>): Operation.Operation => ({
  _tag: "SetAccountPolicyTx",
  threshold,
  keys,
})
const keys = (count: number): ReadonlyArray<PublicKey> =>
  Array.from({ length: count }, (_, i) => i.toString(16).padStart(64, "0") as PublicKey)

describe("an operation", () => {
  it.each<[Operation.Operation, string]>([
    [{ _tag: "Transfer", to: someone, amount: Sats.ZERO, memo: "" }, "amount must be at least 1"],
    [{ _tag: "DelegateTx", validator: someone, amount: Sats.ZERO }, "amount must be at least 1"],
    [
      { _tag: "StakeTx", amount: Sats.make(Sats.MIN_STAKE_SATS - 1) },
      "amount must be at least 2000 UDG (200000000000 sats)",
    ],
    [{ _tag: "SetCommissionTx", commissionPercent: 101 }, "commission_percent must be from 0 to 100"],
    [{ _tag: "CreateProposalTx", title: "", description: "", payload: { _tag: "Text" } }, "title must not be empty"],
    [policy(1, []), "keys must be 1 to 16 public keys"],
    [policy(1, keys(17)), "keys must be 1 to 16 public keys"],
    [policy(1, [key, key]), "keys must be distinct"],
    [policy(0, [key]), "threshold must be from 1 to the number of keys, 1"],
    [policy(3, keys(2)), "threshold must be from 1 to the number of keys, 2"],
    [
      {
        _tag: "CreateProposalTx",
        title: "t",
        description: "",
        payload: { _tag: "TreasurySpend", recipient: someone, amount: Sats.ZERO },
      },
      "proposal_type.TreasurySpend.amount must be at least 1",
    ],
  ])("that breaks a rule is reported and not decoded: %j", (operation, expected) => {
    const violation = Operation.violationOf(operation)
    expect(`${violation?.field} ${violation?.reason}`).toBe(expected)
    const bytes = Binary.encode((writer) => Operation.write(writer, operation))
    const decoded = Binary.decode("operation", bytes, (reader) =>
      Operation.read(reader, Operation.TYPE_BYTE[operation._tag]),
    )
    expect(Either.isLeft(decoded)).toBe(true)
  })

  it("breaks no rule with the maximum number of keys of a policy, all of which must sign", () => {
    expect(Operation.violationOf(policy(16, keys(16)))).toBeUndefined()
  })
})
