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
      "sats, at least the network's min_delegation_sats; what does not buy a whole share of the pool stays in the balance",
    ),
  }),
  { secret_key: example.secretKey, validator: example.other, amount: 100_000_000 },
)

export const CommissionRequest = Field.record(
  "CommissionRequest",
  "a validator's commission",
  Schema.Struct({
    secret_key: Field.secretKey,
    commission_percent: Field.percent("what the validator keeps of its delegators' rewards, 0 to 100"),
  }),
  { secret_key: example.secretKey, commission_percent: 10 },
)

export const Delegation = Field.record(
  "Delegation",
  "what an account delegates",
  Schema.Struct({
    delegator: Field.address("the account"),
    validator: Field.address("to whom it delegates"),
    amount: Field.sats("what it is worth now; rewards make it grow"),
    amount_coin: Field.coin("amount in coins"),
    undelegating: Field.boolean("it is leaving"),
    unlock_at_round: Field.roundOrNull("first round at which it is paid out; null when it is not leaving"),
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
  "who delegates to a validator, largest first, at most 500",
  Schema.Struct({
    validator: Field.address("the validator"),
    delegator_count: Field.count("all of them, also beyond the 500"),
    total_delegated: Field.sats("all of it"),
    delegators: Schema.Array(
      Schema.Struct({
        address: Field.address("the delegator"),
        amount: Field.sats("what its delegation is worth now"),
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
  }).annotate(OpenApi.Description, "It works until the epoch ends and is paid out after the cooldown."),
  signedByNode("setCommission", "/set-commission", "Set a validator's commission", {
    type: "SetCommissionTx",
    perMinute: 5,
    body: CommissionRequest,
  }),
  Group.get("delegationOf", "/delegation/:address", "What an account delegates")
    .setPath(Schema.Struct({ address: Field.AccountText }))
    .annotate(Rules.Cached, { until: "commit" })
    .addSuccess(Delegation)
    .addError(Schema.Union(Failure.OfAccount, Failure.DelegationNotFound)),
  Group.get("delegators", "/validator/:address/delegators", "Who delegates to a validator")
    .annotate(
      OpenApi.Description,
      "Empty for an account that is no validator. Number and total are as of now. The list is up to one commit old for each " +
        "2,000 delegators beyond the first 2,000.",
    )
    .setPath(Schema.Struct({ address: Field.AccountText }))
    .annotate(Rules.Cached, { until: "commit" })
    .addSuccess(DelegatorList)
    .addError(Failure.OfAccount),
])
