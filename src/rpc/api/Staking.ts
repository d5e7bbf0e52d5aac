import { OpenApi } from "@effect/platform"
import { Schema } from "effect"
import * as Rules from "../../edge/definition/Rules.js"
import * as Group from "../../effect3/http/Group.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as Failure from "./Failure.js"
import * as Field from "./Field.js"
import { signedByNode } from "./Transactions.js"

const { example } = Field

export const StakeRequest = Field.record(
  "StakeRequest",
  "a new stake or a top-up",
  Schema.Struct({
    secret_key: Field.secretKey,
    amount: Field.sats("sats, at least 200,000,000,000, also for top-ups"),
  }),
  { secret_key: example.secretKey, amount: Sats.MIN_STAKE_SATS },
)

export const KeyOnlyRequest = Field.record(
  "KeyOnlyRequest",
  "the account that acts",
  Schema.Struct({ secret_key: Field.secretKey }),
  { secret_key: example.secretKey },
)

export const StakeDetails = Field.record(
  "StakeDetails",
  "an account's stake; zeros if it has never staked",
  Schema.Struct({
    address: Field.address("the account"),
    staked_amount: Field.sats("own stake, leaving or not"),
    staked_coin: Field.coin("staked_amount in coins"),
    commission_percent: Field.percent("its share of its delegators' rewards"),
    effective_stake: Field.sats("own stake plus delegations"),
    delegator_count: Field.count("number of delegators"),
    is_active_validator: Field.boolean("among the 100 largest active stakes"),
    unstaking: Field.boolean("its stake is leaving"),
    unlock_at_round: Field.roundOrNull("first round at which a leaving stake is paid out; null otherwise"),
    in_committee: Field.boolean("makes vertices in this epoch"),
  }),
  {
    address: example.address,
    staked_amount: 200_000_000_000,
    staked_coin: 2000,
    commission_percent: 10,
    effective_stake: 350_000_000_000,
    delegator_count: 3,
    is_active_validator: true,
    unstaking: false,
    unlock_at_round: null,
    in_committee: true,
  },
)

export const ValidatorList = Field.record(
  "ValidatorList",
  "all accounts with a stake, largest effective stake first, at most 500",
  Schema.Struct({
    validators: Schema.Array(
      Schema.Struct({
        address: Field.address("the validator"),
        effective_stake: Field.sats("own stake plus delegations"),
        commission_percent: Field.percent("its share of its delegators' rewards"),
        delegator_count: Field.count("number of delegators"),
        is_active: Field.boolean("among the 100 largest active stakes"),
        in_committee: Field.boolean("makes vertices in this epoch"),
      }),
    ),
    total_staked: Field.sats("sum of all stakes and delegations"),
    active_count: Field.count("number of active validators"),
    max_validators: Field.count("seats in a committee"),
  }),
  {
    validators: [
      {
        address: example.address,
        effective_stake: 350_000_000_000,
        commission_percent: 10,
        delegator_count: 3,
        is_active: true,
        in_committee: true,
      },
    ],
    total_staked: 350_000_000_000,
    active_count: 1,
    max_validators: 100,
  },
)

export const group = Group.of("staking", "Staking", "Staking, and the list of validators.", [
  signedByNode("stake", "/stake", "Stake, or add to a stake", { type: "StakeTx", perMinute: 5, body: StakeRequest }),
  signedByNode("unstake", "/unstake", "Withdraw the whole stake", {
    type: "UnstakeTx",
    perMinute: 5,
    body: KeyOnlyRequest,
  }).annotate(OpenApi.Description, "It stays active until the epoch ends and is paid out after the cooldown."),
  Group.get("stakeOf", "/stake/:address", "An account's stake")
    .setPath(Schema.Struct({ address: Field.AccountText }))
    .annotate(Rules.Cached, { until: "commit" })
    .addSuccess(StakeDetails)
    .addError(Failure.OfAccount),
  Group.get("validators", "/validators", "All validators, largest first")
    .annotate(Rules.Cached, { until: "commit" })
    .addSuccess(ValidatorList),
])
