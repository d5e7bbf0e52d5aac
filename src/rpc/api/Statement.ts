/** All changes of an account's balance. */
import { OpenApi } from "@effect/platform"
import { Schema } from "effect"
import * as Rules from "../../edge/definition/Rules.js"
import * as Group from "../../effect3/http/Group.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import { TransactionType } from "./Core.js"
import * as Failure from "./Failure.js"
import * as Field from "./Field.js"

const { example } = Field

const ProposalId = Natural.schema<Natural.ProposalId>("a proposal's number")

const kinds = [
  "sent",
  "received",
  "genesis",
  "reward",
  "fees",
  "council",
  "treasury_payment",
  "bond_returned",
  "stake_released",
  "delegation_released",
  "stake_slashed",
  "delegations_slashed",
] as const

const Entry = Schema.Struct({
  kind: Field.of(
    Schema.Literal(...kinds),
    "sent and received are transactions; reward, fees and council are sums over up to 10,000 commits",
  ),
  change: Field.change("change of the balance, in sats; 0 if only a stake or delegations were burned"),
  amount: Field.sats("sats moved or burned, without the fee"),
  fee: Field.of(Schema.NullOr(Sats.schema), "the fee paid by the sender, in sats; null for other kinds"),
  type: Field.of(Schema.NullOr(TransactionType), "the transaction's type; null for other kinds"),
  hash: Field.hashOrNull("the transaction; null for other kinds"),
  counterparty: Field.addressOrNull("the other account of a transaction; null if there is none"),
  applied: Field.of(Schema.NullOr(Schema.Boolean), "false: only the fee was taken; null for other kinds"),
  proposal_id: Field.of(Schema.NullOr(ProposalId), "the proposal behind it; null if there is none"),
  memo: Field.textOrNull("the memo of a transfer; null if there is none"),
  round: Field.round("leader round of the commit, or of the last one in a sum"),
  since: Field.timestamp("time of the first commit, milliseconds since 1970"),
  timestamp: Field.timestamp("time of the commit, or of the last one in a sum"),
})

export const Statement = Field.record(
  "AccountStatement",
  "an account's balance changes, newest first",
  Schema.Struct({
    address: Field.address("the account"),
    balance: Field.sats("sats, as of the newest existing entry: the sum of all changes, if this node has them all"),
    entries: Schema.Array(Entry),
    next_cursor: Field.textOrNull("pass it as ?cursor= to get the next page; null on the last page"),
  }),
  {
    address: example.address,
    balance: 499_998_000,
    entries: [
      {
        kind: "sent",
        change: -100_001_000,
        amount: 100_000_000,
        fee: 1000,
        type: "Transfer",
        hash: example.hash,
        counterparty: example.other,
        applied: true,
        proposal_id: null,
        memo: null,
        round: 1203,
        since: example.timestamp,
        timestamp: example.timestamp,
      },
    ],
    next_cursor: "rv.0",
  },
)

export const statement = Group.get(
  "statement",
  "/account/:address/statement",
  "An account's balance changes, newest first",
)
  .annotate(
    OpenApi.Description,
    "Transactions and credits by the network: genesis allocations, rewards, fees earned, payments from the treasury, " +
      "returned bonds, released stakes and delegations. Slashes are listed as well. All changes add up to the balance on a " +
      "node that has executed every commit; one that joined later or has pruned lists its recorded part.",
  )
  .setPath(Schema.Struct({ address: Field.AccountText }))
  .setUrlParams(
    Schema.Struct({
      limit: Field.pageLimit,
      cursor: Field.optional(
        Schema.String.pipe(Schema.maxLength(100, { message: () => "a next_cursor from the previous page" })),
        "next_cursor from the previous page",
      ),
    }),
  )
  .annotate(Rules.Cached, { until: "record" })
  .addSuccess(Statement)
  .addError(Failure.OfAccount)
