/** Whether the execution of a transaction agrees with the admission check in the same state. */
import type { Outcome } from "../../src/ledger/rules/Execution.js"
import type { Rejection } from "../../src/ledger/rules/Rejection.js"

/** The rule can be broken merely because time passes between admission and commit. */
const isTimely = (reason: Rejection): boolean => reason._tag === "InvalidTransaction" && reason.rule === "voting_ended"

/**
 * The two check the rules in different orders: admission begins with the signature, execution with the nonce and the
 * cost of a failure. So a transaction that breaks several rules can get either reason; one that breaks a single rule
 * gets exactly the same.
 */
const isMet = (asked: Rejection | undefined, outcome: Outcome): boolean => {
  if (outcome._tag === "Applied") return asked === undefined
  const { reason } = outcome
  if (isTimely(reason) || JSON.stringify(asked) === JSON.stringify(reason)) return true
  if (outcome._tag === "Failed") return false
  switch (reason._tag) {
    // Admission accepts nonces that are ahead.
    case "NonceTooHigh":
      return asked?._tag !== "NonceTooLow"
    case "NonceTooLow":
      return asked?._tag === "InvalidSignature"
    case "InsufficientBalance":
    case "InvalidTransaction":
      return asked !== undefined && asked._tag !== "NonceTooLow" && asked._tag !== "NonceTooHigh"
    default:
      return false
  }
}

/** Throws if the two disagree. No change of the state may come in between. */
export const expectMet = (asked: Rejection | undefined, outcome: Outcome, what: unknown): void => {
  if (!isMet(asked, outcome))
    throw new Error(`the door and execution differ: ${JSON.stringify({ asked, outcome, what })}`)
}
