/**
 * Every answer other than the one that was asked for. A failure is a class: its tag is the `code` of the
 * wire, its message the `error`, its status belongs to the class. They are plain values, not JavaScript errors, because
 * a refusal is an answer like any other and needs no stack.
 */
import { HttpApiSchema } from "@effect/platform"
import { Schema } from "effect"

/** Every code of this interface. */
export type Code = Failure["_tag"]

const body = <const Code extends string>(code: Code) => ({
  _tag: Schema.propertySignature(Schema.Literal(code)).pipe(
    Schema.withConstructorDefault(() => code),
    Schema.fromKey("code"),
  ),
  message: Schema.propertySignature(Schema.String)
    .annotations({ description: "what happened and what was expected, in one line" })
    .pipe(Schema.fromKey("error")),
})

/** The class on the wire: its name there, its status, and when it is answered. */
const answers = (code: string, status: number, when: string) =>
  [undefined, { identifier: code, description: when, [HttpApiSchema.AnnotationStatus]: status }] as const

/** A number that the node made; its description is placed where a renamed field beside it cannot hide it. */
const integer = (about: string) =>
  Schema.Number.annotations({ jsonSchema: { type: "integer", minimum: 0, description: about } })
const text = (about: string) => Schema.String.annotations({ description: about })
const maybe = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

export class InvalidRequest extends Schema.Class<InvalidRequest>("InvalidRequest")(
  { ...body("InvalidRequest"), field: maybe(text("the field that is wrong, as a path such as proposal_type.Text")) },
  answers("InvalidRequest", 400, "The request is not HTTP, not JSON, or a field of it is not what it should be."),
) {}

export class InvalidSignature extends Schema.Class<InvalidSignature>("InvalidSignature")(
  body("InvalidSignature"),
  answers("InvalidSignature", 400, "A signature does not hold, or `from` is not the address of the key."),
) {}

export class InvalidTransaction extends Schema.Class<InvalidTransaction>("InvalidTransaction")(
  { ...body("InvalidTransaction"), field: maybe(text("the field that breaks the rule")) },
  answers("InvalidTransaction", 400, "A rule of the ledger forbids the transaction; the message names the rule."),
) {}

export class InsufficientBalance extends Schema.Class<InsufficientBalance>("InsufficientBalance")(
  {
    ...body("InsufficientBalance"),
    balance: integer("sats that the account can spend, pending transactions taken off"),
    required: integer("sats that the transaction needs"),
  },
  answers("InsufficientBalance", 400, "The account cannot pay amount and fee on top of what it has pending."),
) {}

export class NonceTooLow extends Schema.Class<NonceTooLow>("NonceTooLow")(
  { ...body("NonceTooLow"), next_nonce: integer("the nonce to use") },
  answers("NonceTooLow", 400, "The nonce was used by a finalized transaction."),
) {}

export class NonceTooHigh extends Schema.Class<NonceTooHigh>("NonceTooHigh")(
  {
    ...body("NonceTooHigh"),
    next_nonce: integer("the account's next nonce"),
    max_nonce: integer("the highest nonce taken now"),
  },
  answers("NonceTooHigh", 400, "The nonce is too far ahead of the account's next one."),
) {}

export class NotAllowed extends Schema.Class<NotAllowed>("NotAllowed")(
  body("NotAllowed"),
  answers("NotAllowed", 403, "The account may not do this: no vote, no stake to propose, or a smart account."),
) {}

export class ForeignHost extends Schema.Class<ForeignHost>("ForeignHost")(
  body("ForeignHost"),
  answers(
    "ForeignHost",
    403,
    "The node serves its own machine only, and `Host` is a name of somebody else, as after DNS rebinding.",
  ),
) {}

export class ForeignOrigin extends Schema.Class<ForeignOrigin>("ForeignOrigin")(
  body("ForeignOrigin"),
  answers(
    "ForeignOrigin",
    403,
    "The node serves its own machine only, and a web page from elsewhere asks for coins, keys or signatures.",
  ),
) {}

export class PathNotFound extends Schema.Class<PathNotFound>("PathNotFound")(
  body("PathNotFound"),
  answers("PathNotFound", 404, "There is no such path."),
) {}

export class NameNotFound extends Schema.Class<NameNotFound>("NameNotFound")(
  body("NameNotFound"),
  answers("NameNotFound", 404, "Nobody registered that @name."),
) {}

export class TransactionNotFound extends Schema.Class<TransactionNotFound>("TransactionNotFound")(
  body("TransactionNotFound"),
  answers("TransactionNotFound", 404, "No transaction with that hash is pending or finalized."),
) {}

export class DelegationNotFound extends Schema.Class<DelegationNotFound>("DelegationNotFound")(
  body("DelegationNotFound"),
  answers("DelegationNotFound", 404, "The account delegates to nobody."),
) {}

export class PolicyNotFound extends Schema.Class<PolicyNotFound>("PolicyNotFound")(
  body("PolicyNotFound"),
  answers("PolicyNotFound", 404, "The account has no policy: its own key alone signs for it."),
) {}

export class ProposalNotFound extends Schema.Class<ProposalNotFound>("ProposalNotFound")(
  body("ProposalNotFound"),
  answers("ProposalNotFound", 404, "There is no proposal with that number."),
) {}

export class RoundNotFound extends Schema.Class<RoundNotFound>("RoundNotFound")(
  { ...body("RoundNotFound"), reason: Schema.Literal("not_reached", "pruned") },
  answers("RoundNotFound", 404, "The round is not reached yet, or its vertices are pruned; `reason` says which."),
) {}

export class VertexNotFound extends Schema.Class<VertexNotFound>("VertexNotFound")(
  body("VertexNotFound"),
  answers("VertexNotFound", 404, "The node has no vertex with that hash, or no longer."),
) {}

export class CheckpointNotFound extends Schema.Class<CheckpointNotFound>("CheckpointNotFound")(
  body("CheckpointNotFound"),
  answers("CheckpointNotFound", 404, "The node has no quorum checkpoint of that round."),
) {}

export class MethodNotAllowed extends Schema.Class<MethodNotAllowed>("MethodNotAllowed")(
  { ...body("MethodNotAllowed"), allowed: Schema.Array(Schema.String) },
  answers("MethodNotAllowed", 405, "The path exists, but not with this method; see `Allow`."),
) {}

export class RequestTimeout extends Schema.Class<RequestTimeout>("RequestTimeout")(
  body("RequestTimeout"),
  answers("RequestTimeout", 408, "The request did not arrive completely in time."),
) {}

export class NoncePending extends Schema.Class<NoncePending>("NoncePending")(
  { ...body("NoncePending"), min_fee: integer("the least fee in sats that replaces the pending transaction") },
  answers(
    "NoncePending",
    409,
    "Another transaction with this nonce is pending, and the fee is not enough to replace it.",
  ),
) {}

export class AlreadyVoted extends Schema.Class<AlreadyVoted>("AlreadyVoted")(
  body("AlreadyVoted"),
  answers("AlreadyVoted", 409, "The account has voted on this proposal."),
) {}

export class NameTaken extends Schema.Class<NameTaken>("NameTaken")(
  body("NameTaken"),
  answers("NameTaken", 409, "Somebody registered that name."),
) {}

export class TooManyActiveProposals extends Schema.Class<TooManyActiveProposals>("TooManyActiveProposals")(
  { ...body("TooManyActiveProposals"), limit: integer("how many may be active") },
  answers("TooManyActiveProposals", 409, "As many proposals are active as may be."),
) {}

export class TestnetOnly extends Schema.Class<TestnetOnly>("TestnetOnly")(
  body("TestnetOnly"),
  answers("TestnetOnly", 410, "The endpoint takes or gives secret keys or free coins, and this is a mainnet."),
) {}

export class BodyTooLarge extends Schema.Class<BodyTooLarge>("BodyTooLarge")(
  { ...body("BodyTooLarge"), limit: integer("bytes that a body may have") },
  answers("BodyTooLarge", 413, "The body is larger than allowed."),
) {}

export class UnsupportedMediaType extends Schema.Class<UnsupportedMediaType>("UnsupportedMediaType")(
  body("UnsupportedMediaType"),
  answers("UnsupportedMediaType", 415, "The body is not declared as application/json."),
) {}

export class RateLimited extends Schema.Class<RateLimited>("RateLimited")(
  {
    ...body("RateLimited"),
    limit: integer("requests in a window"),
    window_seconds: integer("length of the window"),
    retry_after_seconds: integer("when to ask again, as in Retry-After"),
  },
  answers("RateLimited", 429, "Too many requests from this client; see Retry-After."),
) {}

export class TooManyStreams extends Schema.Class<TooManyStreams>("TooManyStreams")(
  {
    ...body("TooManyStreams"),
    limit: integer("event streams that one client may have open"),
    retry_after_seconds: integer("when to ask again, as in Retry-After"),
  },
  answers("TooManyStreams", 429, "This client has as many event streams open as one may have."),
) {}

export class HeadersTooLarge extends Schema.Class<HeadersTooLarge>("HeadersTooLarge")(
  body("HeadersTooLarge"),
  answers("HeadersTooLarge", 431, "The request line and headers are larger than allowed."),
) {}

export class InternalError extends Schema.Class<InternalError>("InternalError")(
  body("InternalError"),
  answers("InternalError", 500, "A bug of the node; its log has the cause."),
) {}

export class MempoolFull extends Schema.Class<MempoolFull>("MempoolFull")(
  { ...body("MempoolFull"), capacity: integer("transactions that the mempool holds") },
  answers("MempoolFull", 503, "The mempool is full of transactions that pay as much or more."),
) {}

export class FaucetUnavailable extends Schema.Class<FaucetUnavailable>("FaucetUnavailable")(
  body("FaucetUnavailable"),
  answers("FaucetUnavailable", 503, "This node has no faucet key, or the faucet's account is empty."),
) {}

export class NotReady extends Schema.Class<NotReady>("NotReady")(
  body("NotReady"),
  answers("NotReady", 503, "The node is still catching up with the network."),
) {}

export class Overloaded extends Schema.Class<Overloaded>("Overloaded")(
  { ...body("Overloaded"), retry_after_seconds: integer("when to ask again, as in Retry-After") },
  answers("Overloaded", 503, "The node holds as many unfinished requests or event streams as it can."),
) {}

export class ShuttingDown extends Schema.Class<ShuttingDown>("ShuttingDown")(
  body("ShuttingDown"),
  answers("ShuttingDown", 503, "The node is stopping."),
) {}

/** On any endpoint, for any client. */
export const Anywhere = Schema.Union(ForeignHost, RateLimited, InternalError, ShuttingDown)

/** Where a request has a body. */
export const OfBody = Schema.Union(InvalidRequest, RequestTimeout, BodyTooLarge, UnsupportedMediaType, Overloaded)

/** Where an account is named in the path. */
export const OfAccount = Schema.Union(InvalidRequest, NameNotFound)

/** What the mempool may say to any transaction. */
export const OfSubmission = Schema.Union(InvalidTransaction, InsufficientBalance, NonceTooHigh, MempoolFull, NotReady)

/** Where coins, keys or signatures are given away: on a testnet, and not to any web page. */
export const OfTestnet = Schema.Union(TestnetOnly, ForeignOrigin)

/** Where the node makes and signs the transaction with a secret key that the request brings. */
export const OfConvenience = Schema.Union(OfBody, NotAllowed, NameNotFound, OfTestnet, OfSubmission)

const Failure = Schema.Union(
  OfConvenience,
  Anywhere,
  TooManyStreams,
  PathNotFound,
  MethodNotAllowed,
  HeadersTooLarge,
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
)

export type Failure = typeof Failure.Type

/** The schema of any failure. */
export const schema = Failure
