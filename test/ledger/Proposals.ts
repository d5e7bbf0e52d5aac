/** Proposals and votes. */
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { ProposalPayload } from "../../src/protocol/transaction/ProposalPayload.js"
import { Chain, type Person, type World } from "./builders.js"
import { alice } from "./People.js"

export const world: World = {
  accounts: { alice: 9_000, bob: 50, val: 10, other: 10 },
  validators: { val: 6_000, other: 4_000 },
  council: ["alice"],
  treasury: 100,
  parameters: { votingPeriodRounds: 10, executionDelayRounds: 5 },
}

export const proposing = (chain: Chain, who: Person, payload: ProposalPayload) =>
  chain.tx(who, { _tag: "CreateProposalTx", title: "A title", description: "", payload }, { fee: 1_000 })

export const voting = (chain: Chain, who: Person, vote: boolean, id = 1) =>
  chain.tx(who, { _tag: "VoteTx", proposalId: Natural.proposalId(id), vote }, { fee: 1_000 })

/** A proposal made at round 1, these votes at round 2; voting ends at 11, execution is due at 16. */
export const voted = (
  payload: ProposalPayload,
  votes: ReadonlyArray<readonly [Person, boolean]>,
  more: World = {},
): Chain => {
  const chain = new Chain({ ...world, ...more })
  chain.run(proposing(chain, alice, payload))
  chain.run(...votes.map(([who, vote]) => voting(chain, who, vote)))
  return chain
}

export const proposal = (chain: Chain, id = 1) => chain.ledger.read.proposal(Natural.proposalId(id))
