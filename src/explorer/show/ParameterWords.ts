/** Parameters for people: values in common units, and their purpose. */
import { PARAMETER } from "../../protocol/epoch/ProtocolVersion.js"
import type { Entry } from "../../protocol/numbers/Parameters.js"
import * as Parameters from "../../protocol/numbers/Parameters.js"
import * as Network from "../live/Network.js"
import * as ParameterValue from "./ParameterValue.js"
import * as Words from "./Words.js"

const sentences: Readonly<Record<Entry["name"], string>> = {
  min_fee_sats: "Minimum fee of a transaction. It goes to the validator that made the vertex.",
  name_fee_sats: "Minimum fee for registering a name. It goes to the treasury.",
  account_fee_sats: "Extra fee of a transfer that creates an account. It goes to the treasury.",
  min_delegation_sats: "Minimum amount of one delegation.",
  min_stake_to_propose_sats: "Own stake needed to propose without a seat in the council.",
  cooldown_rounds: "Time from the end of an epoch until stake and delegations that left in it are paid out.",
  voting_period_rounds: "Time in which a proposal can be voted on.",
  execution_delay_rounds: "Time from the end of the vote until a passed proposal is carried out.",
  quorum_percent: "Share of the stake that must vote; otherwise the proposal is rejected and its bond is lost.",
  approval_percent: "Share of the votes that must be yes.",
  max_active_proposals: "Maximum number of proposals open for votes at the same time.",
  treasury_percent: "The treasury's share of every reward.",
  council_percent: "The council's share of every reward, split evenly among its seats.",
  slash_percent: "Share of stake and delegations that is burned when a validator signs two vertices for one round.",
  checkpoint_interval_rounds: "Rounds between checkpoints.",
  proposal_bond_sats: "Deposit of a proposer, returned unless too few vote.",
  max_active_per_proposer: "Maximum number of open proposals of one account.",
}

export const sentenceOf = (name: string): string => {
  if (name === PARAMETER)
    return "Version of the protocol. More than two thirds of the stake can raise it by one, for the next epoch."
  const entry = Parameters.find(name)
  return entry === undefined ? "" : sentences[entry.name]
}

/** The value; rounds also as a duration at the present pace. */
export const figureOf = (name: string, value: number): string => {
  const written = ParameterValue.written(name, value)
  if (ParameterValue.unitOf(name) !== "rounds" || value === 0) return written
  const ms = Network.millisecondsOf(value)
  return Number.isFinite(ms) ? `${Words.duration(ms)} (${written})` : written
}
