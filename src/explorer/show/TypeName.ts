/** Names of transaction types for people. The HTTP interface and files keep the protocol's names. */
import type { Type } from "../../protocol/transaction/Operation.js"

const names: Readonly<Record<Type, string>> = {
  Transfer: "Transfer",
  StakeTx: "Stake",
  UnstakeTx: "Unstake",
  DelegateTx: "Delegate",
  UndelegateTx: "Undelegate",
  SetCommissionTx: "Set commission",
  CreateProposalTx: "Propose",
  VoteTx: "Vote",
  RegisterNameTx: "Register name",
  SetAccountPolicyTx: "Set signers",
  RotateKeyTx: "Change validator key",
}

export const of = (type: Type): string => names[type]
