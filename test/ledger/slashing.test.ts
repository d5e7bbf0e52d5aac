/** What equivocating members lose. */
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { Chain, coins, told } from "./builders.js"
import { alice, bob, carol, other, val } from "./People.js"

describe("equivocation", () => {
  const world = {
    validators: { val: 10_000, other: 4_000 },
    accounts: { alice: 1_000, bob: 500, other: 3_000, carol: 9 },
  }

  it("burns half of the own stake and of both pools once an epoch, and bars the author", () => {
    const chain = new Chain(world)
    chain.run(chain.delegate(alice, other, coins(1_000)), chain.delegate(bob, other, coins(500)))
    chain.run(chain.undelegate(alice))
    chain.closeEpoch()
    const before = chain.ledger.read.totals
    const leaving = chain.ledger.read.delegation(alice.address)?.amount ?? 0
    const working = chain.ledger.read.delegation(bob.address)?.amount ?? 0
    const { events } = chain.commit([{ by: val, evidence: [chain.evidence(other, 41), chain.evidence(other, 42)] }])
    const delegated = Sats.percent(Sats.make(leaving), 50) + Sats.percent(Sats.make(working), 50)
    expect(events).toEqual([
      { _tag: "Slashed", validator: other.address, epoch: 2, round: 41, ownStake: coins(2_000), delegated },
    ])
    const after = chain.ledger.read.totals
    expect(before.staked - after.staked).toBe(coins(2_000))
    expect(chain.ledger.read.stake(other.address)).toMatchObject({
      stakedAmount: coins(2_000),
      isActiveValidator: false,
    })
    expect(chain.run(chain.stake(other, coins(2_000))).map(told)).toEqual(["failed: barred"])
    chain.closeEpoch([val, other])
    expect(chain.committee).toEqual([val])
  })

  it("of the previous epoch still counts, but not of an older one or on a foreign base", () => {
    const chain = new Chain(world)
    const first = chain.epoch
    chain.commit([{ by: val }])
    chain.closeEpoch()
    const foreign = chain.evidence(other, 20, first)
    const base = "f".repeat(64) as typeof foreign.first.base
    const elsewhere = { first: { ...foreign.first, base }, second: { ...foreign.second, base } }
    expect(chain.commit([{ by: val, evidence: [elsewhere] }]).events).toEqual([])
    expect(chain.commit([{ by: val, evidence: [chain.evidence(carol, 20, first)] }]).events).toEqual([])
    expect(chain.commit([{ by: val, evidence: [chain.evidence(other, 20, first)] }]).events).toHaveLength(1)
    chain.closeEpoch()
    expect(chain.commit([{ by: val, evidence: [chain.evidence(val, 20, first)] }]).events).toEqual([])
  })

  it("is recognised before the epoch's first commit, and afterwards only on that commit's base", () => {
    const chain = new Chain(world)
    const early = chain.evidence(other, 1)
    const { read } = chain.ledger
    expect(read.isPunishable(early)).toBe(true)
    expect(read.isPunishable(chain.evidence(carol, 1))).toBe(false)
    chain.commit([{ by: val }])
    const base = "f".repeat(64) as typeof early.first.base
    const foreign = { first: { ...early.first, base }, second: { ...early.second, base } }
    expect([read.isPunishable(early), read.isPunishable(foreign)]).toEqual([true, false])
  })

  it("that slashes to nothing kills the shares: they are worth 0, and delegators may go elsewhere", () => {
    const chain = new Chain({ ...world, parameters: { slashPercent: 100 } })
    chain.run(chain.delegate(alice, other, coins(900)))
    chain.commit([{ by: val, evidence: [chain.evidence(other, 2)] }])
    expect(chain.ledger.read.delegation(alice.address)).toBeUndefined()
    expect(chain.ledger.read.stake(other.address)).toMatchObject({ stakedAmount: 0, delegatorCount: 0 })
    expect(chain.run(chain.undelegate(alice), chain.delegate(alice, val, coins(5))).map(told)).toEqual([
      "failed: not_delegating",
      "applied",
    ])
  })

  it("is punished once, even if the evidence comes again in the next epoch", () => {
    const chain = new Chain(world)
    const evidence = chain.evidence(other, 20)
    expect(chain.commit([{ by: val, evidence: [evidence] }]).events).toHaveLength(1)
    chain.closeEpoch()
    expect(chain.commit([{ by: val, evidence: [evidence] }]).events).toEqual([])
    expect(chain.account(other).stake?.amount).toBe(coins(2_000))
  })

  it("leaves a mark while its evidence counts, to the close of the next epoch", () => {
    const chain = new Chain(world)
    const marks = () => [...chain.ledger.records()].filter(({ kind }) => kind === "Slashed").length
    chain.commit([{ by: val, evidence: [chain.evidence(other, 1)] }])
    chain.closeEpoch()
    expect([chain.epoch.epoch, marks()]).toEqual([2, 1])
    chain.closeEpoch()
    expect([chain.epoch.epoch, marks()]).toEqual([3, 0])
  })

  it("in two epochs is punished for each, the second time from the rest, possibly nothing", () => {
    for (const [slashPercent, left] of [
      [50, coins(1_000)],
      [100, undefined],
    ] as const) {
      const chain = new Chain({ ...world, parameters: { slashPercent } })
      chain.run(chain.delegate(alice, other, coins(8)))
      const before = chain.epoch
      chain.closeEpoch()
      chain.commit([{ by: val, evidence: [chain.evidence(other, 20, before)] }])
      const again = chain.commit([{ by: val, evidence: [chain.evidence(other, 41)] }]).events
      const burned = slashPercent === 50 ? { ownStake: coins(1_000) } : { ownStake: 0, delegated: 0 }
      expect(again).toMatchObject([{ _tag: "Slashed", epoch: 2, ...burned }])
      expect(chain.account(other).stake?.amount).toBe(left)
    }
  })

  it("cannot be proven for an epoch without a known base, since no vertex of it was executed", () => {
    const chain = new Chain(world)
    const first = chain.epoch
    chain.commit([], chain.lastRound)
    expect(chain.epoch.epoch).toBe(2)
    expect(chain.commit([{ by: val, evidence: [chain.evidence(other, 20, first)] }]).events).toEqual([])
  })

  it("costs delegators who left in the same epoch their part, up to all of it", () => {
    const slashed = (slashPercent: number): Chain => {
      const chain = new Chain({ ...world, parameters: { slashPercent } })
      chain.run(chain.delegate(alice, other, coins(10)), chain.delegate(bob, other, coins(30)), chain.undelegate(alice))
      chain.commit([{ by: val, evidence: [chain.evidence(other, 1)] }])
      return chain
    }
    const half = slashed(50)
    const worth = half.ledger.read.delegation(alice.address)?.amount
    half.closeEpoch([val])
    expect(half.ledger.read.delegators(other.address, 9)).toMatchObject({ count: 2, total: coins(20) })
    expect([worth, half.ledger.read.delegation(alice.address)?.amount]).toEqual([coins(5), coins(5)])
    expect(half.ledger.read.stake(other.address).effectiveStake).toBe(coins(2_000 + 15))
    const dead = slashed(100)
    expect(dead.ledger.read.delegators(other.address, 9)).toMatchObject({ count: 0, total: 0 })
    dead.closeEpoch([val])
    expect(dead.run(dead.delegate(alice, val, coins(10))).map(told)).toEqual(["applied"])
    expect(Either.isRight(dead.ledger.recount())).toBe(true)
  })

  it("with a stake slashed to nothing bars it from staking until it is out of the committee", () => {
    const chain = new Chain({ ...world, parameters: { slashPercent: 100 } })
    chain.commit([{ by: val, evidence: [chain.evidence(other, 1)] }])
    expect(chain.account(other).stake).toBeNull()
    const again = () => chain.run(chain.stake(other, coins(2_000))).map(told)
    expect(again()).toEqual(["failed: barred"])
    chain.closeEpoch([val])
    expect(again()).toEqual(["applied"])
    expect(chain.ledger.read.stake(other.address).isActiveValidator).toBe(true)
  })

  it("bars the rest of a stake even outside the committee, so it must leave first", () => {
    const chain = new Chain(world)
    chain.commit([{ by: val, evidence: [chain.evidence(other, 1)] }])
    chain.closeEpoch([val])
    expect(chain.committee).toEqual([val])
    expect(chain.run(chain.stake(other, coins(2_000))).map(told)).toEqual(["failed: barred"])
  })

  it("is forgiven to an account that has left and stakes again", () => {
    const chain = new Chain({ ...world, parameters: { slashPercent: 50 } })
    chain.commit([{ by: val, evidence: [chain.evidence(other, 1)] }])
    chain.run(chain.unstake(other))
    for (let i = 0; i < 3; i++) chain.closeEpoch([val])
    expect(chain.account(other).stake).toBeNull()
    expect(chain.run(chain.stake(other, coins(2_000))).map(told)).toEqual(["applied"])
    expect(chain.ledger.read.stake(other.address).isActiveValidator).toBe(true)
  })
})

describe("records of old rounds", () => {
  it("are dropped with the depth and with the epoch, so the state does not grow with time", () => {
    const chain = new Chain({ validators: { val: 10_000, other: 4_000 } })
    for (let i = 0; i < 3; i++) chain.closeEpoch()
    const sizeOf = () => [...chain.ledger.records()].length
    const size = sizeOf()
    for (let i = 0; i < 10; i++) chain.closeEpoch()
    expect(sizeOf()).toBe(size)
  })
})
