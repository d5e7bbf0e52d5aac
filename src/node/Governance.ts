/** Proposals, votes and what they may change, finalized. */
import { Context, Effect, Layer, Option } from "effect"
import type { NumberedProposal, Voter } from "../ledger/Reads.js"
import type { Ballot } from "../ledger/Records.js"
import type { Address } from "../protocol/Address.js"
import type { ProposalId } from "../protocol/Counter.js"
import type { Parameters } from "../protocol/Parameters.js"
import { Engine } from "./Engine.js"

export interface ProposalWithVoters {
  readonly proposal: NumberedProposal
  /** The snapshot, in the order of addresses, whether they have voted or not. */
  readonly voters: ReadonlyArray<Voter>
}

export class Governance extends Context.Tag("udg/Governance")<
  Governance,
  {
    readonly parameters: Effect.Effect<Parameters>
    readonly council: Effect.Effect<ReadonlyArray<Address>>
    readonly count: Effect.Effect<number>
    /** Newest first. */
    readonly proposals: (limit: number) => Effect.Effect<ReadonlyArray<ProposalWithVoters>>
    readonly proposal: (id: ProposalId) => Effect.Effect<Option.Option<ProposalWithVoters>>
    /** None for who is not in the proposal's snapshot. */
    readonly ballot: (id: ProposalId, address: Address) => Effect.Effect<Option.Option<Ballot>>
  }
>() {}

export const layer: Layer.Layer<Governance, never, Engine> = Layer.effect(
  Governance,
  Effect.map(Engine, ({ look }) =>
    Governance.of({
      parameters: look(({ read }) => read.parameters),
      council: look(({ read }) => read.council()),
      count: look(({ read }) => read.proposalCount),
      proposals: (limit) =>
        look(({ read }) => read.proposals(limit).map((proposal) => ({ proposal, voters: read.voters(proposal.id) }))),
      proposal: (id) =>
        look(({ read }) =>
          Option.map(Option.fromNullable(read.proposal(id)), (proposal) => ({ proposal, voters: read.voters(id) })),
        ),
      ballot: (id, address) => look(({ read }) => Option.fromNullable(read.ballot(id, address))),
    }),
  ),
)
