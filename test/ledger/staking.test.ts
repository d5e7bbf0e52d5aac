/** Rewards, waiting, slashing, epochs: where the money of validators and delegators goes, to the sat. */
import { describe, expect, it } from "vitest"
import * as Rewards from "../../src/ledger/rules/Rewards.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { Chain, coins, person, told } from "./builders.js"

const [alice, bob, carol, val, other] = [
  person("alice"),
  person("bob"),
  person("carol"),
  person("val"),
  person("other"),
]

describe("a reward", () => {
  const rules = { treasuryPercent: 10, councilPercent: 10 }
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

  it("goes to the treasury where nobody sits in the council, and to the author where nobody delegates", () => {
    expect(Rewards.split(Sats.make(1_000_003), { ...measures, councilSeats: 0, workingPool: Sats.ZERO })).toEqual({
      treasury: 200_000,
      perCouncilSeat: 0,
      pool: 0,
      author: 800_003,
    })
  })

  it("is minted once for a round and author, in the first of two vertices", () => {
    const chain = new Chain({})
    const { vertices } = chain.commit([{ by: val }, { by: val }])
    expect(vertices.map(({ minted }) => minted)).toEqual([10_000_000, 0])
    // And a third one, ordered a commit later, is not paid either.
    expect(chain.commit([{ by: val, round: 1 }]).vertices.map(({ minted }) => minted)).toEqual([0])
    expect(chain.ledger.read.totals.total).toBe(coins(10_000) + 10_000_000)
  })

  it("compounds for delegators inside the pool", () => {
    const chain = new Chain({ accounts: { alice: 10_000 }, commission: 20 })
    chain.run(chain.delegate(alice, val, coins(10_000)))
    const before = chain.ledger.read.delegation(alice.address)?.amount ?? 0
    expect(before).toBe(coins(10_000) + 3_200_000)
    chain.commit([{ by: val }])
    // 10 000 000 less treasury and council: 8 000 000, less commission: 6 400 000, nearly half of it each.
    const after = chain.ledger.read.delegation(alice.address)?.amount ?? 0
    expect(after - before).toBe(Sats.partBounded(Sats.make(6_400_000), before, before + coins(10_000)))
  })

  it("stops at the cap", () => {
    const chain = new Chain({ accounts: { alice: 21_000_000 - 10_000.1 } })
    const minted = [1, 2].flatMap(() => chain.commit([{ by: val }]).vertices.map((vertex) => vertex.minted))
    expect(minted).toEqual([10_000_000, 0])
    expect(chain.ledger.read.totals.total).toBe(Sats.MAX_SUPPLY)
  })
})

describe("leaving", () => {
  it("works until the epoch closes, waits for its round, and is then in the balance", () => {
    const chain = new Chain({ accounts: { alice: 100 }, parameters: { cooldownRounds: 60 } })
    chain.run(chain.delegate(alice, val, coins(100)))
    chain.run(chain.undelegate(alice))
    const amount = () => chain.ledger.read.delegation(alice.address)?.amount ?? 0
    const atStart = amount()
    chain.advanceTo(10)
    expect(amount()).toBeGreaterThan(atStart)
    chain.closeEpoch()
    const left = amount()
    expect(chain.ledger.read.stake(val.address).effectiveStake).toBe(coins(10_000))
    chain.closeEpoch()
    expect(amount()).toBe(left)
    chain.advanceTo(99)
    expect([chain.balance(alice), amount()]).toEqual([0, left])
    const { events } = chain.advanceTo(100)
    expect(events).toEqual([{ _tag: "Unlocked", address: alice.address, amount: left, from: "delegation" }])
    expect(chain.balance(alice)).toBe(left)
    expect(chain.ledger.read.delegation(alice.address)).toBeUndefined()
  })

  it("is not released before the epoch after next, even when epochs run long", () => {
    const chain = new Chain({ accounts: { alice: 100 } })
    chain.run(chain.delegate(alice, val, coins(100)), chain.undelegate(alice))
    chain.advanceTo(39)
    chain.advanceTo(79)
    expect(chain.epoch.epoch).toBe(2)
    // Round 81 is past the unlock round of 80, but this is only the next epoch.
    chain.advanceTo(81)
    expect(chain.balance(alice)).toBe(0)
    chain.advanceTo(119)
    expect([chain.epoch.epoch, chain.balance(alice)]).toEqual([3, 0])
    chain.advanceTo(120)
    expect(chain.balance(alice)).toBeGreaterThanOrEqual(coins(100))
  })

  it("releases a validator only once it is out of the committee", () => {
    const chain = new Chain({ accounts: { val: 1 } })
    chain.run(chain.unstake(val))
    // The only member leaves: nobody stays, so it remains, and so does its stake.
    for (const epoch of [2, 3, 4]) {
      chain.closeEpoch([val])
      expect([chain.epoch.epoch, chain.epoch.members.length]).toEqual([epoch, 1])
    }
    expect(chain.account(val).stake?.amount).toBe(coins(10_000))
  })

  // Kept on because nobody else stayed, it signed twice in its last epoch and was gone before the evidence came.
  it("is held until no evidence of its owner's last epoch can come any more", () => {
    const chain = new Chain({ accounts: { val: 1, alice: 20_000 } })
    chain.run(chain.stake(alice, coins(10_000)), chain.unstake(val))
    chain.closeEpoch([val], [alice])
    const last = chain.epoch
    chain.closeEpoch(chain.committee)
    expect(chain.epoch.members.map(({ address }) => address)).toEqual([alice.address])
    expect(chain.commit([{ by: alice }]).events).toEqual([])
    const { events } = chain.commit([{ by: alice, evidence: [chain.evidence(val, last.firstRound, last)] }])
    expect(events.map((event) => (event._tag === "Slashed" ? event.ownStake : event._tag))).toEqual([coins(5_000)])
    chain.closeEpoch(chain.committee)
    expect(chain.commit([{ by: alice }]).events.map(({ _tag }) => _tag)).toEqual(["Unlocked"])
  })

  it("works for a stake below the minimum and for a barred one", () => {
    const chain = new Chain({ validators: { val: 10_000, other: 2_000 }, accounts: { other: 1 } })
    chain.commit([{ by: val, evidence: [chain.evidence(other, 1)] }])
    expect(chain.account(other).stake?.amount).toBe(coins(1_000))
    expect(chain.run(chain.unstake(other)).map(told)).toEqual(["applied"])
  })
})

describe("equivocation", () => {
  const world = {
    validators: { val: 10_000, other: 4_000 },
    accounts: { alice: 1_000, bob: 500, other: 3_000, carol: 9 },
  }

  it("burns half of the own stake and of both pools, once for an epoch, and bars the author", () => {
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

  it("of the epoch before still counts, of an older one or a foreign base does not", () => {
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

  it("is known to count before the epoch's first commit, and once that came only with the base it brought", () => {
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

  it("to nothing kills the shares: they are worth 0 and delegators may go elsewhere", () => {
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

  it("is forgiven to who has left and stakes anew", () => {
    const chain = new Chain({ ...world, parameters: { slashPercent: 50 } })
    chain.commit([{ by: val, evidence: [chain.evidence(other, 1)] }])
    chain.run(chain.unstake(other))
    for (let i = 0; i < 3; i++) chain.closeEpoch([val])
    expect(chain.account(other).stake).toBeNull()
    expect(chain.run(chain.stake(other, coins(2_000))).map(told)).toEqual(["applied"])
    expect(chain.ledger.read.stake(other.address).isActiveValidator).toBe(true)
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

describe("what is known of old rounds", () => {
  it("is forgotten with the depth and with the epoch, so the state does not grow with time", () => {
    const chain = new Chain({ validators: { val: 10_000, other: 4_000 } })
    for (let i = 0; i < 3; i++) chain.closeEpoch()
    const sizeOf = () => [...chain.ledger.records()].length
    const size = sizeOf()
    for (let i = 0; i < 10; i++) chain.closeEpoch()
    expect(sizeOf()).toBe(size)
  })
})

/** They were released two epochs after they had left, while their money counted in the weight of who could still sign. */
describe("delegators of members that are kept on because nobody stays", () => {
  const [dora, newcomer] = [person("dora"), person("newcomer")]

  /** Val weighs 8 000 coins, 2 000 of them dora's; then both leave in one epoch, and val, alone, is kept on. */
  const keptOn = (): Chain => {
    const chain = new Chain({ validators: { val: 6_000 }, accounts: { dora: 5_000, newcomer: 3_000 } })
    chain.run(chain.delegate(dora, val, coins(2_000)))
    chain.closeEpoch()
    expect(chain.epoch.members[0]?.weight).toBe(coins(8_000))
    chain.run(chain.unstake(val), chain.undelegate(dora))
    chain.closeEpoch()
    return chain
  }
  const unlockedIn = (chain: Chain): boolean =>
    chain
      .closeEpoch(chain.committee, [newcomer])
      .some((event) => event._tag === "Unlocked" && event.from === "delegation")

  it("wait while their money counts in the weight, and are slashed with it", () => {
    const chain = keptOn()
    for (let i = 0; i < 4; i++) expect(unlockedIn(chain)).toBe(false)
    expect(chain.epoch.members).toMatchObject([{ address: val.address, weight: coins(8_000) }])
    const { delegated } = chain.ledger.read.totals
    chain.commit([{ by: val, evidence: [chain.evidence(val, chain.round + 1)] }])
    expect(chain.ledger.read.totals.delegated).toBe(Math.ceil(delegated / 2))
  })

  it("hold up nobody else, nor those who left before the weights were measured", () => {
    const chain = new Chain({
      validators: { val: 6_000 },
      accounts: { dora: 5_000, alice: 500, bob: 500, carol: 3_000 },
    })
    // Carol stakes and runs no node: her delegators count in no weight.
    chain.run(chain.stake(carol, coins(2_500)))
    chain.run(
      chain.delegate(dora, val, coins(900)),
      chain.delegate(alice, val, coins(9)),
      chain.delegate(bob, carol, coins(9)),
    )
    chain.run(chain.undelegate(alice))
    chain.closeEpoch()
    chain.run(chain.unstake(val), chain.undelegate(dora), chain.undelegate(bob))
    const released: Array<string> = []
    for (let i = 0; i < 4; i++) {
      for (const event of chain.closeEpoch()) if (event._tag === "Unlocked") released.push(event.address)
    }
    expect(released).toEqual([alice.address, bob.address])
  })

  it("are released once no evidence of that weight can come any more", () => {
    const chain = keptOn()
    chain.run(chain.stake(newcomer, coins(2_500)))
    const seen: Array<readonly [epoch: number, isMember: boolean, isReleased: boolean]> = []
    while (chain.epoch.epoch < 8) {
      const isMember = chain.committee.includes(val)
      seen.push([chain.epoch.epoch, isMember, unlockedIn(chain)])
    }
    // In epoch 5 evidence of epoch 4 still counts.
    expect(seen).toEqual([
      [3, true, false],
      [4, true, false],
      [5, false, false],
      [6, false, true],
      [7, false, false],
    ])
  })
})
