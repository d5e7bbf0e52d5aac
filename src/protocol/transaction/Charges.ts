/** The cost of an operation, the amount it moves and the accounts it concerns, defined once for all callers. */
import type { Address } from "../identity/Address.js"
import type { Parameters } from "../numbers/Parameters.js"
import * as Sats from "../numbers/Sats.js"
import type { Operation, Type } from "./Operation.js"
import type { Transaction } from "./Transaction.js"

/**
 * The parameter that sets the minimum fee; null for operations that are free when applied, so that anyone can stake.
 */
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
  RotateKeyTx: "minFee",
}

export const isExempt = (type: Type): boolean => FEE[type] === null

/** The minimum fee of this type in sats, 0 if it is free, without the price of an account that a transfer creates. */
export const leastFee = (type: Type, prices: Pick<Parameters, "minFee" | "nameFee">): number => {
  const parameter = FEE[type]
  return parameter === null ? 0 : prices[parameter]
}

/** The minimum fee of a transfer to an account, depending on whether it exists. */
export const transferFee = (prices: Pick<Parameters, "minFee" | "accountFee">, exists: boolean): number =>
  prices.minFee + (exists ? 0 : prices.accountFee)

/** The amount that the operation takes from the sender's balance besides the fee. */
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
    case "RotateKeyTx":
      return Sats.ZERO
  }
}

export const recipientOf = (operation: Operation): Address | undefined =>
  operation._tag === "Transfer" ? operation.to : undefined

export const addressesOf = ({ from, operation }: Pick<Transaction, "from" | "operation">): ReadonlyArray<Address> => {
  const recipient = recipientOf(operation)
  return recipient === undefined || recipient === from ? [from] : [from, recipient]
}
