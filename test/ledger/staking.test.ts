/** Rewards, waiting, slashing, epochs: where the money of validators and delegators goes, to the sat. */
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { toHex } from "#crypto"
import * as Rewards from "../../src/ledger/rules/Rewards.js"
import * as Records from "../../src/ledger/tables/Records.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { Chain, coins, person, told } from "./builders.js"
import { alice, other, val } from "./People.js"

describe("a reward", () => {
  const rules = { treasuryPercent: 10, councilPercent: 10 }
  const protocol = { roundReward: Sats.make(10_000_000) }
  const measures = { rules, councilSeats: 3, ownStake: coins(100), workingPool: coins(50), commissionPercent: 10 }

  it("is split among treasury, council, pool and author, who keeps the dust", () => {
    // 1 000 003: treasury 100 000, council 100 000 → 33 333 each, rest 800 003, commission 80 000, of 720 003 a third.
    expect(Rewards.split(Sats.make(1_000_003), measures)).toEqual({
      treasury: 100_000,
      perCouncilSeat: 33_333,
      pool: 240_001,
      author: 1_000_003 - 100_000 - 3 * 33_333 - 240_001,
    })
  })

  it("goes to the treasury without a council, and to the author without delegators", () => {
    expect(Rewards.split(Sats.make(1_000_003), { ...measures, councilSeats: 0, workingPool: Sats.ZERO })).toEqual({
      treasury: 200_000,
      perCouncilSeat: 0,
      pool: 0,
      author: 800_003,
    })
  })

  it("goes to the author if it has lost its stake, without delegators and shares", () => {
    const nothing = { ownStake: Sats.ZERO, workingPool: Sats.ZERO, rules: { treasuryPercent: 0, councilPercent: 0 } }
    expect(Rewards.split(Sats.make(7), { ...measures, ...nothing })).toMatchObject({ pool: 0, author: 7 })
  })

  it("is not paid outside the committee, and such a vertex shows no presence", () => {
    const chain = new Chain({ accounts: { alice: 5 } })
    const { header, body, encoded } = chain.vertex({ by: alice, round: 25 }, 25)
    const claiming = { header: { ...header, coinbase: coins(1) }, body, encoded }
    const { vertices, changes } = Either.getOrThrow(chain.executeVertices([claiming], 25))
    expect([vertices[0]?.minted, chain.balance(alice)]).toEqual([0, coins(5)])
    expect([...changes].map(({ kind }) => kind)).not.toContain("Presence")
  })

  it("is minted once per round and author, in the first of two vertices", () => {
    const chain = new Chain({ protocol })
    const { vertices } = chain.commit([{ by: val }, { by: val }])
    expect(vertices.map(({ minted }) => minted)).toEqual([10_000_000, 0])
    // A third one, ordered a commit later, is not paid either.
    expect(chain.commit([{ by: val, round: 1 }]).vertices.map(({ minted }) => minted)).toEqual([0])
    expect(chain.ledger.read.totals.total).toBe(coins(10_000) + 10_000_000)
  })

  it("compounds for delegators inside the pool", () => {
    const chain = new Chain({ accounts: { alice: 10_000 }, commission: 20, protocol })
    chain.run(chain.delegate(alice, val, coins(10_000)))
    const before = chain.ledger.read.delegation(alice.address)?.amount ?? 0
    expect(before).toBe(coins(10_000) + 3_200_000)
    chain.commit([{ by: val }])
    // 10 000 000 less treasury and council: 8 000 000, less commission: 6 400 000, nearly half of it each.
    const after = chain.ledger.read.delegation(alice.address)?.amount ?? 0
    expect(after - before).toBe(Sats.partBounded(Sats.make(6_400_000), before, before + coins(10_000)))
  })

  it("stops at the cap", () => {
    const chain = new Chain({ accounts: { alice: 21_000_000 - 10_000.1 }, protocol })
    const minted = [1, 2].flatMap(() => chain.commit([{ by: val }]).vertices.map((vertex) => vertex.minted))
    expect(minted).toEqual([10_000_000, 0])
    expect(chain.ledger.read.totals.total).toBe(Sats.MAX_SUPPLY)
  })
})

describe("the record of rewards paid in a round", () => {
  const [third, fourth] = [person("third"), person("fourth")]
  const four = { val: 10_000, other: 4_000, third: 4_000, fourth: 4_000 }
  const paid = (chain: Chain) =>
    [...chain.ledger.records()].flatMap(({ kind, key, value }) =>
      kind === "Minted" ? [[Number(`0x${toHex(key)}`), Either.getOrThrow(Records.decode(Records.minted, value))]] : [],
    )

  it("names positions in ascending order, in any order of vertices", () => {
    const members = [val, other, third, fourth].sort((a, b) => (a.address < b.address ? 1 : -1))
    for (const order of [members, [...members].reverse(), [...members.slice(2), ...members.slice(0, 2)]]) {
      const chain = new Chain({ validators: four })
      chain.commit(order.map((by) => ({ by })))
      expect(paid(chain)).toEqual([[1, [0, 1, 2, 3]]])
    }
  })

  it("is dropped at the collection depth below the leader round, where no more vertices are ordered", () => {
    const chain = new Chain({})
    for (let round = 1; round <= 10; round++) chain.advanceTo(round)
    expect(paid(chain).map(([round]) => round)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    chain.advanceTo(11)
    expect(paid(chain).map(([round]) => round)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    chain.advanceTo(14)
    expect(paid(chain).map(([round]) => round)).toEqual([5, 6, 7, 8, 9, 10, 11, 14])
  })
})

describe("a commission", () => {
  const setTo = (chain: Chain, percent: number) =>
    chain.tx(other, { _tag: "SetCommissionTx", commissionPercent: percent })
  const commission = (chain: Chain) => chain.ledger.read.stake(other.address).commissionPercent

  it("stays while its validator tops up, and returns to the default when it stakes again, even with delegators", () => {
    const chain = new Chain({ validators: { val: 10_000, other: 4_000 }, accounts: { other: 9_000, alice: 5 } })
    chain.run(setTo(chain, 33), chain.stake(other, coins(2_000)), chain.delegate(alice, other, coins(5)))
    expect(commission(chain)).toBe(33)
    chain.run(chain.unstake(other))
    for (let i = 0; i < 3; i++) chain.closeEpoch([val])
    expect(chain.account(other).stake).toBeNull()
    expect(commission(chain)).toBe(33)
    expect(chain.run(chain.stake(other, coins(2_000))).map(told)).toEqual(["applied"])
    expect(commission(chain)).toBe(10)
    expect(chain.ledger.read.stake(other.address)).toMatchObject({ delegatorCount: 1 })
  })

  it("can be set once an epoch, also by an account that stakes again in it", () => {
    const chain = new Chain({
      validators: { val: 10_000, other: 4_000 },
      accounts: { other: 9_000, alice: 5 },
      parameters: { slashPercent: 100 },
    })
    const first = chain.epoch
    chain.closeEpoch([val])
    expect(chain.committee).toEqual([val])
    chain.run(setTo(chain, 33))
    chain.commit([{ by: val, evidence: [chain.evidence(other, 20, first)] }])
    expect(chain.run(chain.stake(other, coins(2_000)), setTo(chain, 44)).map(told)).toEqual([
      "applied",
      "failed: commission_set_this_epoch",
    ])
  })
})

describe("a checkpoint", () => {
  it("is due at the first commit at or past each multiple of the interval, and at the close", () => {
    const chain = new Chain({ parameters: { checkpointIntervalRounds: 10 } })
    const due = [2, 10, 11, 12, 25, 30, 31, 39, 40].map((round) => chain.advanceTo(round).isCheckpointDue)
    expect(due).toEqual([false, false, true, false, true, false, true, false, true])
    expect(chain.epoch.firstRound).toBe(41)
    expect([50, 51].map((round) => chain.advanceTo(round).isCheckpointDue)).toEqual([false, true])
  })
})
