/** Whether a transaction meets, when it is executed, what the door said of it in the same state. */
import type { Outcome } from "../../src/ledger/rules/Execution.js"
import type { Rejection } from "../../src/ledger/rules/Rejection.js"

/** Time breaks it between the door and the commit. */
const isTimely = (reason: Rejection): boolean => reason._tag === "InvalidTransaction" && reason.rule === "voting_ended"

/**
 * The two look at the rules in different orders: the door begins with the signature, execution with the nonce and with what
 * a failure would cost. So who breaks several may hear of either; who breaks one hears the same, to the letter.
 */
const isMet = (asked: Rejection | undefined, outcome: Outcome): boolean => {
  if (outcome._tag === "Applied") return asked === undefined
  const { reason } = outcome
  if (isTimely(reason) || JSON.stringify(asked) === JSON.stringify(reason)) return true
  if (outcome._tag === "Failed") return false
  switch (reason._tag) {
    // The door lets nonces be ahead.
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

/** Throws where they differ. Nothing may have come between the two. */
export const expectMet = (asked: Rejection | undefined, outcome: Outcome, what: unknown): void => {
  if (!isMet(asked, outcome))
    throw new Error(`the door and execution differ: ${JSON.stringify({ asked, outcome, what })}`)
}
