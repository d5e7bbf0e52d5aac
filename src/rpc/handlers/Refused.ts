/** The mempool's refusal of a transaction, as the answer to its sender. */
import type { Refusal } from "../../ledger/pending/PendingTransactions.js"
import * as Rejection from "../../ledger/rules/Rejection.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import * as Words from "../../protocol/numbers/Words.js"
import * as Failure from "../api/Failure.js"

export type Refused = ReturnType<typeof fromRefusal>

/** The field that the user would change; none if the rule concerns the account rather than the request. */
const fieldOf = (rule: Rejection.Rule): { readonly field?: string } => {
  switch (rule) {
    case "fee_below_minimum":
      return { field: "fee" }
    case "delegation_below_minimum":
      return { field: "amount" }
    case "own_validator":
    case "validator_not_active":
    case "delegates_elsewhere":
      return { field: "validator" }
    case "unknown_parameter":
      return { field: "proposal_type.ParameterChange.param" }
    case "parameter_out_of_bounds":
      return { field: "proposal_type.ParameterChange.value" }
    case "key_in_use":
      return { field: "validator_key" }
    case "delegates_already":
    case "not_delegating":
    case "stakes_already":
    case "not_staking":
    case "leaving":
    case "barred":
    case "pool_shares":
    case "commission_set_this_epoch":
    case "has_a_name":
    case "no_voters":
    case "voting_ended":
    case "not_in_force":
    case "key_changed_recently":
      return {}
  }
}

const full = (limit: number, of: "pool" | "sender" | "peers"): string => {
  switch (of) {
    case "pool":
      return `the mempool is full: its ${limit} transactions pay as much or more; raise the fee, or try again later`
    case "sender":
      return `this account has reached the limit of ${limit} pending fee-exempt transactions; wait until one is finalized`
    case "peers":
      return `the limit of unpaid transactions from peers is reached; try again later`
  }
}

export const notReady = new Failure.NotReady({
  reason: "behind",
  message: "the node is still catching up with the network; try again later, or ask another node",
})

export const fromRefusal = (refusal: Refusal) => {
  switch (refusal._tag) {
    case "NotReady":
      return notReady
    case "MempoolFull":
      return new Failure.MempoolFull({ message: full(refusal.limit, refusal.of), capacity: refusal.limit })
    case "AccountThrottled":
      return new Failure.AccountThrottled({
        message:
          `too many transactions of this account were replaced or became invalid; until some are executed, ` +
          `only nonce ${refusal.next} can be pending, and it cannot be replaced`,
        next_nonce: refusal.next,
        retry_after_seconds: Math.ceil(refusal.waitMs / 1_000),
      })
    case "NoncePending":
      return new Failure.NoncePending({
        message: `a transaction with nonce ${refusal.nonce} is pending; a fee of at least ${Words.amount(refusal.minFee)} replaces it`,
        min_fee: refusal.minFee,
      })
  }
  const message = Rejection.describe(refusal)
  switch (refusal._tag) {
    case "InvalidSignature":
      return new Failure.InvalidSignature({ message })
    case "NotAllowed":
      return new Failure.NotAllowed({ message })
    case "ProposalNotFound":
      return new Failure.ProposalNotFound({ message })
    case "AlreadyVoted":
      return new Failure.AlreadyVoted({ message })
    case "NameTaken":
      return new Failure.NameTaken({ message })
    case "NonceTooLow":
      return new Failure.NonceTooLow({ message, next_nonce: refusal.next })
    case "NonceTooHigh":
      return new Failure.NonceTooHigh({
        message,
        next_nonce: refusal.next,
        max_nonce: refusal.next + Limits.NONCE_WINDOW - 1,
      })
    case "InsufficientBalance":
      return new Failure.InsufficientBalance({
        message,
        balance: refusal.available,
        required: refusal.needed,
        pending: refusal.bound,
      })
    case "InvalidTransaction":
      return new Failure.InvalidTransaction({ message, rule: refusal.rule, ...fieldOf(refusal.rule) })
    case "TooManyActiveProposals":
      return new Failure.TooManyActiveProposals({ message, limit: refusal.limit })
  }
}
