/** Parameters for people: values in common units, and their purpose. */
import type { Entry } from "../../protocol/numbers/Parameters.js"
import * as Parameters from "../../protocol/numbers/Parameters.js"
import * as Network from "../live/Network.js"
import * as ParameterValue from "./ParameterValue.js"
import * as Words from "./Words.js"

const sentences: Readonly<Record<Entry["name"], string>> = {
  min_fee_sats: "The least fee of a transaction. It goes to the validator that made the vertex.",
  name_fee_sats: "The least fee for registering a name. It goes to the treasury.",
  account_fee_sats: "What the first transfer to an account costs on top of its fee. It goes to the treasury.",
  min_delegation_sats: "The least that can be delegated at once.",
  min_stake_to_propose_sats: "The own stake that it takes to make a proposal, unless one sits in the council.",
  cooldown_rounds: "How long stake and delegations wait after the epoch in which they were withdrawn.",
  voting_period_rounds: "How long a proposal can be voted on.",
  execution_delay_rounds: "How long after the vote a passed proposal is carried out.",
  quorum_percent: "The part of the stake that must vote, or the proposal is rejected and its bond is lost.",
  approval_percent: "The part of the votes that must be yes.",
  max_active_proposals: "How many proposals can be open for votes at the same time.",
  treasury_percent: "The treasury's part of every reward.",
  council_percent: "The council's part of every reward, evenly over its seats.",
  slash_percent: "What a validator and its delegators lose when it signs two vertices for one round.",
  checkpoint_interval_rounds: "How far apart checkpoints are.",
  proposal_bond_sats: "What a proposer leaves behind until the vote. It comes back unless too few vote.",
  max_active_per_proposer: "How many open proposals one account can have.",
}

export const sentenceOf = (name: string): string => {
  const entry = Parameters.find(name)
  return entry === undefined ? "" : sentences[entry.name]
}

/** The value; rounds also as a duration at the network's pace. */
export const figureOf = (name: string, value: number): string => {
  const written = ParameterValue.written(name, value)
  if (ParameterValue.unitOf(name) !== "rounds" || value === 0) return written
  const ms = Network.millisecondsOf(value)
  return Number.isFinite(ms) ? `${Words.duration(ms)} (${written})` : written
}
