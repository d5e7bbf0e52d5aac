/** What an operation costs, moves and concerns: one table and three functions that every other place derives from. */
import type { Address } from "../identity/Address.js"
import type { Parameters } from "../numbers/Parameters.js"
import * as Sats from "../numbers/Sats.js"
import type { Operation, Type } from "./Operation.js"
import type { Transaction } from "./Transaction.js"

/** The parameter that says the least fee; null for what is free when applied, so that fees keep nobody out of staking. */
const FEE: { readonly [T in Type]: "minFee" | "nameFee" | null } = {
  Transfer: "minFee",
  StakeTx: null,
  UnstakeTx: null,
  DelegateTx: null,
  UndelegateTx: null,
  SetCommissionTx: null,
  CreateProposalTx: "minFee",
  VoteTx: "minFee",
  RegisterNameTx: "nameFee",
  SetAccountPolicyTx: "minFee",
}

export const isExempt = (type: Type): boolean => FEE[type] === null

/** The least fee of this type, in sats; 0 where it is free. */
export const leastFee = (type: Type, prices: Pick<Parameters, "minFee" | "nameFee">): number => {
  const parameter = FEE[type]
  return parameter === null ? 0 : prices[parameter]
}

/** What the operation takes from the sender's balance besides the fee. */
export const amountOf = (operation: Operation, { proposalBond }: Pick<Parameters, "proposalBond">): Sats.Sats => {
  switch (operation._tag) {
    case "Transfer":
    case "StakeTx":
    case "DelegateTx":
      return operation.amount
    case "CreateProposalTx":
      return Sats.make(proposalBond)
    case "UnstakeTx":
    case "UndelegateTx":
    case "SetCommissionTx":
    case "VoteTx":
    case "RegisterNameTx":
    case "SetAccountPolicyTx":
      return Sats.ZERO
  }
}

/** Who is paid by it; nobody unless it is a transfer. */
export const recipientOf = (operation: Operation): Address | undefined =>
  operation._tag === "Transfer" ? operation.to : undefined

/** Whose history it belongs to. */
export const addressesOf = ({ from, operation }: Transaction): ReadonlyArray<Address> => {
  const recipient = recipientOf(operation)
  return recipient === undefined || recipient === from ? [from] : [from, recipient]
}
