import { OpenApi } from "@effect/platform"
import { Schema } from "effect"
import * as Rules from "../../edge/definition/Rules.js"
import * as Group from "../../effect3/http/Group.js"
import * as Failure from "./Failure.js"
import * as Field from "./Field.js"
import { KeyOnlyRequest } from "./Staking.js"
import { signedByNode } from "./Transactions.js"

const { example } = Field

export const DelegateRequest = Field.record(
  "DelegateRequest",
  "a delegation, or more of it",
  Schema.Struct({
    secret_key: Field.secretKey,
    validator: Field.account("an active validator, not the account itself"),
    amount: Field.sats(
      "sats, at least the network's min_delegation_sats; an amount too small for a whole pool share stays in the balance",
    ),
  }),
  { secret_key: example.secretKey, validator: example.other, amount: 100_000_000 },
)

export const CommissionRequest = Field.record(
  "CommissionRequest",
  "a validator's commission",
  Schema.Struct({
    secret_key: Field.secretKey,
    commission_percent: Field.percent("the validator's share of its delegators' rewards, 0 to 100"),
  }),
  { secret_key: example.secretKey, commission_percent: 10 },
)

export const Delegation = Field.record(
  "Delegation",
  "an account's delegation",
  Schema.Struct({
    delegator: Field.address("the account"),
    validator: Field.address("its validator"),
    amount: Field.sats("its present value; rewards increase it"),
    amount_coin: Field.coin("amount in coins"),
    undelegating: Field.boolean("it is leaving"),
    unlock_at_round: Field.roundOrNull("first round at which it is paid out; null if it is not leaving"),
  }),
  {
    delegator: example.address,
    validator: example.other,
    amount: 100_250_000,
    amount_coin: 1.0025,
    undelegating: false,
    unlock_at_round: null,
  },
)

export const DelegatorList = Field.record(
  "DelegatorList",
  "a validator's delegators, largest first, at most 500",
  Schema.Struct({
    validator: Field.address("the validator"),
    delegator_count: Field.count("all of them, including those beyond the 500"),
    total_delegated: Field.sats("the sum of all delegations"),
    delegators: Schema.Array(
      Schema.Struct({
        address: Field.address("the delegator"),
        amount: Field.sats("the present value of its delegation"),
        amount_coin: Field.coin("amount in coins"),
        undelegating: Field.boolean("it is leaving"),
      }),
    ),
  }),
  {
    validator: example.other,
    delegator_count: 1,
    total_delegated: 100_250_000,
    delegators: [{ address: example.address, amount: 100_250_000, amount_coin: 1.0025, undelegating: false }],
  },
)

export const group = Group.of("delegation", "Delegation", "Lending stake to a validator for a share of its rewards.", [
  signedByNode("delegate", "/delegate", "Delegate to a validator, or add to a delegation", {
    type: "DelegateTx",
    perMinute: 5,
    body: DelegateRequest,
  }),
  signedByNode("undelegate", "/undelegate", "Take the whole delegation back", {
    type: "UndelegateTx",
    perMinute: 5,
    body: KeyOnlyRequest,
  }).annotate(OpenApi.Description, "It stays active until the epoch ends and is paid out after the cooldown."),
  signedByNode("setCommission", "/set-commission", "Set a validator's commission", {
    type: "SetCommissionTx",
    perMinute: 5,
    body: CommissionRequest,
  }),
  Group.get("delegationOf", "/delegation/:address", "An account's delegation")
    .setPath(Schema.Struct({ address: Field.AccountText }))
    .annotate(Rules.Cached, { until: "commit" })
    .addSuccess(Delegation)
    .addError(Schema.Union(Failure.OfAccount, Failure.DelegationNotFound)),
  Group.get("delegators", "/validator/:address/delegators", "A validator's delegators")
    .annotate(
      OpenApi.Description,
      "Empty for an account that is not a validator. Number and total are current. The list is up to one commit old for each " +
        "2,000 delegators beyond the first 2,000.",
    )
    .setPath(Schema.Struct({ address: Field.AccountText }))
    .annotate(Rules.Cached, { until: "commit" })
    .addSuccess(DelegatorList)
    .addError(Failure.OfAccount),
])
