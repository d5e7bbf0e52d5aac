/** The numbers that a network keeps forever, under the names of the genesis file. No vote changes them. */
import { Schema } from "effect"
import type { Reader, Writer } from "../encoding/Binary.js"
import * as Natural from "../numbers/Natural.js"
import * as Parameters from "../numbers/Parameters.js"
import * as Sats from "../numbers/Sats.js"

export const MIN_EPOCH_ROUNDS = 40

/** The cooldown is at least an epoch, and governance cannot set it higher than this. */
const MAX_EPOCH_ROUNDS = Parameters.MAX_COOLDOWN_ROUNDS

/** Order and names are those of the genesis encoding; append only. */
export const table = [
  { name: "round_interval_ms", key: "roundIntervalMs", standard: 100, min: 1, max: 60_000, as: "count" },
  {
    name: "epoch_rounds",
    key: "epochRounds",
    standard: 1_200,
    min: MIN_EPOCH_ROUNDS,
    max: MAX_EPOCH_ROUNDS,
    as: "count",
  },
  // The upper bound is below the epoch's length; see `maximumOf`.
  {
    name: "collection_depth_rounds",
    key: "collectionDepthRounds",
    standard: 60,
    min: 1,
    max: MAX_EPOCH_ROUNDS - 1,
    as: "count",
  },
  { name: "round_reward", key: "roundReward", standard: 2_000_000, min: 0, max: Sats.MAX_SUPPLY, as: "sats" },
  { name: "halving_rounds", key: "halvingRounds", standard: 525_000_000, min: 1, max: 100_000_000_000, as: "count" },
  {
    name: "default_commission_percent",
    key: "defaultCommissionPercent",
    standard: 10,
    min: 0,
    max: 100,
    as: "percent",
  },
] as const

type Entry = (typeof table)[number]

type Of<A> = { readonly [K in Entry["key"]]: A }

export interface Protocol extends Of<number> {
  readonly roundReward: Sats.Sats
}

const make = (of: (entry: Entry) => number): Protocol => {
  const values = Parameters.record(table, "key", of)
  return { ...values, roundReward: Sats.make(values.roundReward) }
}

/** The defaults, for a solo network. */
export const standard: Protocol = make((entry) => entry.standard)

/** The same network at another round interval: epochs and halvings take as long, and daily rewards stay the same. */
export const every = (roundIntervalMs: number): Protocol => {
  const { roundIntervalMs: by, epochRounds, roundReward, halvingRounds } = standard
  const roundsIn = (rounds: number): number => Sats.divideFloor(rounds * by, roundIntervalMs)
  return {
    ...standard,
    roundIntervalMs,
    epochRounds: Math.max(2 * MIN_EPOCH_ROUNDS, roundsIn(epochRounds)),
    roundReward: Sats.make(Sats.divideFloor(roundReward * roundIntervalMs, by)),
    halvingRounds: roundsIn(halvingRounds),
  }
}

/** The largest allowed value, given the other numbers of the network. */
export const maximumOf = (entry: Entry, { epochRounds }: Protocol): number =>
  entry.key === "collectionDepthRounds" ? epochRounds - 1 : entry.max

export const write = (writer: Writer, protocol: Protocol): void => {
  for (const { key, as } of table) {
    if (as === "percent") writer.u8(protocol[key])
    else writer.u64(protocol[key])
  }
}

const readValue = (reader: Reader, { as }: Entry): number => {
  switch (as) {
    case "count":
      return reader.u64()
    case "sats":
      return reader.sats()
    case "percent":
      return reader.u8()
  }
}

export const read = (reader: Reader): Protocol => make((entry) => readValue(reader, entry))

const Count = Natural.count("a number")

const field = <A extends number>(schema: Schema.Schema<A, number>, standard: A) =>
  Schema.optionalWith(schema, { default: () => standard })

/** All numbers under their wire names; omitted ones take the standard value. */
export const Json = Schema.Struct({
  round_interval_ms: field(Count, standard.roundIntervalMs),
  epoch_rounds: field(Count, standard.epochRounds),
  collection_depth_rounds: field(Count, standard.collectionDepthRounds),
  round_reward: field(Sats.schema, standard.roundReward),
  halving_rounds: field(Count, standard.halvingRounds),
  default_commission_percent: field(Count, standard.defaultCommissionPercent),
})

export const fromJson = (json: typeof Json.Type): Protocol => make((entry) => json[entry.name])

export const toJson = (protocol: Protocol): typeof Json.Type => ({
  ...Parameters.record(table, "name", ({ key }) => protocol[key]),
  round_reward: protocol.roundReward,
})
