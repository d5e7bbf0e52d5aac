import { OpenApi } from "@effect/platform"
import { Schema } from "effect"
import * as Rules from "../../edge/definition/Rules.js"
import * as Group from "../../effect3/http/Group.js"
import * as Text from "../../protocol/encoding/Text.js"
import * as Hash from "../../protocol/identity/Hash.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import type { Type } from "../../protocol/transaction/Operation.js"
import * as TransactionJson from "../../protocol/transaction/TransactionJson.js"
import * as Access from "./Access.js"
import { TransactionType } from "./Core.js"
import * as Failure from "./Failure.js"
import * as Field from "./Field.js"
import { statement } from "./Statement.js"

const { example } = Field

const accepted = {
  tx_hash: Field.hash("the transaction, for GET /tx/:hash"),
  status: Field.of(Schema.Literal("accepted"), "it is in the mempool"),
  nonce: Field.nonce("the nonce it uses"),
}

export const Accepted = Field.record("Accepted", "an accepted transaction", Schema.Struct(accepted), {
  tx_hash: example.hash,
  status: "accepted",
  nonce: 7,
})

export const TransferRequest = Field.record(
  "TransferRequest",
  "a transfer that the node signs",
  Schema.Struct({
    secret_key: Field.secretKey,
    to: Field.account("the recipient"),
    amount: Field.sats("sats, at least 1"),
    fee: Field.sats("sats, at least the network's min_fee_sats"),
    memo: Field.optional(Text.schema(0, Limits.MEMO_BYTES), "text for the recipient, at most 256 bytes in UTF-8"),
  }),
  { secret_key: example.secretKey, to: "@alice", amount: 100_000_000, fee: 1000 },
)

const signedTransfer = {
  type: "Transfer",
  from: example.address,
  to: example.other,
  amount: 100_000_000,
  fee: 1000,
  nonce: 7,
  pub_key: example.publicKey,
  signature: example.signature,
} as const

export const Signed = Field.record(
  "Transaction",
  "a signed transaction",
  TransactionJson.TransactionJson,
  signedTransfer,
)

export const maximumTransactions = 1_000

export const Submission = Field.record(
  "Submission",
  "a signed transaction, or an array of up to 1,000",
  Schema.Union(
    Signed,
    Schema.Array(Signed).pipe(
      Schema.minItems(1),
      Schema.maxItems(maximumTransactions, { description: "transactions, judged separately" }),
    ),
  ),
  signedTransfer,
)

export const SubmissionAnswer = Schema.Union(
  Schema.Struct({ status_code: Schema.Literal(200), ...accepted }).annotations({ identifier: "AcceptedAnswer" }),
  Schema.Struct(
    {
      status_code: Field.of(Natural.between(400, 599, "a status"), "the transaction's status if submitted alone"),
      code: Field.text("as in any error"),
      error: Field.text("as in any error"),
    },
    Schema.Record({ key: Schema.String, value: Schema.Unknown }),
  ).annotations({ identifier: "RefusedAnswer" }),
).annotations({
  identifier: "SubmissionAnswer",
  description: "the answer for one transaction of an array, as if submitted alone",
})

export const SubmissionAnswers = Schema.Array(SubmissionAnswer).annotations({
  identifier: "SubmissionAnswers",
  description: "one answer for each transaction, in their order",
})

const outcome = {
  status: Field.of(Schema.Literal("pending", "finalized"), "finalized: on disk and reflected by every other read"),
  round: Field.roundOrNull("round of its vertex; null while pending"),
  vertex_hash: Field.hashOrNull("its vertex; null while pending"),
  validator: Field.addressOrNull("validator of that vertex; null while pending"),
  applied: Field.of(Schema.NullOr(Schema.Boolean), "false: only the fee was taken; null while pending"),
  failure: Field.textOrNull("why it was not applied; null otherwise"),
  proposal_id: Field.of(
    Schema.NullOr(Natural.schema<Natural.ProposalId>("a proposal's number")),
    "number of the proposal it created; null otherwise",
  ),
  timestamp: Field.timestampOrNull("time of the commit, milliseconds since 1970; null while pending"),
  transaction: Field.of(Signed, "the transaction in its canonical form"),
}

const finalizedTransfer = {
  hash: example.hash,
  status: "finalized",
  round: 1203,
  vertex_hash: example.otherHash,
  validator: example.other,
  applied: true,
  failure: null,
  proposal_id: null,
  timestamp: example.timestamp,
  transaction: signedTransfer,
} as const

export const Lookup = Field.record(
  "TransactionLookup",
  "a transaction and its outcome",
  Schema.Struct({ hash: Field.hash("the transaction"), ...outcome }),
  finalizedTransfer,
)

const Direction = Schema.Literal("sent", "received")

const from = Field.optional(Field.TimestampInUrl, "only from this time on, milliseconds since 1970")

export const History = Field.record(
  "TransactionHistory",
  "transactions of an account, newest first",
  Schema.Struct({
    transactions: Schema.Array(
      Schema.Struct({
        hash: Field.hash("the transaction"),
        direction: Field.of(Direction, "sent includes transfers to itself"),
        ...outcome,
      }),
    ),
    next_cursor: Field.nextCursor,
  }),
  { transactions: [{ ...finalizedTransfer, direction: "sent" }], next_cursor: "1203.0.17" },
)

export const Latest = Field.record(
  "LatestTransactions",
  "finalized transactions, newest first",
  Schema.Struct({
    transactions: Schema.Array(Schema.Struct({ hash: Field.hash("the transaction"), ...outcome })),
    next_cursor: Field.nextCursor,
  }),
  { transactions: [finalizedTransfer], next_cursor: "rv" },
)

const WordsInUrl = Schema.String.pipe(
  Schema.minLength(1, { message: () => "at least one word" }),
  Schema.maxLength(200, { message: () => "at most 200 characters" }),
)

export const Submitted = Schema.Union(
  Failure.OfBody,
  Failure.OfSubmission,
  Failure.InvalidSignature,
  Failure.NonceTooLow,
  Failure.NotAllowed,
  Failure.ProposalNotFound,
  Failure.NoncePending,
  Failure.AlreadyVoted,
  Failure.NameTaken,
  Failure.TooManyActiveProposals,
)

/** An endpoint that takes a secret key: the node makes a transaction of this type, signs it and submits it. */
export const signedByNode = <const Name extends string, A, I>(
  name: Name,
  path: `/${string}`,
  summary: string,
  { type, perMinute, body }: { readonly type: Type; readonly perMinute: number; readonly body: Schema.Schema<A, I> },
) =>
  Group.post(name, path, `${summary} (testnet)`)
    .annotate(Rules.RateLimit, { requests: perMinute, windowSeconds: 60 })
    .annotate(Access.TestnetOnly, `sign a ${type} transaction yourself and send it to /tx/submit`)
    .setPayload(body)
    .addSuccess(Accepted)
    .addError(Failure.OfConvenience)

export const submit = Group.post("submit", "/tx/submit", "Submit a signed transaction, or up to 1,000 of them")
  .annotate(
    OpenApi.Description,
    "The only way to submit on a mainnet. An array (body up to 1 MiB) is answered by an array, in order, of each " +
      "transaction's answer as if submitted alone, with its status as status_code. It counts as that many " +
      "requests. Submitting a pending transaction again gets the same answer.",
  )
  .annotate(Rules.Batched, {
    item: Signed,
    answer: Accepted,
    most: maximumTransactions,
    size: { bytes: 1_048_576, values: 16_384 },
  })
  .setPayload(Submission)
  .addSuccess(Schema.Union(Accepted, SubmissionAnswers))
  .addError(Submitted)

export const group = Group.of("transactions", "Transactions", "Sending and finding transactions.", [
  signedByNode("send", "/tx", "Send a transfer", { type: "Transfer", perMinute: 100, body: TransferRequest }).annotate(
    OpenApi.Description,
    "The node signs with the secret key in the body and the account's next nonce.",
  ),
  submit,
  Group.get("lookup", "/tx/:hash", "A transaction and its outcome")
    .annotate(OpenApi.Description, "Transactions that were replaced, evicted, expired or without effect are not found.")
    .setPath(Schema.Struct({ hash: Hash.schema }))
    // A pending transaction becomes final once it is in the files, where statements see it before any other change.
    .annotate(Rules.Cached, { isFinal: (answer) => "status" in answer && answer.status === "finalized" })
    .addSuccess(Lookup)
    .addError(Schema.Union(Failure.InvalidRequest, Failure.TransactionNotFound)),
  Group.get("history", "/account/:address/transactions", "Transactions that an account sent or received, newest first")
    .annotate(
      OpenApi.Description,
      "With a type or direction, a page covers the account's last 500 transactions, so it can have fewer entries than requested, " +
        "or none, and still a next_cursor.",
    )
    .setPath(Schema.Struct({ address: Field.AccountText }))
    .setUrlParams(
      Schema.Struct({
        limit: Field.pageLimit,
        type: Field.optional(TransactionType, "only transactions of this type"),
        direction: Field.optional(Direction, "only transactions that the account sent, or only those it received"),
        from,
        until: Field.until,
        cursor: Field.cursor,
      }),
    )
    .annotate(Rules.Cached, { until: "record" })
    .addSuccess(History)
    .addError(Failure.OfAccount),
  statement,
  Group.get("latest", "/transactions", "Finalized transactions of all accounts, newest first")
    .annotate(
      OpenApi.Description,
      "With a type, a node's page covers the last 500 transactions, so it can have fewer entries than requested, or none, and " +
        "still a next_cursor. Only a gateway supports `words` and returns full pages of a type; a node answers `words` with 501.",
    )
    .setUrlParams(
      Schema.Struct({
        limit: Field.pageLimit,
        type: Field.optional(TransactionType, "only transactions of this type"),
        words: Field.optional(
          WordsInUrl,
          'only with these words in the memo or the proposal\'s texts; "in this order", -without',
        ),
        from,
        until: Field.until,
        cursor: Field.cursor,
      }),
    )
    .annotate(Rules.Cached, { until: "record" })
    .addSuccess(Latest)
    .addError(Schema.Union(Failure.InvalidRequest, Failure.NotServed)),
])
