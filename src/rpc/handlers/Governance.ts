import { Effect, Either } from "effect"
import type { NumberedProposal, Voter } from "../../ledger/Reads.js"
import { Governance } from "../../node/reads/Governance.js"
import { Home } from "../../node/start/Home.js"
import * as Network from "../../protocol/identity/Network.js"
import type { ProposalId } from "../../protocol/numbers/Natural.js"
import * as Parameters from "../../protocol/numbers/Parameters.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as JsonForm from "../../protocol/transaction/JsonForm.js"
import * as ProposalFailure from "../../protocol/transaction/ProposalFailure.js"
import type { ProposalPayload } from "../../protocol/transaction/ProposalPayload.js"
import * as Failure from "../api/Failure.js"
import type * as Api from "../api/Governance.js"
import * as AccountReference from "./AccountReference.js"
import { group, type Of } from "./Group.js"
import * as SnakeCase from "./SnakeCase.js"
import * as Submission from "./Submission.js"

const PROPOSALS_SHOWN = 200

type Summary = (typeof Api.ProposalList.Type)["proposals"][number]

const payloadOf = ({ _tag, ...fields }: ProposalPayload): Summary["payload"] => fields

const summaryOf = (proposal: NumberedProposal): Summary => ({
  ...SnakeCase.named(proposal),
  title: proposal.texts?.title ?? "",
  description: proposal.texts?.description ?? "",
  texts_pruned: proposal.texts === null,
  tx_hash: proposal.transaction,
  proposal_type: proposal.payload._tag,
  payload: payloadOf(proposal.payload),
  failure: proposal.failure && ProposalFailure.describe(proposal.failure),
})

const word = (vote: boolean): "yes" | "no" => (vote ? "yes" : "no")

/** The accounts of the snapshot that have voted. */
const votersOf = (voters: ReadonlyArray<Voter>): (typeof Api.Proposal.Type)["voters"] =>
  voters.flatMap(({ address, vote, weight }) => (vote === null ? [] : [{ address, vote: word(vote), weight }]))

const notFound = (id: ProposalId) => new Failure.ProposalNotFound({ message: `there is no proposal ${id}` })

export const reads = Effect.gen(function* () {
  const governance = yield* Governance
  const account = yield* AccountReference.resolver

  const proposal = (id: ProposalId) => Either.fromNullable(governance.proposal(id), () => notFound(id))

  return {
    proposals: () =>
      Effect.sync(() => {
        const proposals = governance.proposals(PROPOSALS_SHOWN).map(summaryOf)
        return { count: proposals.length, proposals }
      }),
    proposal: ({ path: { id } }) =>
      Either.map(proposal(id), (found) => ({ ...summaryOf(found), voters: votersOf(governance.voters(id)) })),
    voteOf: ({ path }) =>
      Effect.gen(function* () {
        const address = yield* account("address", path.address)
        const { id } = yield* proposal(path.id)
        const ballot = governance.ballot(id, address)
        const vote = ballot === undefined || ballot.vote === null ? null : word(ballot.vote)
        return { proposal_id: id, address, vote, weight: ballot?.weight ?? Sats.ZERO }
      }),
    config: () =>
      Effect.sync(() => ({
        ...Parameters.toJson(governance.parameters()),
        protocol_version: governance.protocolVersion(),
        governable_params: governance.governable(),
      })),
  } satisfies Partial<Of<"governance">>
})

export const layer = group("governance", (handlers) =>
  Effect.gen(function* () {
    const prefix = Network.addressPrefix((yield* Home).genesis.mode)
    const submitProposal = yield* Submission.signer("TooManyActiveProposals")
    const submitVote = yield* Submission.signer("ProposalNotFound", "AlreadyVoted")

    const { proposals, proposal, voteOf, config } = yield* reads

    return handlers
      .handle("propose", ({ payload: { secret_key: key, title, description, proposal_type, fee } }) =>
        Effect.flatMap(
          Either.mapLeft(JsonForm.payloadFromJson(proposal_type, prefix), Failure.InvalidRequest.of),
          (payload) =>
            submitProposal({ key, fee, operation: { _tag: "CreateProposalTx", title, description, payload } }),
        ),
      )
      .handle("vote", ({ payload: { secret_key: key, proposal_id: proposalId, vote, fee } }) =>
        submitVote({ key, fee, operation: { _tag: "VoteTx", proposalId, vote } }),
      )
      .handle("proposals", proposals)
      .handle("proposal", proposal)
      .handle("voteOf", voteOf)
      .handle("config", config)
  }),
)
