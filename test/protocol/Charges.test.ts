import { describe, expect, it } from "vitest"
import type { Address } from "../../src/protocol/identity/Address.js"
import type { PublicKey, Signature } from "../../src/protocol/identity/Keys.js"
import type { Name } from "../../src/protocol/identity/Name.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as Charges from "../../src/protocol/transaction/Charges.js"
import type * as Operation from "../../src/protocol/transaction/Operation.js"

const alice = "a1".repeat(20) as Address
const bob = "b0".repeat(20) as Address
const prices = { minFee: 7, nameFee: 11, proposalBond: 13 }
const payload = { _tag: "TreasurySpend", recipient: bob, amount: Sats.make(99) } as const

/** One of each type, with the minimum fee and its other cost at these prices. */
const table: { readonly [T in Operation.Type]: readonly [Extract<Operation.Operation, { _tag: T }>, number, number] } =
  {
    Transfer: [{ _tag: "Transfer", to: bob, amount: Sats.make(5), memo: "" }, 7, 5],
    StakeTx: [{ _tag: "StakeTx", amount: Sats.make(6) }, 0, 6],
    UnstakeTx: [{ _tag: "UnstakeTx" }, 0, 0],
    DelegateTx: [{ _tag: "DelegateTx", validator: bob, amount: Sats.make(8) }, 0, 8],
    UndelegateTx: [{ _tag: "UndelegateTx" }, 0, 0],
    SetCommissionTx: [{ _tag: "SetCommissionTx", commissionPercent: 5 }, 0, 0],
    CreateProposalTx: [{ _tag: "CreateProposalTx", title: "t", description: "", payload }, 7, 13],
    VoteTx: [{ _tag: "VoteTx", proposalId: Natural.proposalId(3), vote: true }, 7, 0],
    RegisterNameTx: [{ _tag: "RegisterNameTx", name: "alice" as Name }, 11, 0],
    SetAccountPolicyTx: [{ _tag: "SetAccountPolicyTx", threshold: 1, keys: ["c2".repeat(32) as PublicKey] }, 7, 0],
    RotateKeyTx: [
      { _tag: "RotateKeyTx", validatorKey: "c2".repeat(32) as PublicKey, proof: "5".repeat(128) as Signature },
      7,
      0,
    ],
  }

describe("an operation", () => {
  it.each(Object.values(table))(
    "costs its least fee and takes its amount or bond: %j, %d, %d",
    (operation, fee, taken) => {
      expect(Charges.leastFee(operation._tag, prices)).toBe(fee)
      expect(Charges.amountOf(operation, prices)).toBe(taken)
    },
  )

  it("is free of fees exactly for stakes, delegations and commissions", () => {
    const types = Object.keys(table) as ReadonlyArray<Operation.Type>
    expect(types.filter(Charges.isExempt)).toEqual([
      "StakeTx",
      "UnstakeTx",
      "DelegateTx",
      "UndelegateTx",
      "SetCommissionTx",
    ])
  })

  it("belongs to the sender's history and, for a transfer, to the recipient's", () => {
    const historiesOf = (operation: Operation.Operation) => Charges.addressesOf({ from: alice, operation })
    expect(historiesOf(table.Transfer[0])).toEqual([alice, bob])
    expect(historiesOf({ ...table.Transfer[0], to: alice })).toEqual([alice])
    expect(historiesOf(table.DelegateTx[0])).toEqual([alice])
    expect(historiesOf(table.UnstakeTx[0])).toEqual([alice])
  })
})
