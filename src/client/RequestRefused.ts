import type * as Failure from "../rpc/api/Failure.js"

/** What the node refused, as an exception. */
export class RequestRefused extends Error {
  override readonly name = "RequestRefused"
  readonly code: Failure.Code
  /** All that the node said. */
  readonly failure: Failure.Failure

  constructor(failure: Failure.Failure) {
    super(failure.message)
    this.code = failure._tag
    this.failure = failure
  }
}
