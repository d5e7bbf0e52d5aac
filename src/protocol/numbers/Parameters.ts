/** The parameters that governance can change, under their wire names, with their standard values and bounds. */
import { Schema } from "effect"
import * as Natural from "./Natural.js"
import { divideFloor, MIN_STAKE_SATS } from "./Sats.js"

export const MAX_COOLDOWN_ROUNDS = 10_000_000

/**
 * Filling all twenty places with proposals that get no votes costs as much as the stake for one seat, every voting
 * period.
 */
const BOND = 10_000_000_000

/** The least quorum with which validators that hold less than a third of the stake decide nothing alone. */
export const THIRD_PERCENT = 34

/**
 * Order and names are those of the genesis encoding; append only. The standard values suit a network of several
 * validators: nobody below a third of the stake decides alone, and anybody who disagrees can withdraw before a decision
 * takes effect. Values that depend on the epoch are described here and computed by `standard`.
 */
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
  {
    name: "cooldown_rounds",
    key: "cooldownRounds",
    standard: "an epoch, at least 240",
    min: 1,
    max: MAX_COOLDOWN_ROUNDS,
  },
  { name: "voting_period_rounds", key: "votingPeriodRounds", standard: "24 epochs", min: 10, max: 10_000_000 },
  {
    name: "execution_delay_rounds",
    key: "executionDelayRounds",
    standard: "2 epochs and the cooldown",
    min: 0,
    max: 10_000_000,
  },
  { name: "quorum_percent", key: "quorumPercent", standard: THIRD_PERCENT, min: 1, max: 100 },
  { name: "approval_percent", key: "approvalPercent", standard: 66, min: 51, max: 100 },
  { name: "max_active_proposals", key: "maxActiveProposals", standard: 20, min: 1, max: 100 },
  { name: "treasury_percent", key: "treasuryPercent", standard: 10, min: 0, max: 50 },
  { name: "council_percent", key: "councilPercent", standard: 10, min: 0, max: 30 },
  { name: "slash_percent", key: "slashPercent", standard: 50, min: 10, max: 100 },
  { name: "checkpoint_interval_rounds", key: "checkpointIntervalRounds", standard: 100, min: 10, max: 10_000 },
  { name: "proposal_bond_sats", key: "proposalBond", standard: BOND, min: 1, max: 1_000_000_000_000 },
  { name: "max_active_per_proposer", key: "maxActivePerProposer", standard: 3, min: 1, max: 100 },
  // Ten million accounts cost 110,000 UDG, half a percent of the maximum supply, because every node stores each
  // forever.
  { name: "account_fee_sats", key: "accountFee", standard: 1_100_000, min: 0, max: 100_000_000_000 },
] as const

export type Key = (typeof table)[number]["key"]
export type Of<A> = { readonly [K in Key]: A }
export type Parameters = Of<number>
export type Entry = (typeof table)[number]

export const find = (name: string): Entry | undefined => table.find((entry) => entry.name === name)

/** The minimum value of a parameter on a network whose epochs have this many rounds. */
export const minimumOf = (entry: Entry, epochRounds: number): number =>
  entry.key === "cooldownRounds" ? Math.max(entry.min, epochRounds) : entry.min

/**
 * One value per row of a table, under the row's name of that kind. Types cannot follow a loop over rows, hence the
 * cast.
 */
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

const VOTING_EPOCHS = 24
const EPOCHS_TO_LEAVE = 2
const LEAST_COOLDOWN_ROUNDS = 240
const atMost = (rounds: number): number => Math.min(rounds, MAX_COOLDOWN_ROUNDS)

/**
 * The defaults of a genesis. A delegation keeps working until the epoch closes and is paid out a cooldown later, so the
 * delay is an epoch to notice the decision, an epoch until it closes, and the cooldown.
 */
export const standard = (epochRounds: number, chosen: Partial<Parameters> = {}): Parameters => {
  // No stake may be paid out before the end of the epoch in which it works.
  const cooldownRounds = chosen.cooldownRounds ?? Math.max(LEAST_COOLDOWN_ROUNDS, epochRounds)
  const ofEpoch: Partial<Parameters> = {
    cooldownRounds,
    votingPeriodRounds: atMost(VOTING_EPOCHS * epochRounds),
    executionDelayRounds: atMost(EPOCHS_TO_LEAVE * epochRounds + cooldownRounds),
  }
  return make(({ key, standard }) => chosen[key] ?? ofEpoch[key] ?? Number(standard))
}

/** For a network that one person runs alone, to try things: decisions take an epoch and need nobody else. */
export const alone = (epochRounds: number): Parameters => ({
  ...standard(epochRounds),
  votingPeriodRounds: epochRounds,
  executionDelayRounds: divideFloor(epochRounds, 4),
  quorumPercent: 10,
  proposalBond: 1_000_000,
  maxActivePerProposer: 20,
  // Any client can pay on it, even one that knows only the minimum fee.
  accountFee: 0,
})

/** With epochs of the standard length. */
export const solo: Parameters = alone(1_200)

const value = ({ min, max, name }: Entry) => Natural.between(min, max, name)

/** All parameters under their wire names. */
export const Json = Schema.Struct(record(table, "name", value))

/** In a genesis file, where omitted parameters have their standard values. */
export const FileJson = Schema.Struct(
  record(table, "name", (entry) => Schema.optionalWith(value(entry), { exact: true })),
)

export const fromFile = (json: typeof FileJson.Type, epochRounds: number): Parameters => {
  const chosen: { -readonly [K in Key]?: number } = {}
  for (const { key, name } of table) {
    const given = json[name]
    if (given !== undefined) chosen[key] = given
  }
  return standard(epochRounds, chosen)
}

export const toJson = (parameters: Parameters): typeof Json.Type => record(table, "name", ({ key }) => parameters[key])
