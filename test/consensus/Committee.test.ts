import { FastCheck } from "effect"
import { describe, expect, it } from "vitest"
import { sha256Hex } from "#crypto"
import { Committee } from "../../src/consensus/dag/Committee.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { committeeOf, equalWeights, recordOf, seedOf } from "./TestCommittee.js"

describe("leaders", () => {
  it("are drawn as documented: hash as a big-endian integer, modulo the weight, over members in address order", () => {
    const weights = [5, 3, 2]
    const committee = committeeOf(weights)
    for (let round = 1; round <= 50; round++) {
      const bytes = Buffer.alloc("udg/leader".length + 1 + 32 + 8 + 4)
      bytes.write("udg/leader\0", 0)
      bytes.write(committee.record.seed, 11, "hex")
      bytes.writeBigUInt64LE(BigInt(round), 43)
      const ticket = BigInt(`0x${sha256Hex(bytes)}`) % 10n
      expect(committee.leaderOf(Natural.round(round))).toBe(ticket < 5n ? 0 : ticket < 8n ? 1 : 2)
    }
  })

  it("are drawn in proportion to their weight", () => {
    const committee = committeeOf([60, 30, 10])
    const counts = [0, 0, 0]
    for (let round = 1; round <= 4_000; round++) {
      const leader = committee.leaderOf(Natural.round(round))
      counts[leader] = (counts[leader] ?? 0) + 1
    }
    expect(counts.map((count) => Math.round(count / 400))).toEqual([6, 3, 1])
  })

  it("depend on the seed", () => {
    const leadersOf = (seed: string) => {
      const committee = committeeOf(equalWeights(10), { seed: seedOf(seed) })
      return Array.from({ length: 30 }, (_, i) => committee.leaderOf(Natural.round(i + 1)))
    }
    expect(leadersOf("a")).toEqual(leadersOf("a"))
    expect(leadersOf("a")).not.toEqual(leadersOf("b"))
  })
})

describe("a quorum", () => {
  it("is more than two thirds of the weight, exactly", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(FastCheck.integer({ min: 1, max: 20_000_000_000_000 }), { minLength: 1, maxLength: 100 }),
        (weights) => {
          const committee = new Committee(recordOf(weights))
          const total = weights.reduce((sum, weight) => sum + BigInt(weight), 0n)
          const least = (total * 2n) / 3n + 1n
          expect(committee.isQuorum(Number(least))).toBe(true)
          expect(committee.isQuorum(Number(least - 1n))).toBe(false)
        },
      ),
    )
  })

  it("shares more than a third with any other", () => {
    const committee = committeeOf([4, 4, 3, 2])
    for (let weight = 0; weight <= 13; weight++) {
      if (committee.isQuorum(weight)) expect((2 * weight - 13) * 3).toBeGreaterThan(13)
    }
  })
})

describe("the coinbase", () => {
  it("shares the round reward by weight, rounded down", () => {
    const committee = committeeOf([1, 1, 1])
    expect([0, 1, 2].map((seat) => committee.coinbase(Natural.round(1), seat))).toEqual([
      3_333_333, 3_333_333, 3_333_333,
    ])
  })

  it("halves with the vertex's own round", () => {
    const committee = committeeOf([1, 1])
    expect(committee.coinbase(Natural.round(105_000_000), 0)).toBe(5_000_000)
    expect(committee.coinbase(Natural.round(105_000_001), 0)).toBe(2_500_000)
  })

  it("never exceeds the round reward in total", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(FastCheck.integer({ min: 1, max: 1_000 }), { minLength: 1 }), (weights) => {
        const committee = committeeOf(weights)
        const minted = weights.reduce((sum, _, seat) => sum + committee.coinbase(Natural.round(1), seat), 0)
        expect(minted).toBeLessThanOrEqual(committee.record.rules.roundReward)
        expect(minted).toBeGreaterThan(committee.record.rules.roundReward - weights.length)
      }),
    )
  })
})

it("throws for a seat that does not exist, a bug of the caller", () => {
  const committee = committeeOf([Sats.make(1)])
  expect(() => committee.member(1)).toThrow(RangeError)
})
