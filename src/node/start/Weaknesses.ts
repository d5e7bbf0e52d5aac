/**
 * Weaknesses of a valid genesis: rules under which one party could decide alone or before others can leave, and an id
 * that another network may have. Making or joining such a genesis logs a warning.
 */
import type { Genesis } from "../../protocol/epoch/Genesis.js"
import * as Network from "../../protocol/identity/Network.js"
import * as Parameters from "../../protocol/numbers/Parameters.js"
import * as Sats from "../../protocol/numbers/Sats.js"

const weakness = (isWeak: boolean, text: string): ReadonlyArray<string> => (isWeak ? [text] : [])

export const ofGovernance = ({ parameters, protocol: { epochRounds } }: Genesis): ReadonlyArray<string> => {
  const { votingPeriodRounds, executionDelayRounds, quorumPercent } = parameters
  const { proposalBond, maxActiveProposals, maxActivePerProposer } = parameters
  return [
    ...weakness(
      votingPeriodRounds < epochRounds,
      `voting_period_rounds is ${votingPeriodRounds}, less than an epoch of ${epochRounds}: ` +
        "a vote can be over before the other validators see it",
    ),
    ...weakness(
      executionDelayRounds < epochRounds,
      `execution_delay_rounds is ${executionDelayRounds}, less than an epoch of ${epochRounds}: ` +
        "a decision takes effect before those who disagree can leave",
    ),
    ...weakness(
      quorumPercent < Parameters.THIRD_PERCENT,
      `quorum_percent is ${quorumPercent}, below ${Parameters.THIRD_PERCENT}: ` +
        "validators with less than a third of the stake can pass a proposal alone",
    ),
    ...weakness(
      proposalBond < Sats.SATS_PER_COIN,
      `proposal_bond_sats is ${proposalBond}, below ${Sats.SATS_PER_COIN}: proposals without votes cost almost nothing`,
    ),
    ...weakness(
      maxActivePerProposer >= maxActiveProposals,
      `max_active_per_proposer is ${maxActivePerProposer}, not below max_active_proposals, ${maxActiveProposals}: ` +
        "one proposer can take every place",
    ),
  ]
}

const ofId = ({ networkId }: Genesis): ReadonlyArray<string> =>
  weakness(
    !Network.isDrawn(networkId),
    `the network id ${networkId} does not end in 16 random hex digits: if another network has or had this id, ` +
      "transactions signed for that one are valid on this one; never use an id twice",
  )

/** None for a solo testnet, which one person runs. */
export const of = (genesis: Genesis): ReadonlyArray<string> => {
  const { mode, validators } = genesis
  const isShared = validators.length > 1
  return [...(isShared ? ofGovernance(genesis) : []), ...(isShared || mode === "mainnet" ? ofId(genesis) : [])]
}
