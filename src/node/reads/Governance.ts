/** Finalized proposals, votes, and the parameters they may change. Plain functions: everything is in memory. */
import { Context, Effect, Layer } from "effect"
import type { NumberedProposal, Voter } from "../../ledger/Reads.js"
import type { Ballot } from "../../ledger/tables/Records.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { CommitIndex, ProposalId } from "../../protocol/numbers/Natural.js"
import * as Parameters from "../../protocol/numbers/Parameters.js"
import { Engine } from "../engine/Engine.js"
import { Home } from "../start/Home.js"

/** A parameter as a vote may change it. */
export interface Governable {
  readonly name: Parameters.Name
  readonly value: number
  readonly min: number
  readonly max: number
}

export class Governance extends Context.Tag("udg/Governance")<
  Governance,
  {
    /** The commit as of which everything here holds. */
    readonly asOf: () => CommitIndex
    readonly parameters: () => Parameters.Parameters
    /** Every parameter with its bounds on this network. */
    readonly governable: () => ReadonlyArray<Governable>
    readonly council: () => ReadonlyArray<Address>
    /** Newest first. */
    readonly proposals: (limit: number) => ReadonlyArray<NumberedProposal>
    readonly proposal: (id: ProposalId) => NumberedProposal | undefined
    /** While a proposal can be voted on, its snapshot; afterwards, those who voted. In the order of addresses. */
    readonly voters: (id: ProposalId) => ReadonlyArray<Voter>
    /** Undefined for an address outside the snapshot and, once the proposal is decided, for one that did not vote. */
    readonly ballot: (id: ProposalId, address: Address) => Ballot | undefined
  }
>() {}

export const layer: Layer.Layer<Governance, never, Engine | Home> = Layer.effect(
  Governance,
  Effect.gen(function* () {
    const { view } = yield* Engine
    const { epochRounds } = (yield* Home).genesis.protocol
    return Governance.of({
      asOf: () => view.read.head.index,
      parameters: () => view.read.parameters,
      governable: () =>
        Parameters.table.map((entry) => ({
          name: entry.name,
          value: view.read.parameters[entry.key],
          min: Parameters.minimumOf(entry, epochRounds),
          max: entry.max,
        })),
      council: () => view.read.council(),
      proposals: (limit) => view.read.proposals(limit),
      proposal: (id) => view.read.proposal(id),
      voters: (id) => view.read.voters(id),
      ballot: (id, address) => view.read.ballot(id, address),
    })
  }),
)
