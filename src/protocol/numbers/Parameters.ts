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

/** One value per row of a table, under the row's name of that kind. No type follows a loop over rows, hence the cast. */
export const record = <By extends string, Row extends { readonly [B in By]: string }, A>(
  rows: ReadonlyArray<Row>,
  by: By,
  of: (row: Row) => A,
) => {
  const values: { [name: string]: A } = {}
  for (const row of rows) values[row[by]] = of(row)
  return values as { readonly [Name in Row[By]]: A }
}

/** A record with one value per parameter, in the order of the table. */
export const make = <A>(of: (entry: Entry) => A): Of<A> => record(table, "key", of)

/** The parameters of a solo network. */
export const standard: Parameters = make((entry) => entry.standard)

/** The JSON field of one parameter: absent means the standard value. */
const field = ({ standard, min, max, name }: Entry) =>
  Schema.optionalWith(Natural.between(min, max, name), { default: () => standard })

/** All parameters under their wire names; omitted ones take the standard value. */
export const Json = Schema.Struct(record(table, "name", field))

export const fromJson = (json: typeof Json.Type): Parameters => make((entry) => json[entry.name])

export const toJson = (parameters: Parameters): typeof Json.Type => record(table, "name", ({ key }) => parameters[key])
