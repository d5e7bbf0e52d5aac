import type * as Failure from "../rpc/api/Failure.js"

/** A refusal of the node as an exception. */
export class RequestRefused extends Error {
  override readonly name = "RequestRefused"
  readonly code: Failure.Code
  /** The node's complete answer. */
  readonly failure: Failure.Failure

  constructor(failure: Failure.Failure) {
    super(failure.message)
    this.code = failure._tag
    this.failure = failure
  }
}
