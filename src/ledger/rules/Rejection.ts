/** Why a transaction is rejected, at admission or at execution. The tags are the error codes of the RPC. */

import type { Name } from "../../protocol/identity/Name.js"
import type { Nonce, ProposalId } from "../../protocol/numbers/Natural.js"

export type Rejection =
  | { readonly _tag: "InvalidSignature"; readonly reason: string }
  | { readonly _tag: "NonceTooLow"; readonly nonce: Nonce; readonly next: Nonce }
  | { readonly _tag: "NonceTooHigh"; readonly nonce: Nonce; readonly next: Nonce }
  | { readonly _tag: "InsufficientBalance"; readonly needed: number; readonly available: number }
  | { readonly _tag: "InvalidTransaction"; readonly rule: Rule; readonly reason: string }
  | { readonly _tag: "NotAllowed"; readonly reason: string }
  | { readonly _tag: "ProposalNotFound"; readonly id: ProposalId }
  | { readonly _tag: "AlreadyVoted"; readonly id: ProposalId }
  | { readonly _tag: "NameTaken"; readonly name: Name }
  | { readonly _tag: "TooManyActiveProposals"; readonly limit: number; readonly of: "network" | "proposer" }

/** None if no rule forbids it. */
export type Verdict = Rejection | undefined

/** The rules that an `InvalidTransaction` names. */
export type Rule =
  | "fee_below_minimum"
  | "delegation_below_minimum"
  | "delegates_already"
  | "delegates_elsewhere"
  | "not_delegating"
  | "stakes_already"
  | "not_staking"
  | "leaving"
  | "barred"
  | "own_validator"
  | "validator_not_active"
  | "pool_shares"
  | "commission_set_this_epoch"
  | "has_a_name"
  | "unknown_parameter"
  | "parameter_out_of_bounds"
  | "no_voters"
  | "voting_ended"

export const invalid = (rule: Rule, reason: string): Rejection => ({ _tag: "InvalidTransaction", rule, reason })

export const notAllowed = (reason: string): Rejection => ({ _tag: "NotAllowed", reason })

export const insufficient = (needed: number, available: number): Rejection => ({
  _tag: "InsufficientBalance",
  needed,
  available: Math.max(0, available),
})

/** One line for people: what happened, the value found, and the value expected. */
export const describe = (rejection: Rejection): string => {
  switch (rejection._tag) {
    case "InvalidSignature":
    case "NotAllowed":
      return rejection.reason
    case "InvalidTransaction":
      return `${rejection.rule}: ${rejection.reason}`
    case "NonceTooLow":
      return `nonce ${rejection.nonce} is used already, the next one is ${rejection.next}`
    case "NonceTooHigh":
      return `nonce ${rejection.nonce} is too far ahead, the next one is ${rejection.next}`
    case "InsufficientBalance":
      return `${rejection.needed} sats needed, ${rejection.available} available`
    case "ProposalNotFound":
      return `no proposal ${rejection.id}`
    case "AlreadyVoted":
      return `this validator has voted on proposal ${rejection.id} already`
    case "NameTaken":
      return `the name ${rejection.name} is taken`
    case "TooManyActiveProposals":
      return rejection.of === "network"
        ? `${rejection.limit} proposals are active already, wait until one is decided`
        : `${rejection.limit} proposals of this account are active already, wait until one is decided`
  }
}
