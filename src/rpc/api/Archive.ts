/** Queries that only an archive can answer: a gateway serves them, a node answers 501. */
import { OpenApi } from "@effect/platform"
import { Schema } from "effect"
import * as Group from "../../effect3/http/Group.js"
import * as Failure from "./Failure.js"
import * as Field from "./Field.js"

const { example } = Field

const commit = Field.count("index of the commit")

const Balances = Field.record(
  "Balances",
  "an account's balance after commits, newest first",
  Schema.Struct({
    address: Field.address("the account"),
    balances: Schema.Array(
      Schema.Struct({
        commit,
        timestamp: Field.timestamp("time of the commit, milliseconds since 1970"),
        balance: Field.sats("after the commit"),
        nonce: Field.nonce("after the commit"),
      }),
    ),
    next_commit: Field.of(Schema.NullOr(Field.CommitIndex), "pass it as ?commit= for older entries; null at the end"),
  }),
  {
    address: example.address,
    balances: [{ commit: 1203, timestamp: example.timestamp, balance: 250_000_000, nonce: 7 }],
    next_commit: null,
  },
)

const RichAccounts = Field.record(
  "RichAccounts",
  "accounts by balance, richest first",
  Schema.Struct({
    accounts: Schema.Array(
      Schema.Struct({
        address: Field.address("the account"),
        name: Field.textOrNull("its @name without the @"),
        balance: Field.sats("spendable balance"),
      }),
    ),
    next_cursor: Field.nextCursor,
  }),
  { accounts: [{ address: example.address, name: "alice", balance: 250_000_000 }], next_cursor: null },
)

const Interval = Schema.Literal("hour", "day").annotations({
  identifier: "Interval",
  description: "the length of an entry",
})

const Statistics = Field.record(
  "Statistics",
  "activity per hour or day (UTC), newest first; periods without a commit are left out",
  Schema.Struct({
    statistics: Schema.Array(
      Schema.Struct({
        timestamp: Field.timestamp("when it begins, milliseconds since 1970"),
        commits: Field.count("commits in it"),
        vertices: Field.count("vertices that these commits ordered"),
        transactions: Field.count("executed transactions, applied or failed"),
        failed: Field.count("those of them that failed and only paid the fee"),
        fees: Field.count("sats paid in fees"),
        total_supply: Field.sats("total supply at the end"),
      }),
    ),
  }),
  {
    statistics: [
      {
        timestamp: example.timestamp,
        ...{ commits: 7_200, vertices: 28_800, transactions: 100_000, failed: 12, fees: 100_000_000 },
        total_supply: 1_500_120_300_000_000,
      },
    ],
  },
)

export const group = Group.of(
  "archive",
  "Archive",
  "Queries over the whole history. A gateway answers them from its archive; a node has no archive and answers 501.",
  [
    Group.get("balances", "/account/:address/balances", "An account's balance after any commit, and over time")
      .annotate(
        OpenApi.Description,
        "Lists the balance after each commit that changed the account or, with `step`, after every `step`-th commit. The first " +
          "entry is the balance after `commit`, whenever it last changed.",
      )
      .setPath(Schema.Struct({ address: Field.AccountText }))
      .setUrlParams(
        Schema.Struct({
          limit: Field.pageLimit,
          commit: Field.optional(Field.CommitInUrl, "the newest commit; defaults to the last one"),
          step: Field.optional(Field.StepInUrl, "commits between two entries"),
        }),
      )
      .addSuccess(Balances)
      .addError(Schema.Union(Failure.OfAccount, Failure.NotServed)),
    Group.get("richest", "/accounts", "Accounts by balance, richest first")
      .setUrlParams(Schema.Struct({ limit: Field.pageLimit, cursor: Field.cursor }))
      .addSuccess(RichAccounts)
      .addError(Schema.Union(Failure.InvalidRequest, Failure.NotServed)),
    Group.get("statistics", "/statistics", "Activity per hour or day")
      .setUrlParams(
        Schema.Struct({
          limit: Field.optional(Field.limitInUrl(500), "how many, 1 to 500; defaults to 50"),
          interval: Field.optional(Interval, "defaults to day"),
          until: Field.until,
        }),
      )
      .addSuccess(Statistics)
      .addError(Schema.Union(Failure.InvalidRequest, Failure.NotServed)),
  ],
)
