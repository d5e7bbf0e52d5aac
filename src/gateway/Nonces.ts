/** The nonces that a node can claim for an account in the archive's state; any other is a lie. */

import * as Limits from "../protocol/numbers/Limits.js"
import type { Nonce } from "../protocol/numbers/Natural.js"
import type * as Failure from "../rpc/api/Failure.js"

interface Account {
  readonly nonce: Nonce
}

/** Whether it can be the next one: at most a window of transactions is pending. */
export const isNear = ({ nonce }: Account, next: number): boolean => next <= nonce + Limits.NONCE_WINDOW

/** Whether a transaction with this nonce can be refused this way. */
export const mayRefuse = (
  account: Account,
  nonce: Nonce,
  refusal: Failure.NonceTooLow | Failure.NonceTooHigh,
): boolean => {
  const { next_nonce: next } = refusal
  if (!isNear(account, next)) return false
  return refusal._tag === "NonceTooLow"
    ? nonce < next
    : nonce >= next + Limits.NONCE_WINDOW && refusal.max_nonce === next + Limits.NONCE_WINDOW - 1
}
