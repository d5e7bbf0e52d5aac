/** Which nonces a node can name for an account that is as the archive has it: others are the invention of one that lies. */

import * as Limits from "../protocol/numbers/Limits.js"
import type { Nonce } from "../protocol/numbers/Natural.js"
import type * as Failure from "../rpc/api/Failure.js"

interface Account {
  readonly nonce: Nonce
}

/** Whether it may be the next one: no more than a window of transactions is pending. */
export const isNear = ({ nonce }: Account, next: number): boolean => next <= nonce + Limits.NONCE_WINDOW

/** Whether a transaction with this nonce may be refused so. */
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
