import { Either, FastCheck as fc, Option } from "effect"
import { describe, expect, it } from "vitest"
import * as EpochRecord from "../../src/protocol/epoch/EpochRecord.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as arbitrary from "./arbitraries.js"
import { itObeysTheLawsOfACodec } from "./codecLaws.js"

itObeysTheLawsOfACodec("epoch records", {
  values: arbitrary.epochRecord,
  encode: EpochRecord.encode,
  decode: EpochRecord.decode,
})

const standardRules: EpochRecord.Rules = {
  epochRounds: 240,
  protocolVersion: 2,
  collectionDepthRounds: 60,
  checkpointIntervalRounds: 100,
  roundReward: Sats.make(10_000_000),
  halvingRounds: 105_000_000,
  treasuryPercent: 10,
  councilPercent: 10,
}

describe("a quorum", () => {
  it("is more than two thirds, exactly, up to the maximum supply", () => {
    expect(EpochRecord.isQuorum(2, Sats.make(3))).toBe(false)
    expect(EpochRecord.isQuorum(3, Sats.make(3))).toBe(true)
    fc.assert(
      fc.property(arbitrary.positiveSats, arbitrary.sats, (total, offset) => {
        const weight = Math.min(offset, total)
        expect(EpochRecord.isQuorum(weight, total)).toBe(BigInt(weight) * 3n > BigInt(total) * 2n)
        const third = Math.floor((total / 3) * 2)
        for (const near of [third - 1, third, third + 1, third + 2]) {
          expect(EpochRecord.isQuorum(near, total)).toBe(BigInt(near) * 3n > BigInt(total) * 2n)
        }
      }),
      { numRuns: 1_000 },
    )
  })
})

describe("the reward of a round", () => {
  it("is 0 at round 0, and halves after every halving period, rounded down", () => {
    const rewardAt = (round: number) => EpochRecord.roundReward(standardRules, Natural.round(round))
    expect([0, 1, 105_000_000, 105_000_001, 210_000_000, 210_000_001].map(rewardAt)).toEqual([
      0, 10_000_000, 10_000_000, 5_000_000, 5_000_000, 2_500_000,
    ])
    expect(rewardAt(1 + 105_000_000 * 23)).toBe(1)
    expect(rewardAt(1 + 105_000_000 * 24)).toBe(0)
    expect(rewardAt(Number.MAX_SAFE_INTEGER)).toBe(0)
  })

  it("is ⌊reward ÷ 2^⌊(round − 1) ÷ halving⌋⌋ for any numbers", () => {
    fc.assert(
      fc.property(arbitrary.rules, arbitrary.counter<Natural.Round>(), (rules, round) => {
        const halvings = round < 1 ? 0n : (BigInt(round) - 1n) / BigInt(rules.halvingRounds)
        const expected = round < 1 || halvings > 64n ? 0n : BigInt(rules.roundReward) >> halvings
        expect(BigInt(EpochRecord.roundReward(rules, round))).toBe(expected)
      }),
      { numRuns: 1_000 },
    )
  })

  it("is never exceeded by the coinbases of a whole committee", () => {
    fc.assert(
      fc.property(arbitrary.epochRecord, arbitrary.counter<Natural.Round>(), (record, round) => {
        const total = EpochRecord.totalWeight(record)
        const shares = record.members.map(({ weight }) => EpochRecord.coinbase(record.rules, round, weight, total))
        const minted = shares.reduce((sum, share) => sum + share, 0)
        const reward = EpochRecord.roundReward(record.rules, round)
        expect(minted).toBeLessThanOrEqual(reward)
        expect(minted).toBeGreaterThan(reward - record.members.length)
      }),
      { numRuns: 1_000 },
    )
  })
})

describe("an epoch record", () => {
  const [sample] = fc.sample(
    arbitrary.epochRecord.filter(({ members }) => members.length > 1),
    { numRuns: 1, seed: 1 },
  )
  if (sample === undefined) throw new Error("no sample")
  const [first, second] = sample.members
  if (first === undefined || second === undefined) throw new Error("no members")

  it("knows its nominal last round, its weight and its members", () => {
    const record = { ...sample, firstRound: Natural.round(241), rules: standardRules }
    expect(EpochRecord.lastRound(record)).toBe(480)
    expect(EpochRecord.totalWeight({ ...record, members: [first, second] })).toBe(first.weight + second.weight)
    expect(EpochRecord.memberOf(record, second.address)).toBe(second)
    expect(EpochRecord.memberOf({ ...record, members: [first] }, second.address)).toBeUndefined()
  })

  const heavy = Sats.MAX_SUPPLY
  it.each<[string, Partial<EpochRecord.EpochRecord>, string]>([
    ["no members", { members: [] }, "a committee without members"],
    ["a member twice", { members: [first, first] }, "members not in the order of their addresses"],
    ["members out of order", { members: [second, first] }, "members not in the order of their addresses"],
    ["a member of weight 0", { members: [{ ...first, weight: Sats.ZERO }] }, "a member of weight 0"],
    [
      "more weight than can exist",
      { members: [first, second].map((member) => ({ ...member, weight: heavy })) },
      "weights above the maximum supply",
    ],
    ["no rounds", { rules: { ...standardRules, epochRounds: 0 } }, "a period of 0 rounds"],
    ["no halving", { rules: { ...standardRules, halvingRounds: 0 } }, "a period of 0 rounds"],
    [
      "no checkpoints",
      { rules: { ...standardRules, checkpointIntervalRounds: 0 } },
      "a checkpoint interval of 0 rounds",
    ],
    ["more than the whole reward to share", { rules: { ...standardRules, treasuryPercent: 91 } }, "above 100 percent"],
    ["no round before its first", { firstRound: Natural.round(0) }, "a first round of 0"],
    ["rounds that no counter holds", { firstRound: Natural.round(Number.MAX_SAFE_INTEGER) }, "rounds above 2^53 - 1"],
  ])("is refused with %s", (_, changes, reason) => {
    const bytes = EpochRecord.encode({ ...sample, ...changes })
    expect(Option.getOrThrow(Either.getLeft(EpochRecord.decode(bytes))).reason).toContain(reason)
  })
})

describe("an epoch record may", () => {
  const [sample] = fc.sample(arbitrary.epochRecord, { numRuns: 1, seed: 1 })
  if (sample === undefined) throw new Error("no sample")

  it.each<[string, Partial<EpochRecord.EpochRecord>]>([
    ["give all of the reward away", { rules: { ...standardRules, treasuryPercent: 90 } }],
    [
      "weigh all that can exist",
      { members: sample.members.slice(0, 1).map((m) => ({ ...m, weight: Sats.MAX_SUPPLY })) },
    ],
  ])("%s", (_, changes) => {
    const record = { ...sample, ...changes }
    expect(EpochRecord.decode(EpochRecord.encode(record))).toStrictEqual(Either.right(record))
  })
})

describe("a record that this node makes", () => {
  const [sample] = fc.sample(arbitrary.epochRecord, { numRuns: 1, seed: 1 })
  const record = sample as EpochRecord.EpochRecord

  it("is one that every node can read", () => {
    expect(EpochRecord.made(record)).toBe(record)
  })

  it.each([
    ["a committee without members", { members: [] }],
    ["a member of weight 0", { members: record.members.map((member) => ({ ...member, weight: Sats.ZERO })) }],
    ["members not in the order of their addresses", { members: [...record.members, ...record.members] }],
    ["a period of 0 rounds", { rules: { ...record.rules, epochRounds: 0 } }],
    ["a checkpoint interval of 0 rounds", { rules: { ...record.rules, checkpointIntervalRounds: 0 } }],
    ["reward shares above 100 percent", { rules: { ...record.rules, treasuryPercent: 99, councilPercent: 2 } }],
    ["a first round of 0", { firstRound: Natural.round(0) }],
  ])("has not %s: that would be a bug", (violation, part) => {
    expect(() => EpochRecord.made({ ...record, ...part })).toThrow(violation)
  })
})
