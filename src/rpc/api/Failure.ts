/** The failures of this interface: its own and the server's. */
import { Schema } from "effect"
import {
  Anywhere,
  ForeignOrigin,
  failure,
  failureWith,
  InvalidRequest,
  integer,
  MethodNotAllowed,
  maybe,
  OfBody,
  PathNotFound,
  TooManyStreams,
  text,
} from "../../edge/definition/Failure.js"

export {
  Anywhere,
  BodyTooLarge,
  ForeignHost,
  ForeignOrigin,
  HeadersTooLarge,
  InternalError,
  InvalidRequest,
  MethodNotAllowed,
  OfBody,
  Overloaded,
  PathNotFound,
  RateLimited,
  RequestTimeout,
  ShuttingDown,
  TooManyStreams,
  Unavailable,
  UnsupportedMediaType,
} from "../../edge/definition/Failure.js"

export type Code = Failure["_tag"]

export class InvalidSignature extends failure("InvalidSignature", 400)(
  "A signature is invalid, or `from` is not the address of the key.",
  "Sign the exact bytes for this `network_id` with the account's keys.",
) {}

export class InvalidTransaction extends failureWith("InvalidTransaction", 400, {
  rule: text("the rule, for programs; the message says it in words"),
  field: maybe(text("the field that breaks the rule")),
})("A rule of the ledger forbids the transaction.", "Change what `rule` and `field` name.") {}

export class InsufficientBalance extends failureWith("InsufficientBalance", 400, {
  balance: integer("sats that the account can spend, pending transactions taken off"),
  required: integer("sats that the transaction needs"),
  pending: integer("sats that pending transactions take"),
})(
  "The balance, less what pending transactions take, does not cover amount and fee.",
  "Send less, or wait for incoming coins to be finalized.",
) {}

export class NonceTooLow extends failureWith("NonceTooLow", 400, { next_nonce: integer("the nonce to use") })(
  "The nonce was used by a finalized transaction.",
  "Check whether the payment is already finalized; if not, sign it again with `next_nonce`.",
) {}

export class NonceTooHigh extends failureWith("NonceTooHigh", 400, {
  next_nonce: integer("the account's next nonce"),
  max_nonce: integer("the highest nonce taken now"),
})("The nonce is too far ahead of the account's next one.", "Send the missing nonces first.") {}

export class NotAllowed extends failure("NotAllowed", 403)(
  "The account may not vote, has too little stake to propose, or has several keys.",
  "Use another account. For one with several keys, sign yourself and use `/tx/submit`.",
) {}

export class NameNotFound extends failure("NameNotFound", 404)(
  "No account has registered this @name.",
  "Check the spelling, or use the address.",
) {}

export class TransactionNotFound extends failureWith("TransactionNotFound", 404, {
  vertex_hash: maybe(text("the last finalized vertex that contains it, where it had no effect")),
  round: maybe(integer("round of that vertex")),
  reason: maybe(text("why it had no effect there")),
})(
  "No transaction with this hash is pending or applied. If a finalized vertex contains one that had no effect, `vertex_hash` and " +
    "`reason` name the vertex and the cause, as long as the node remembers.",
  "Check the hash. Sending the same transaction again is safe.",
) {}

export class DelegationNotFound extends failure("DelegationNotFound", 404)(
  "The account delegates to nobody.",
  "None: the delegation is 0.",
) {}

export class PolicyNotFound extends failure("PolicyNotFound", 404)(
  "The account has no policy: its own key alone signs for it.",
  "None: sign with the account's own key.",
) {}

export class ProposalNotFound extends failure("ProposalNotFound", 404)(
  "No proposal has this number.",
  "List the proposals at `/proposals`.",
) {}

export class RoundNotFound extends failureWith("RoundNotFound", 404, {
  reason: Schema.Literal("not_reached", "pruned"),
})(
  "The round is not reached yet, or its vertices are pruned: see `reason`.",
  "Wait for the round, or ask a gateway for a pruned one.",
) {}

export class VertexNotFound extends failure("VertexNotFound", 404)(
  "The node does not have this vertex: it is unknown or pruned.",
  "Check the hash, or ask a gateway for a pruned one.",
) {}

export class CheckpointNotFound extends failure("CheckpointNotFound", 404)(
  "The node has no such checkpoint with the signatures of a quorum.",
  "Ask for the latest one, or wait for the next.",
) {}

export class NoncePending extends failureWith("NoncePending", 409, {
  min_fee: integer("the least fee in sats that replaces the pending transaction"),
})(
  "Another transaction with this nonce is pending, and the fee is not enough to replace it.",
  "Pay at least `min_fee`, or use the next nonce.",
) {}

export class AccountThrottled extends failureWith("AccountThrottled", 409, {
  next_nonce: integer("the only nonce that the account may have pending now"),
  retry_after_seconds: integer("when one more is allowed even if none is executed, as in Retry-After"),
})(
  "Too many transactions of this account left the mempool without being executed. For now, only one may be pending.",
  "Wait for `retry_after_seconds`, and send only `next_nonce`.",
) {}

export class AlreadyVoted extends failure("AlreadyVoted", 409)(
  "The account has voted on this proposal.",
  "None: a vote is final.",
) {}

export class NameTaken extends failure("NameTaken", 409)(
  "Another account has registered the name.",
  "Choose another name.",
) {}

export class TooManyActiveProposals extends failureWith("TooManyActiveProposals", 409, {
  limit: integer("how many may be active"),
})("The network or the account has as many active proposals as allowed.", "Wait until one is decided.") {}

export class TestnetOnly extends failure("TestnetOnly", 410)(
  "The endpoint handles secret keys or free coins. Mainnets do not serve it.",
  "Sign the transaction yourself and send it to `/tx/submit`.",
) {}

export class MempoolFull extends failureWith("MempoolFull", 503, {
  capacity: integer("transactions that the mempool holds"),
})("The mempool is full of transactions that pay as much or more.", "Raise the fee, or try again later.", 1) {}

export class FaucetUnavailable extends failure("FaucetUnavailable", 503)(
  "This node has no faucet key, or the faucet's account is empty.",
  "Use a node that runs the faucet, or get coins from another account.",
) {}

export class NotReady extends failureWith("NotReady", 503, {
  reason: Schema.Literal("behind", "no_quorum", "signer", "halted"),
})(
  "The node is catching up with the network, waits for a quorum or its signer, or is about to end; `reason` says which.",
  "Ask another node, or wait until `/ready` answers 200.",
  5,
) {}

export class NotServed extends failure("NotServed", 501)(
  "This server does not answer such requests; the message names what does. A gateway takes no secret keys, and a node has no archive.",
  "Ask the kind of server that the message names.",
) {}

/** For paths that name an account. */
export const OfAccount = Schema.Union(InvalidRequest, NameNotFound)

/** The mempool's refusals for any transaction. */
export const OfSubmission = Schema.Union(
  InvalidTransaction,
  InsufficientBalance,
  NonceTooHigh,
  AccountThrottled,
  MempoolFull,
  NotReady,
)

/**
 * For endpoints that give away coins, keys or signatures: only on a testnet, only from a node, and not to arbitrary web
 * pages.
 */
export const OfTestnet = Schema.Union(TestnetOnly, ForeignOrigin, NotServed)

/** For endpoints where the node signs with a secret key from the request. */
export const OfConvenience = Schema.Union(OfBody, NotAllowed, NameNotFound, OfTestnet, OfSubmission)

const Failure = Schema.Union(
  OfConvenience,
  Anywhere,
  TooManyStreams,
  PathNotFound,
  MethodNotAllowed,
  InvalidSignature,
  NonceTooLow,
  NoncePending,
  AlreadyVoted,
  NameTaken,
  TooManyActiveProposals,
  TransactionNotFound,
  DelegationNotFound,
  PolicyNotFound,
  ProposalNotFound,
  RoundNotFound,
  VertexNotFound,
  CheckpointNotFound,
  FaucetUnavailable,
  NotServed,
)

export type Failure = typeof Failure.Type

export const schema = Failure

/** A cursor is valid only if this node issued it. */
export const badCursor = new InvalidRequest({
  message: "cursor: expected the next_cursor of the previous page",
  field: "cursor",
})
