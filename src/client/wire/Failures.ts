/** All failures of the client and the wallet. Each is an `Error` with a distinct `name`. */
import type { Hash } from "../../protocol/numbers/Kinds.js"
import type { Failure } from "./Interface.js"

/** The node refused the request and gave a reason. */
export class RequestRefused extends Error {
  override readonly name = "RequestRefused"
  readonly code: Failure["_tag"]
  /** The node's complete answer. */
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.message)
    this.code = failure._tag
    this.failure = failure
  }
}

/**
 * The arguments do not form a valid request or transaction. Nothing was sent; the message names the field and the
 * reason.
 */
export class InvalidInput extends Error {
  override readonly name = "InvalidInput"
}

/** No answer came; `cause` has the error of `fetch`. The node may have carried out the request all the same. */
export class Unreachable extends Error {
  override readonly name = "Unreachable"
}

/**
 * The answer is not that of a compatible node: it is not JSON, not an answer of the endpoint, or of a later interface.
 */
export class UnexpectedAnswer extends Error {
  override readonly name = "UnexpectedAnswer"
  readonly status: number
  readonly reason: string

  constructor(status: number, reason: string) {
    super(`unexpected answer from the node (status ${status}): ${reason}`)
    this.status = status
    this.reason = reason
  }
}

/** An answer that cannot be true, such as one about another account or transaction. The node lies. */
export class FalseAnswer extends UnexpectedAnswer {}

/**
 * Why a transaction was not applied, or not yet:
 *
 * - `NotFound`: the node does not know it.
 * - `Expired`: it is no longer pending, because it was replaced, evicted or too old.
 * - `NoEffect`: a finalized vertex contains it, but its nonce was used or its keys had changed; nothing was charged.
 * - `Failed`: it is final, but only its fee was charged; `outcome.failure` says why.
 * - `Deadline`: it is not final in time, and may still become so.
 */
export type Unsettled = "NotFound" | "Expired" | "NoEffect" | "Failed" | "Deadline"

export class NotApplied<Outcome = unknown> extends Error {
  override readonly name = "NotApplied"
  readonly code: Unsettled
  readonly hash: Hash
  /** The node's last answer that knew the transaction. */
  readonly outcome: Outcome | undefined

  constructor(code: Unsettled, hash: Hash, reason: string, outcome?: Outcome) {
    super(reason)
    this.code = code
    this.hash = hash
    this.outcome = outcome
  }
}
