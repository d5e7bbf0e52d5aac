/** Rewards, waiting, slashing, epochs: where the money of validators and delegators goes, to the sat. */
import { Either, FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { toHex } from "#crypto"
import * as Rewards from "../../src/ledger/rules/Rewards.js"
import * as Records from "../../src/ledger/tables/Records.js"
import { UnlockQueue } from "../../src/ledger/tables/UnlockQueue.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import * as Limits from "../../src/protocol/numbers/Limits.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { Chain, coins, person, told, type World } from "./builders.js"

const [alice, bob, carol, val, other] = [
  person("alice"),
  person("bob"),
  person("carol"),
  person("val"),
  person("other"),
]

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

  it("goes to the treasury where nobody sits in the council, and to the author where nobody delegates", () => {
    expect(Rewards.split(Sats.make(1_000_003), { ...measures, councilSeats: 0, workingPool: Sats.ZERO })).toEqual({
      treasury: 200_000,
      perCouncilSeat: 0,
      pool: 0,
      author: 800_003,
    })
  })

  it("is all the author's where it has lost its stake, nobody delegates and no share is taken", () => {
    const nothing = { ownStake: Sats.ZERO, workingPool: Sats.ZERO, rules: { treasuryPercent: 0, councilPercent: 0 } }
    expect(Rewards.split(Sats.make(7), { ...measures, ...nothing })).toMatchObject({ pool: 0, author: 7 })
  })

  it("is not for somebody outside the committee, whatever its vertex claims, nor does such a vertex show presence", () => {
    const chain = new Chain({ accounts: { alice: 5 } })
    const { header, body, encoded } = chain.vertex({ by: alice, round: 25 }, 25)
    const claiming = { header: { ...header, coinbase: coins(1) }, body, encoded }
    const { vertices, changes } = Either.getOrThrow(chain.executeVertices([claiming], 25))
    expect([vertices[0]?.minted, chain.balance(alice)]).toEqual([0, coins(5)])
    expect([...changes].map(({ kind }) => kind)).not.toContain("Presence")
  })

  it("is minted once for a round and author, in the first of two vertices", () => {
    const chain = new Chain({ protocol })
    const { vertices } = chain.commit([{ by: val }, { by: val }])
    expect(vertices.map(({ minted }) => minted)).toEqual([10_000_000, 0])
    // And a third one, ordered a commit later, is not paid either.
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

describe("the record of who was paid in a round", () => {
  const [third, fourth] = [person("third"), person("fourth")]
  const four = { val: 10_000, other: 4_000, third: 4_000, fourth: 4_000 }
  const paid = (chain: Chain) =>
    [...chain.ledger.records()].flatMap(({ kind, key, value }) =>
      kind === "Minted" ? [[Number(`0x${toHex(key)}`), Either.getOrThrow(Records.decode(Records.minted, value))]] : [],
    )

  it("names positions in ascending order, in whatever order the vertices came", () => {
    const members = [val, other, third, fourth].sort((a, b) => (a.address < b.address ? 1 : -1))
    for (const order of [members, [...members].reverse(), [...members.slice(2), ...members.slice(0, 2)]]) {
      const chain = new Chain({ validators: four })
      chain.commit(order.map((by) => ({ by })))
      expect(paid(chain)).toEqual([[1, [0, 1, 2, 3]]])
    }
  })

  it("is dropped at the collection depth below the leader round, where no vertex can be ordered any more", () => {
    const chain = new Chain({})
    for (let round = 1; round <= 10; round++) chain.advanceTo(round)
    expect(paid(chain).map(([round]) => round)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    chain.advanceTo(11)
    expect(paid(chain).map(([round]) => round)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    chain.advanceTo(14)
    expect(paid(chain).map(([round]) => round)).toEqual([5, 6, 7, 8, 9, 10, 11, 14])
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

  it("gives nothing once the pool it waits in has lost everything", () => {
    const chain = new Chain({
      validators: { val: 10_000, other: 4_000 },
      accounts: { alice: 9 },
      parameters: { slashPercent: 100 },
      protocol: { roundReward: Sats.ZERO },
    })
    chain.run(chain.delegate(alice, other, coins(9)), chain.undelegate(alice))
    chain.closeEpoch()
    expect(chain.ledger.read.delegators(other.address, 9)).toMatchObject({ count: 1, total: coins(9) })
    chain.commit([{ by: val, evidence: [chain.evidence(other, 41)] }])
    expect(chain.ledger.read.delegation(alice.address)).toBeUndefined()
    expect(chain.ledger.read.delegators(other.address, 9)).toMatchObject({ count: 0, total: 0 })
    chain.closeEpoch([val])
    expect(chain.commit([{ by: val }]).events).toEqual([
      { _tag: "Unlocked", address: alice.address, amount: 0, from: "delegation" },
    ])
    expect([chain.balance(alice), chain.account(alice).delegation]).toEqual([0, null])
  })

  it("ends at once for shares that are together worth less than a sat", () => {
    const chain = new Chain({
      validators: { val: 10_000, other: 4_000 },
      accounts: { alice: 9, bob: 9 },
      parameters: { minDelegation: 1 },
    })
    chain.run(chain.delegate(alice, other, 1), chain.delegate(bob, other, coins(5)))
    chain.commit([{ by: val, evidence: [chain.evidence(other, 1)] }])
    chain.run(chain.undelegate(alice))
    expect(chain.ledger.read.delegators(other.address, 9).count).toBe(2)
    chain.closeEpoch([val])
    expect(chain.ledger.read.delegators(other.address, 9).count).toBe(1)
    expect(chain.ledger.read.delegation(alice.address)).toBeUndefined()
    expect([...chain.ledger.records()].map(({ kind }) => kind)).not.toContain("LeavingPool")
    expect(chain.run(chain.delegate(alice, val, 5)).map(told)).toEqual(["applied"])
  })

  it("forgets a bar, and with it the validator, when the stake is released", () => {
    const chain = new Chain({ validators: { val: 10_000, other: 4_000 }, accounts: { other: 1 } })
    chain.commit([{ by: val, evidence: [chain.evidence(other, 1)] }])
    chain.run(chain.unstake(other))
    for (let i = 0; i < 3; i++) chain.closeEpoch([val])
    expect(chain.account(other).stake).toBeNull()
    const validators = [...chain.ledger.records()].filter(({ kind }) => kind === "Validator")
    expect(validators.map(({ key }) => toHex(key))).toEqual([val.address])
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

  it("is punished once, also where the evidence comes again in the next epoch", () => {
    const chain = new Chain(world)
    const evidence = chain.evidence(other, 20)
    expect(chain.commit([{ by: val, evidence: [evidence] }]).events).toHaveLength(1)
    chain.closeEpoch()
    expect(chain.commit([{ by: val, evidence: [evidence] }]).events).toEqual([])
    expect(chain.account(other).stake?.amount).toBe(coins(2_000))
  })

  it("leaves a mark for as long as its evidence counts, to the close of the epoch after", () => {
    const chain = new Chain(world)
    const marks = () => [...chain.ledger.records()].filter(({ kind }) => kind === "Slashed").length
    chain.commit([{ by: val, evidence: [chain.evidence(other, 1)] }])
    chain.closeEpoch()
    expect([chain.epoch.epoch, marks()]).toEqual([2, 1])
    chain.closeEpoch()
    expect([chain.epoch.epoch, marks()]).toEqual([3, 0])
  })

  it("in two epochs is punished for each, the second time of what is left, be it nothing", () => {
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

  it("cannot be proven of an epoch whose base nobody knows, since no vertex of it was executed", () => {
    const chain = new Chain(world)
    const first = chain.epoch
    chain.commit([], chain.lastRound)
    expect(chain.epoch.epoch).toBe(2)
    expect(chain.commit([{ by: val, evidence: [chain.evidence(other, 20, first)] }]).events).toEqual([])
  })

  it("costs delegators who left in the same epoch their part, and of nothing nothing is left to leave", () => {
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

  it("of a stake slashed to nothing bars it from staking until it is out of the committee", () => {
    const chain = new Chain({ ...world, parameters: { slashPercent: 100 } })
    chain.commit([{ by: val, evidence: [chain.evidence(other, 1)] }])
    expect(chain.account(other).stake).toBeNull()
    const again = () => chain.run(chain.stake(other, coins(2_000))).map(told)
    expect(again()).toEqual(["failed: barred"])
    chain.closeEpoch([val])
    expect(again()).toEqual(["applied"])
    expect(chain.ledger.read.stake(other.address).isActiveValidator).toBe(true)
  })

  it("bars what is left of a stake also once it is out of the committee: it must leave first", () => {
    const chain = new Chain(world)
    chain.commit([{ by: val, evidence: [chain.evidence(other, 1)] }])
    chain.closeEpoch([val])
    expect(chain.committee).toEqual([val])
    expect(chain.run(chain.stake(other, coins(2_000))).map(told)).toEqual(["failed: barred"])
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

describe("a commission", () => {
  const setTo = (chain: Chain, percent: number) =>
    chain.tx(other, { _tag: "SetCommissionTx", commissionPercent: percent })
  const commission = (chain: Chain) => chain.ledger.read.stake(other.address).commissionPercent

  it("stays while its validator tops up, and is the network's again when it stakes anew, though delegators stayed", () => {
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

  it("can be set once an epoch, also by whoever stakes anew in it", () => {
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

/** Who leaves, loses it all to a slash, and leaves again with new money stands in the queue twice. */
describe("somebody who leaves a second time", () => {
  const world: World = {
    validators: { val: 6_000, other: 4_000 },
    accounts: { alice: 9, other: 5_000, val: 10 },
    parameters: { slashPercent: 100 },
    protocol: { roundReward: Sats.ZERO },
  }
  const unlocked = (chain: Chain) =>
    chain.closeEpoch([val]).flatMap((event) => (event._tag === "Unlocked" ? [[chain.epoch.epoch, event]] : []))

  it("waits for the second time, not for what is left of the first", () => {
    const chain = new Chain(world)
    chain.run(chain.unstake(other), chain.delegate(alice, other, coins(4)))
    chain.commit([{ by: val, evidence: [chain.evidence(other, 1)] }])
    chain.closeEpoch([val])
    expect(chain.run(chain.stake(other, coins(2_000)), chain.unstake(other)).map(told)).toEqual(["applied", "applied"])
    expect(unlocked(chain)).toEqual([])
    expect(unlocked(chain)).toEqual([])
    expect(unlocked(chain)).toEqual([
      [5, { _tag: "Unlocked", address: other.address, amount: coins(2_000), from: "stake" }],
    ])
    expect(chain.balance(other)).toBe(coins(5_000))
  })

  it("waits for nothing any more once it stakes instead", () => {
    const chain = new Chain({ ...world, accounts: { ...world.accounts, alice: 5_000 } })
    chain.run(chain.delegate(alice, other, coins(4)), chain.undelegate(alice))
    chain.commit([{ by: val, evidence: [chain.evidence(other, 1)] }])
    expect(chain.run(chain.stake(alice, coins(2_000))).map(told)).toEqual(["applied"])
    for (let i = 0; i < 4; i++) expect(unlocked(chain)).toEqual([])
    expect(chain.account(alice).stake).toEqual({ amount: coins(2_000), leaving: null })
  })

  it("waits as long as the cooldown of the second time, also within one epoch", () => {
    const parameters = { ...world.parameters, executionDelayRounds: 0, maxActiveProposals: 1 }
    const chain = new Chain({ ...world, parameters })
    const first = chain.epoch
    chain.closeEpoch([val])
    expect(chain.committee).toEqual([val])
    const payload = { _tag: "ParameterChange", param: "cooldown_rounds", value: 130 } as const
    const propose = { _tag: "CreateProposalTx", title: "t", description: "", payload } as const
    chain.run(
      chain.tx(val, propose, { fee: 1_000 }),
      chain.tx(val, { _tag: "VoteTx", proposalId: Natural.proposalId(1), vote: true }, { fee: 1_000 }),
      chain.unstake(other),
    )
    chain.commit([{ by: val, evidence: [chain.evidence(other, 20, first)] }], chain.round + 11)
    expect(chain.ledger.read.parameters.cooldownRounds).toBe(130)
    chain.run(chain.stake(other, coins(2_000)), chain.unstake(other))
    expect(chain.account(other).stake?.leaving).toEqual({ epoch: 2, unlockAtRound: 80 + 130 })
    const released: Array<number> = []
    while (chain.epoch.epoch < 7) for (const [epoch] of unlocked(chain)) released.push(Number(epoch))
    // Round 210 is in epoch 6; by its close, in round 240, epoch 7 has begun.
    expect(released).toEqual([7])
  })

  it("waits with a member that is kept on, although the first one's validator is no member any more", () => {
    const chain = new Chain(world)
    const first = chain.epoch
    chain.closeEpoch([val])
    chain.run(chain.delegate(alice, other, coins(4)), chain.undelegate(alice))
    chain.commit([{ by: val, evidence: [chain.evidence(other, 20, first)] }])
    const outcomes = chain.run(chain.delegate(alice, val, coins(5)), chain.undelegate(alice), chain.unstake(val))
    expect(outcomes.map(told)).toEqual(["applied", "applied", "applied"])
    const delegation = chain.ledger.read.delegation(alice.address)
    expect(delegation).toMatchObject({ amount: coins(5), leaving: { epoch: 2, unlockAtRound: 120 } })
    for (let i = 0; i < 4; i++) expect(unlocked(chain)).toEqual([])
    expect(chain.ledger.read.delegation(alice.address)).toEqual(delegation)
  })
})

describe("the queue of those who leave", () => {
  const order = fc.record({
    row: fc.nat(99),
    validator: fc.constantFrom(null, "a", "b") as fc.Arbitrary<Address | null>,
    epoch: fc.constantFrom(1, 2),
    unlockAtRound: fc.constantFrom(50, 53),
  })

  it("goes by round, epoch, own stakes before delegations, validator and account", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(order, { maxLength: 200, size: "max", selector: (one) => JSON.stringify(one) }),
        (drawn) => {
          const waiting = drawn.map(({ row, validator, epoch, unlockAtRound }) => ({
            row,
            validator,
            leaving: { epoch: Natural.epoch(epoch), unlockAtRound: Natural.round(unlockAtRound) },
          }))
          const queue = new UnlockQueue((a, b) => a - b)
          for (const one of waiting) queue.add(one)
          const take = (round: number, epoch: number) =>
            queue.takeDue(Natural.round(round), Natural.epoch(epoch), () => false)
          const taken = []
          for (let next = take(53, 9); next !== undefined; next = take(53, 9)) taken.push(next)
          const place = ({ row, validator, leaving }: (typeof waiting)[number]) =>
            [leaving.unlockAtRound, leaving.epoch, validator ?? "", String(row).padStart(2, "0")].join(" ")
          expect(taken).toEqual([...waiting].sort((a, b) => (place(a) < place(b) ? -1 : 1)))
        },
      ),
      { seed: 23, numRuns: 200 },
    )
  })

  it("holds each until its round and the epoch after next, and those behind it that are due go on", () => {
    const queue = new UnlockQueue((a, b) => a - b)
    const leaving = (epoch: number, round: number) => ({
      epoch: Natural.epoch(epoch),
      unlockAtRound: Natural.round(round),
    })
    queue.add({ row: 1, validator: null, leaving: leaving(3, 50) })
    queue.add({ row: 2, validator: null, leaving: leaving(2, 51) })
    const rowAt = (round: number, epoch: number) =>
      queue.takeDue(Natural.round(round), Natural.epoch(epoch), () => false)?.row
    expect([rowAt(50, 4), rowAt(51, 4), rowAt(99, 4), rowAt(49, 5), rowAt(50, 5)]).toEqual([
      undefined,
      2,
      undefined,
      undefined,
      1,
    ])
  })
})

describe("more than a thousand stakes that leave at once", () => {
  it("are released a thousand with each commit, in the order of addresses", () => {
    const crowd = Array.from({ length: Limits.RELEASES_PER_COMMIT + 1 }, (_, i) => person(`staker ${i}`))
    const chain = new Chain({ accounts: Object.fromEntries(crowd.map(({ name }) => [name, 2_000])) })
    chain.run(...crowd.flatMap((who) => [chain.stake(who, coins(2_000)), chain.unstake(who)]))
    chain.closeEpoch()
    chain.closeEpoch()
    const released = [1, 2, 3].map(() => chain.commit([{ by: val }]).events)
    expect(released.map(({ length }) => length)).toEqual([1_000, 1, 0])
    expect(released.flat().map((event) => (event._tag === "Unlocked" ? event.address : ""))).toEqual(
      crowd.map(({ address }) => address).sort(),
    )
  })
})

describe("a thousand delegations that leave beside a stake that must wait", () => {
  it("are all released with one commit: who waits does not count", () => {
    const crowd = Array.from({ length: Limits.RELEASES_PER_COMMIT }, (_, i) => person(`leaver ${i}`))
    const accounts = { ...Object.fromEntries(crowd.map(({ name }) => [name, 2])), carol: 2_000, val: 1 }
    const chain = new Chain({ accounts })
    // Carol stakes and runs no node, so that her delegators count in no weight. Val leaves, and is kept on alone.
    chain.run(chain.stake(carol, coins(2_000)), chain.unstake(val))
    chain.run(...crowd.flatMap((who) => [chain.delegate(who, carol, coins(1)), chain.undelegate(who)]))
    chain.closeEpoch()
    chain.closeEpoch()
    expect(chain.committee).toEqual([val])
    expect(chain.commit([{ by: val }]).events).toHaveLength(1_000)
    expect(chain.account(val).stake).not.toBeNull()
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
