/** Everything that changed an account's balance. */
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
    "sent and received are transactions; reward, fees and council are added up over up to 10,000 commits",
  ),
  change: Field.change("of the balance, in sats; 0 where only a stake or delegations were burned"),
  amount: Field.sats("sats that moved, or were burned; without the fee"),
  fee: Field.of(Schema.NullOr(Sats.schema), "sats that a sender paid for the transaction; null for other kinds"),
  type: Field.of(Schema.NullOr(TransactionType), "of the transaction; null for other kinds"),
  hash: Field.hashOrNull("the transaction; null for other kinds"),
  counterparty: Field.addressOrNull("the other account of a transaction; null where there is none"),
  applied: Field.of(Schema.NullOr(Schema.Boolean), "false: only the fee was taken; null for other kinds"),
  proposal_id: Field.of(Schema.NullOr(ProposalId), "the proposal behind it; null where there is none"),
  memo: Field.textOrNull("what the sender of a transfer wrote; null where there is none"),
  round: Field.round("leader round of the commit, of the last one where several are added up"),
  since: Field.timestamp("time of the first commit in it, milliseconds since 1970"),
  timestamp: Field.timestamp("time of the commit, of the last one where several are added up"),
})

export const Statement = Field.record(
  "AccountStatement",
  "what changed a balance, newest first",
  Schema.Struct({
    address: Field.address("the account"),
    balance: Field.sats("sats, as of the newest entry there is: the sum of all changes, if this node has them all"),
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
  "Everything that changed an account's balance, newest first",
)
  .annotate(
    OpenApi.Description,
    "Transactions, and what the network added: genesis allocations, rewards, fees earned, payments from the treasury, " +
      "returned bonds, released stakes and delegations. Slashes are listed, too. All changes add up to the balance on a " +
      "node that has executed every commit; one that joined later, or has pruned, lists what it has recorded.",
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
