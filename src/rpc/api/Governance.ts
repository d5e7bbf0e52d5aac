import { Schema } from "effect"
import * as Rules from "../../edge/definition/Rules.js"
import * as Group from "../../effect3/http/Group.js"
import * as Text from "../../protocol/encoding/Text.js"
import * as Address from "../../protocol/identity/Address.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import * as Parameters from "../../protocol/numbers/Parameters.js"
import * as TransactionJson from "../../protocol/transaction/TransactionJson.js"
import * as Failure from "./Failure.js"
import * as Field from "./Field.js"
import { signedByNode } from "./Transactions.js"

const { example } = Field

export const ProposalRequest = Field.record(
  "ProposalRequest",
  "a proposal",
  Schema.Struct({
    secret_key: Field.secretKey,
    title: Field.of(Text.schema(1, Limits.TITLE_BYTES), "1 to 128 bytes in UTF-8"),
    description: Field.of(Text.schema(0, Limits.DESCRIPTION_BYTES), "at most 4,096 bytes in UTF-8; may be empty"),
    proposal_type: Field.of(TransactionJson.ProposalType, "the proposal's effect"),
    fee: Field.sats("sats, at least the network's min_fee_sats"),
  }),
  {
    secret_key: example.secretKey,
    title: "Lower the minimum fee",
    description: "Transfers are cheap to serve.",
    proposal_type: { ParameterChange: { param: "min_fee_sats", value: 500 } },
    fee: 1000,
  },
)

export const VoteRequest = Field.record(
  "VoteRequest",
  "a vote",
  Schema.Struct({
    secret_key: Field.secretKey,
    proposal_id: Field.proposalId("number of the proposal"),
    vote: Field.boolean("true means yes"),
    fee: Field.sats("sats, at least the network's min_fee_sats"),
  }),
  { secret_key: example.secretKey, proposal_id: 1, vote: true, fee: 1000 },
)

const ProposalStatus = Schema.Literal("Active", "Passed", "Rejected", "Executed", "Failed").annotations({
  identifier: "ProposalStatus",
  description: "Active until voting ends, then Passed or Rejected; Passed becomes Executed or Failed",
})

const Payload = Schema.Union(
  Schema.Struct({ param: Field.text("the parameter"), value: Field.count("its new value") }).annotations({
    identifier: "ParameterChangePayload",
  }),
  Schema.Struct({
    action: Field.of(Schema.Literal("add", "remove"), "whether the account gets or loses a seat"),
    address: Field.of(Address.schema, "the account"),
  }).annotations({ identifier: "CouncilMembershipPayload" }),
  Schema.Struct({
    recipient: Field.of(Address.schema, "the recipient"),
    amount: Field.sats("from the treasury"),
  }).annotations({ identifier: "TreasurySpendPayload" }),
  Schema.Struct({}),
).annotations({ identifier: "ProposalPayload", description: "the fields of the proposal's type" })

const Vote = Schema.Literal("yes", "no").annotations({ identifier: "VoteChoice", description: "yes or no" })

const summary = {
  id: Field.proposalId("counted from 1"),
  title: Field.text("title; empty once the texts are pruned"),
  description: Field.text("description; empty once the texts are pruned"),
  texts_pruned: Field.boolean("whether the ledger has dropped title and description; the transaction still has them"),
  tx_hash: Field.hash("the transaction that made it"),
  proposal_type: Field.of(
    Schema.Literal("Text", "ParameterChange", "CouncilMembership", "TreasurySpend"),
    "name of the type",
  ),
  payload: Field.of(Payload, "the type's fields"),
  status: Field.of(ProposalStatus, "its status"),
  proposer: Field.address("the proposer"),
  votes_for: Field.sats("stake that voted yes"),
  votes_against: Field.sats("stake that voted no"),
  snapshot_total_stake: Field.sats("stake that could vote, as of its creation"),
  created_at_round: Field.round("the round of its creation"),
  voting_ends_at_round: Field.round("last round in which a vote counts"),
  executes_at_round: Field.round("first round in which a passed proposal is executed"),
  failure: Field.textOrNull("why execution failed; null otherwise"),
  bond: Field.sats("the amount taken from the proposer's balance at creation"),
  bond_status: Field.of(
    Schema.Literal("held", "returned", "forfeited"),
    "held until the decision; then returned, or forfeited to the treasury after too low a turnout",
  ),
}

const aProposal = {
  id: 1,
  title: "Lower the minimum fee",
  description: "Transfers are cheap to serve.",
  texts_pruned: false,
  tx_hash: example.hash,
  proposal_type: "ParameterChange",
  payload: { param: "min_fee_sats", value: 500 },
  status: "Active",
  proposer: example.address,
  votes_for: 200_000_000_000,
  votes_against: 0,
  snapshot_total_stake: 350_000_000_000,
  created_at_round: 1000,
  voting_ends_at_round: 1240,
  executes_at_round: 1300,
  failure: null,
  bond: 1_000_000,
  bond_status: "held",
} as const

export const Proposal = Field.record(
  "Proposal",
  "a proposal with all its votes",
  Schema.Struct({
    ...summary,
    voters: Schema.Array(
      Schema.Struct({
        address: Field.address("the validator"),
        vote: Field.of(Vote, "its vote"),
        weight: Field.sats("its effective stake in the snapshot"),
      }),
    ),
  }),
  { ...aProposal, voters: [{ address: example.address, vote: "yes", weight: 200_000_000_000 }] },
)

export const ProposalList = Field.record(
  "ProposalList",
  "proposals, newest first, at most 200; /proposal/:id lists the votes",
  Schema.Struct({
    count: Field.count("number of proposals in the list"),
    proposals: Schema.Array(Schema.Struct(summary)),
  }),
  { count: 1, proposals: [aProposal] },
)

export const VoteRecord = Field.record(
  "VoteRecord",
  "an account's vote on a proposal",
  Schema.Struct({
    proposal_id: Field.proposalId("the proposal"),
    address: Field.address("the account"),
    vote: Field.of(Schema.NullOr(Vote), "null if it has not voted"),
    weight: Field.sats("its effective stake in the snapshot; 0 if it cannot vote, or had not voted by the decision"),
  }),
  { proposal_id: 1, address: example.address, vote: "yes", weight: 200_000_000_000 },
)

export const GovernanceConfig = Field.record(
  "GovernanceConfig",
  "the current parameters and the bounds for changing them",
  Schema.extend(
    Schema.typeSchema(Parameters.Json),
    Schema.Struct({
      protocol_version: Field.count("version of the protocol that is in force"),
      governable_params: Schema.Array(
        Schema.Struct({
          name: Field.text("name for a ParameterChange"),
          value: Field.count("current value"),
          min: Field.count("lowest allowed value"),
          max: Field.count("highest allowed value"),
        }),
      ),
    }),
  ),
  {
    ...Parameters.toJson(Parameters.solo),
    protocol_version: 2,
    governable_params: [{ name: "min_fee_sats", value: 1000, min: 1, max: 100_000_000 }],
  },
)

export const group = Group.of("governance", "Governance", "Proposals, votes, and the parameters they change.", [
  signedByNode("propose", "/proposal", "Create a proposal", {
    type: "CreateProposalTx",
    perMinute: 5,
    body: ProposalRequest,
  }).addError(Failure.TooManyActiveProposals),
  signedByNode("vote", "/vote", "Vote on a proposal", { type: "VoteTx", perMinute: 10, body: VoteRequest })
    .addError(Failure.ProposalNotFound)
    .addError(Failure.AlreadyVoted),
  Group.get("proposals", "/proposals", "All proposals, newest first")
    .annotate(Rules.Cached, { until: "commit" })
    .addSuccess(ProposalList),
  Group.get("proposal", "/proposal/:id", "A proposal with its voters")
    .setPath(Schema.Struct({ id: Field.ProposalIdInUrl }))
    .annotate(Rules.Cached, { until: "commit" })
    .addSuccess(Proposal)
    .addError(Schema.Union(Failure.InvalidRequest, Failure.ProposalNotFound)),
  Group.get("voteOf", "/vote/:id/:address", "An account's vote on a proposal")
    .setPath(Schema.Struct({ id: Field.ProposalIdInUrl, address: Field.AccountText }))
    .annotate(Rules.Cached, { until: "commit" })
    .addSuccess(VoteRecord)
    .addError(Schema.Union(Failure.OfAccount, Failure.ProposalNotFound)),
  Group.get("config", "/governance/config", "The parameters that governance can change")
    .annotate(Rules.Cached, { until: "commit" })
    .addSuccess(GovernanceConfig),
])
