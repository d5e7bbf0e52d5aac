/** Why a transaction is rejected, at admission or at execution. The tags are the API's error codes. */

import type { Name } from "../../protocol/identity/Name.js"
import type { Nonce, ProposalId } from "../../protocol/numbers/Natural.js"
import * as Words from "../../protocol/numbers/Words.js"

export type Rejection =
  | { readonly _tag: "InvalidSignature"; readonly reason: string }
  | { readonly _tag: "NonceTooLow"; readonly nonce: Nonce; readonly next: Nonce }
  | { readonly _tag: "NonceTooHigh"; readonly nonce: Nonce; readonly next: Nonce }
  /** `bound`: the part of the balance reserved by the account's pending transactions, which is not available. */
  | {
      readonly _tag: "InsufficientBalance"
      readonly needed: number
      readonly available: number
      readonly bound: number
    }
  | { readonly _tag: "InvalidTransaction"; readonly rule: Rule; readonly reason: string }
  | { readonly _tag: "NotAllowed"; readonly reason: string }
  | { readonly _tag: "ProposalNotFound"; readonly id: ProposalId }
  | { readonly _tag: "AlreadyVoted"; readonly id: ProposalId }
  | { readonly _tag: "NameTaken"; readonly name: Name }
  | { readonly _tag: "TooManyActiveProposals"; readonly limit: number; readonly of: "network" | "proposer" }

/** Undefined if no rule forbids it. */
export type Verdict = Rejection | undefined

export const RULES = [
  "fee_below_minimum",
  "delegation_below_minimum",
  "delegates_already",
  "delegates_elsewhere",
  "not_delegating",
  "stakes_already",
  "not_staking",
  "leaving",
  "barred",
  "own_validator",
  "validator_not_active",
  "pool_shares",
  "commission_set_this_epoch",
  "has_a_name",
  "unknown_parameter",
  "parameter_out_of_bounds",
  "no_voters",
  "voting_ended",
  "not_in_force",
  "key_in_use",
  "key_changed_recently",
] as const

export type Rule = (typeof RULES)[number]

export const invalid = (rule: Rule, reason: string): Rejection => ({ _tag: "InvalidTransaction", rule, reason })

export const notAllowed = (reason: string): Rejection => ({ _tag: "NotAllowed", reason })

export const insufficient = (needed: number, balance: number, bound = 0): Rejection => ({
  _tag: "InsufficientBalance",
  needed,
  available: Math.max(0, balance - bound),
  bound,
})

const shortage = (needed: number, available: number, bound: number): string => {
  const found = `${Words.amount(needed)} needed, ${Words.amount(available)} available`
  return bound === 0 ? found : `${found}; pending transactions of the account take ${Words.amount(bound)}`
}

/** One line for people: what happened, the value found, and the value expected. */
export const describe = (rejection: Rejection): string => {
  switch (rejection._tag) {
    case "InvalidSignature":
    case "NotAllowed":
    case "InvalidTransaction":
      return rejection.reason
    case "NonceTooLow":
      return `nonce ${rejection.nonce} is already used; the next one is ${rejection.next}`
    case "NonceTooHigh":
      return `nonce ${rejection.nonce} is too far ahead; the next one is ${rejection.next}`
    case "InsufficientBalance":
      return shortage(rejection.needed, rejection.available, rejection.bound)
    case "ProposalNotFound":
      return `proposal ${rejection.id} does not exist`
    case "AlreadyVoted":
      return `this validator has already voted on proposal ${rejection.id}`
    case "NameTaken":
      return `the name ${rejection.name} is taken`
    case "TooManyActiveProposals":
      return `${rejection.of === "network" ? "the network" : "an account"} can have at most ${Words.counted(rejection.limit, "active proposal")} at a time; wait until one is decided`
  }
}
