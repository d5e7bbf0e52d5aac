/** Names of the cases that a transaction covers, which a test counts. */
import type { Address } from "../../src/protocol/identity/Address.js"
import type { Operation } from "../../src/protocol/transaction/Operation.js"
import type { Transaction } from "../../src/protocol/transaction/Transaction.js"
import { type Accounts, type Holder, KINDS } from "./Accounts.js"
import { TYPES } from "./Transactions.js"

/** Operations that target an account. */
const TARGETED = ["Transfer", "DelegateTx", "CouncilMembership", "TreasurySpend"] as const

const VOTED = ["none", "Active", "Passed", "Rejected", "Executed", "Failed"] as const

const targetOf = (operation: Operation): readonly [(typeof TARGETED)[number], Address] | undefined => {
  switch (operation._tag) {
    case "Transfer":
      return ["Transfer", operation.to]
    case "DelegateTx":
      return ["DelegateTx", operation.validator]
    case "CreateProposalTx": {
      const { payload } = operation
      if (payload._tag === "CouncilMembership") return ["CouncilMembership", payload.address]
      return payload._tag === "TreasurySpend" ? ["TreasurySpend", payload.recipient] : undefined
    }
    default:
      return undefined
  }
}

const by = (what: string, kind: string): string => `${what} by an account ${kind}`
const to = (what: string, kind: string): string => `${what} to an account ${kind}`
const toItself = (what: string): string => `${what} to the account that sends it`
const onProposal = (status: string): string => `a vote on a proposal: ${status}`

/** All cases to cover. */
export const all: ReadonlyArray<string> = [
  ...TYPES.flatMap((type) => KINDS.map((kind) => by(type, kind))),
  ...TARGETED.flatMap((what) => [toItself(what), ...KINDS.map((kind) => to(what, kind))]),
  ...VOTED.map(onProposal),
]

/** The cases that this transaction covers, as the accounts are now. */
export const of = <P extends Holder>(
  { from, operation }: Transaction,
  accounts: Accounts<P>,
): ReadonlyArray<string> => {
  const target = targetOf(operation)
  const reached = accounts.kindsOf(from).map((kind) => by(operation._tag, kind))
  if (target !== undefined) {
    const [what, address] = target
    reached.push(...(address === from ? [toItself(what)] : accounts.kindsOf(address).map((kind) => to(what, kind))))
  }
  if (operation._tag === "VoteTx") {
    reached.push(onProposal(accounts.read.proposal(operation.proposalId)?.status ?? "none"))
  }
  return reached
}
