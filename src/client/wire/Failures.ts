/** Everything with which a call of the client or the wallet may fail. Each is an `Error` with a `name` to tell it by. */
import type { Hash } from "../../protocol/numbers/Kinds.js"
import type { Failure } from "./Interface.js"

/** The node refused the request, and says why. */
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

/** The arguments make no valid request or transaction, so nothing was sent; the message names the field and the reason. */
export class InvalidInput extends Error {
  override readonly name = "InvalidInput"
}

/** No answer came, and `cause` is what `fetch` said. The node may have carried out the request all the same. */
export class Unreachable extends Error {
  override readonly name = "Unreachable"
}

/** What came is no answer of a node: not JSON, not what the endpoint answers, or not of the interface that this client knows. */
export class UnexpectedAnswer extends Error {
  override readonly name = "UnexpectedAnswer"
  readonly status: number
  readonly reason: string

  constructor(status: number, reason: string) {
    super(`not the answer of a node (status ${status}): ${reason}`)
    this.status = status
    this.reason = reason
  }
}

/** An answer that cannot be true: it is about something else than was asked for or sent, and comes from a node that lies. */
export class FalseAnswer extends UnexpectedAnswer {}

/**
 * Why a transaction was not applied, or not yet:
 *
 * - `NotFound`: the node does not know it.
 * - `Expired`: it was pending and is no longer: replaced, displaced by others, or too old.
 * - `NoEffect`: a finalized vertex carries it, but its nonce was used or its keys had changed; nothing was charged.
 * - `Failed`: it is final, but only its fee was taken; `outcome.failure` says why.
 * - `Deadline`: it is not final in time, and may still become so.
 */
export type Unsettled = "NotFound" | "Expired" | "NoEffect" | "Failed" | "Deadline"

/** The transaction that was waited for was not applied. */
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
