/** Stakes and delegations that leave. */
import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { toHex } from "#crypto"
import { UnlockQueue } from "../../src/ledger/tables/UnlockQueue.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import * as Limits from "../../src/protocol/numbers/Limits.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { Chain, coins, person, told, type World } from "./builders.js"
import { alice, bob, carol, other, val } from "./People.js"

describe("leaving", () => {
  it("works until the epoch closes, then waits for its round and returns to the balance", () => {
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
  it("is held until no evidence of its owner's last epoch can come", () => {
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

  it("returns nothing once its pool has lost everything", () => {
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

  it("ends at once for shares worth less than a sat together", () => {
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

  it("removes a bar, and with it the validator, when the stake is released", () => {
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

/** An account that leaves, loses everything to a slash, and leaves again with new money is queued twice. */
describe("an account that leaves a second time", () => {
  const world: World = {
    validators: { val: 6_000, other: 4_000 },
    accounts: { alice: 9, other: 5_000, val: 10 },
    parameters: { slashPercent: 100 },
    protocol: { roundReward: Sats.ZERO },
  }
  const unlocked = (chain: Chain) =>
    chain.closeEpoch([val]).flatMap((event) => (event._tag === "Unlocked" ? [[chain.epoch.epoch, event]] : []))

  it("waits for the second time, not for the rest of the first", () => {
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

  it("stops waiting once it stakes instead", () => {
    const chain = new Chain({ ...world, accounts: { ...world.accounts, alice: 5_000 } })
    chain.run(chain.delegate(alice, other, coins(4)), chain.undelegate(alice))
    chain.commit([{ by: val, evidence: [chain.evidence(other, 1)] }])
    expect(chain.run(chain.stake(alice, coins(2_000))).map(told)).toEqual(["applied"])
    for (let i = 0; i < 4; i++) expect(unlocked(chain)).toEqual([])
    expect(chain.account(alice).stake).toEqual({ amount: coins(2_000), leaving: null })
  })

  it("waits for the cooldown of the second time, also within one epoch", () => {
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

  it("waits with a member that is kept on, even after its first validator left the committee", () => {
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

describe("the queue of leavers", () => {
  const order = fc.record({
    row: fc.nat(99),
    validator: fc.constantFrom(null, "a", "b") as fc.Arbitrary<Address | null>,
    epoch: fc.constantFrom(1, 2),
    unlockAtRound: fc.constantFrom(50, 53),
  })

  it("is ordered by round, epoch, own stakes before delegations, validator and account", () => {
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

  it("holds each until its round and the epoch after next, without delaying due ones behind it", () => {
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

describe("more than a thousand leaving stakes", () => {
  it("are released a thousand per commit, in the order of addresses", () => {
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

describe("a thousand leaving delegations beside a stake that must wait", () => {
  it("are all released with one commit, since waiting ones do not count", () => {
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

/** They were released two epochs after they had left, while their money counted in the weight of a possible signer. */
describe("delegators of members that are kept on for lack of others", () => {
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

  it("delay no others, including those who left before the weights were measured", () => {
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

  it("are released once no evidence of that weight can come", () => {
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
