/** Finalized proposals, votes, and the parameters they can change. Plain functions, since everything is in memory. */
import { Context, Effect, Layer } from "effect"
import * as ProtocolVersion from "../../protocol/epoch/ProtocolVersion.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { ProposalId } from "../../protocol/numbers/Natural.js"
import * as Parameters from "../../protocol/numbers/Parameters.js"
import { Engine } from "../engine/Engine.js"
import { Home } from "../start/Home.js"
import type { View } from "./Staking.js"

export const over = (view: View, epochRounds: number) => ({
  /** The commit that all these reads reflect. */
  asOf: () => view.read.head.index,
  parameters: () => view.read.parameters,
  protocolVersion: () => view.read.epoch.rules.protocolVersion,
  /** Every parameter as a vote may change it, with its bounds on this network. */
  governable: () => {
    const version = view.read.epoch.rules.protocolVersion
    const parameters = Parameters.table.map((entry) => ({
      name: entry.name,
      value: view.read.parameters[entry.key],
      min: Parameters.minimumOf(entry, epochRounds),
      max: entry.max,
    }))
    return [...parameters, { name: ProtocolVersion.PARAMETER, value: version, min: version + 1, max: version + 1 }]
  },
  council: () => view.read.council(),
  proposals: (limit: number) => view.read.proposals(limit),
  proposal: (id: ProposalId) => view.read.proposal(id),
  /** While a proposal can be voted on, its snapshot; afterwards, its voters. Ordered by address. */
  voters: (id: ProposalId) => view.read.voters(id),
  /** Undefined for an address outside the snapshot and, once the proposal is decided, for one that did not vote. */
  ballot: (id: ProposalId, address: Address) => view.read.ballot(id, address),
})

export class Governance extends Context.Tag("udg/Governance")<Governance, ReturnType<typeof over>>() {}

export const layer = Layer.effect(
  Governance,
  Effect.zipWith(Engine, Home, ({ view }, { genesis }) => over(view, genesis.protocol.epochRounds)),
)
