/** The whole emission, with halvings a million times as fast. */
import { describe, expect, it } from "vitest"
import * as EpochRecord from "../../src/protocol/epoch/EpochRecord.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { Chain, coins, person } from "./builders.js"

const val = person("val")
const halvingRounds = 105
const roundReward = coins(1_000)

/** The schedule's total emission, counted independently. */
const scheduled = (): number => {
  let sum = 0
  for (let reward: number = roundReward; reward > 0; reward = Math.floor(reward / 2)) sum += reward * halvingRounds
  return sum
}

const walk = (chain: Chain, rounds: number): void => {
  while (chain.round < rounds) chain.commit([{ by: val }])
}

/** Past the last reward of a single sat. */
const END = 105 * 40

describe("the emission", () => {
  it("ends at the schedule's sum where the cap is far", () => {
    const chain = new Chain({ accounts: { alice: 5 }, protocol: { roundReward, halvingRounds } })
    const start = chain.ledger.read.totals.total
    walk(chain, END)
    expect(chain.ledger.read.totals.total - start).toBe(scheduled())
    expect(EpochRecord.roundReward(chain.epoch.rules, chain.ledger.read.head.leaderRound)).toBe(0)
    const end = chain.ledger.read.totals
    expect(chain.commit([{ by: val }]).changes.size).toBeGreaterThan(0)
    expect(chain.ledger.read.totals).toEqual(end)
  })

  it("ends exactly at the cap where allocations leave less, and stays there", () => {
    const room = 150_000.123_456_78
    const chain = new Chain({
      accounts: { alice: 21_000_000 - 10_000 - room },
      protocol: { roundReward, halvingRounds },
    })
    expect(scheduled()).toBeGreaterThan(coins(room))
    const reached: Array<number> = []
    while (chain.round < END) {
      chain.commit([{ by: val }])
      if (chain.ledger.read.totals.total === Sats.MAX_SUPPLY) reached.push(chain.round)
    }
    expect(reached[0]).toBeLessThan(400)
    expect(reached.length).toBe(END - (reached[0] ?? 0) + 1)
  })

  it("can mint burned coins again, up to the cap", () => {
    const chain = new Chain({
      accounts: { alice: 21_000_000 - 10_000 - 2_000 - 0.1 },
      validators: { val: 10_000, other: 2_000 },
      protocol: { roundReward },
    })
    walk(chain, 2)
    expect(chain.ledger.read.totals.total).toBe(Sats.MAX_SUPPLY)
    chain.commit([{ by: val, evidence: [chain.evidence(person("other"), 3)] }])
    const burned = coins(1_000)
    const minted = EpochRecord.coinbase(
      chain.epoch.rules,
      chain.ledger.read.head.leaderRound,
      coins(10_000),
      coins(12_000),
    )
    expect(chain.ledger.read.totals.total).toBe(Sats.MAX_SUPPLY - burned + minted)
    walk(chain, 6)
    expect(chain.ledger.read.totals.total).toBe(Sats.MAX_SUPPLY)
  })
})
