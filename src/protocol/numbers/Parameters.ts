/** The parameters that governance may change, under their wire names, with a solo network's defaults and the bounds. */
import { Schema } from "effect"
import * as Natural from "./Natural.js"
import { MIN_STAKE_SATS } from "./Sats.js"

export const MAX_COOLDOWN_ROUNDS = 10_000_000

/** Order and names are those of the genesis encoding; append only. */
export const table = [
  { name: "min_fee_sats", key: "minFee", standard: 1_000, min: 1, max: 100_000_000 },
  { name: "name_fee_sats", key: "nameFee", standard: 100_000, min: 1, max: 100_000_000_000 },
  { name: "min_delegation_sats", key: "minDelegation", standard: 100_000_000, min: 1, max: MIN_STAKE_SATS },
  {
    name: "min_stake_to_propose_sats",
    key: "minStakeToPropose",
    standard: MIN_STAKE_SATS,
    min: 1,
    max: 100_000_000_000_000,
  },
  // The lower bound is the epoch's length, which the genesis fixes; see `minimumOf`.
  { name: "cooldown_rounds", key: "cooldownRounds", standard: 240, min: 1, max: MAX_COOLDOWN_ROUNDS },
  { name: "voting_period_rounds", key: "votingPeriodRounds", standard: 240, min: 10, max: 10_000_000 },
  { name: "execution_delay_rounds", key: "executionDelayRounds", standard: 60, min: 0, max: 10_000_000 },
  { name: "quorum_percent", key: "quorumPercent", standard: 10, min: 1, max: 100 },
  { name: "approval_percent", key: "approvalPercent", standard: 66, min: 51, max: 100 },
  { name: "max_active_proposals", key: "maxActiveProposals", standard: 20, min: 1, max: 100 },
  { name: "treasury_percent", key: "treasuryPercent", standard: 10, min: 0, max: 50 },
  { name: "council_percent", key: "councilPercent", standard: 10, min: 0, max: 30 },
  { name: "slash_percent", key: "slashPercent", standard: 50, min: 10, max: 100 },
  { name: "checkpoint_interval_rounds", key: "checkpointIntervalRounds", standard: 100, min: 10, max: 10_000 },
  { name: "proposal_bond_sats", key: "proposalBond", standard: 1_000_000, min: 1, max: 1_000_000_000_000 },
  { name: "max_active_per_proposer", key: "maxActivePerProposer", standard: 20, min: 1, max: 100 },
] as const

export type Key = (typeof table)[number]["key"]
/** One value per parameter. */
export type Of<A> = { readonly [K in Key]: A }
export type Parameters = Of<number>
export type Entry = (typeof table)[number]

/** The entry of a parameter; none for an unknown name. */
export const find = (name: string): Entry | undefined => table.find((entry) => entry.name === name)

/** The smallest value a parameter may take on a network whose epochs have this many rounds. */
export const minimumOf = (entry: Entry, epochRounds: number): number =>
  entry.key === "cooldownRounds" ? Math.max(entry.min, epochRounds) : entry.min

export const isWithinBounds = (entry: Entry, value: number, epochRounds: number): boolean =>
  Number.isSafeInteger(value) && value >= minimumOf(entry, epochRounds) && value <= entry.max

/** This value, or the parameter's maximum if that is lower. */
export const atMost = (key: Key, value: number): number =>
  table.reduce((most, entry) => (entry.key === key ? Math.min(most, entry.max) : most), value)

/** A record with one value per parameter, in the order of the table. */
export const make = <A>(of: (entry: Entry) => A): Of<A> => ({
  minFee: of(table[0]),
  nameFee: of(table[1]),
  minDelegation: of(table[2]),
  minStakeToPropose: of(table[3]),
  cooldownRounds: of(table[4]),
  votingPeriodRounds: of(table[5]),
  executionDelayRounds: of(table[6]),
  quorumPercent: of(table[7]),
  approvalPercent: of(table[8]),
  maxActiveProposals: of(table[9]),
  treasuryPercent: of(table[10]),
  councilPercent: of(table[11]),
  slashPercent: of(table[12]),
  checkpointIntervalRounds: of(table[13]),
  proposalBond: of(table[14]),
  maxActivePerProposer: of(table[15]),
})

/** The parameters of a solo network. */
export const standard: Parameters = make((entry) => entry.standard)

/** The JSON field of one parameter: absent means the standard value. */
const field = ({ standard, min, max, name }: Entry) =>
  Schema.optionalWith(Natural.between(min, max, name), { default: () => standard })

/** All parameters under their wire names; omitted ones take the standard value. */
export const Json = Schema.Struct({
  min_fee_sats: field(table[0]),
  name_fee_sats: field(table[1]),
  min_delegation_sats: field(table[2]),
  min_stake_to_propose_sats: field(table[3]),
  cooldown_rounds: field(table[4]),
  voting_period_rounds: field(table[5]),
  execution_delay_rounds: field(table[6]),
  quorum_percent: field(table[7]),
  approval_percent: field(table[8]),
  max_active_proposals: field(table[9]),
  treasury_percent: field(table[10]),
  council_percent: field(table[11]),
  slash_percent: field(table[12]),
  checkpoint_interval_rounds: field(table[13]),
  proposal_bond_sats: field(table[14]),
  max_active_per_proposer: field(table[15]),
})

export const fromJson = (json: typeof Json.Type): Parameters => make((entry) => json[entry.name])

export const toJson = (parameters: Parameters): typeof Json.Type => ({
  min_fee_sats: parameters.minFee,
  name_fee_sats: parameters.nameFee,
  min_delegation_sats: parameters.minDelegation,
  min_stake_to_propose_sats: parameters.minStakeToPropose,
  cooldown_rounds: parameters.cooldownRounds,
  voting_period_rounds: parameters.votingPeriodRounds,
  execution_delay_rounds: parameters.executionDelayRounds,
  quorum_percent: parameters.quorumPercent,
  approval_percent: parameters.approvalPercent,
  max_active_proposals: parameters.maxActiveProposals,
  treasury_percent: parameters.treasuryPercent,
  council_percent: parameters.councilPercent,
  slash_percent: parameters.slashPercent,
  checkpoint_interval_rounds: parameters.checkpointIntervalRounds,
  proposal_bond_sats: parameters.proposalBond,
  max_active_per_proposer: parameters.maxActivePerProposer,
})
