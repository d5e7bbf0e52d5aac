import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { toHex } from "#crypto"
import * as Committee from "../../src/ledger/rules/Committee.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { Chain, coins, person } from "./builders.js"

const candidate = (name: string, stake: number, carried = 0, established = carried): Committee.Candidate => {
  const { address, publicKey } = person(name)
  return {
    address,
    publicKey,
    change: null,
    stake: Sats.make(stake),
    carried: Sats.make(carried),
    established: Sats.make(established),
  }
}

const weights = (...candidates: ReadonlyArray<Committee.Candidate>) => {
  const members = Committee.select(candidates)
  return candidates.map(({ address }) => members.find((member) => member.address === address)?.weight)
}

describe("the weights of a committee", () => {
  it("stay the same when nothing is new", () => {
    expect(weights(candidate("a", 600, 600), candidate("b", 300, 300))).toEqual([600, 300])
  })

  it("shrink at once with the stake", () => {
    expect(weights(candidate("a", 600, 600), candidate("b", 250, 250))).toEqual([600, 250])
  })

  it("admit new stake up to a third of what stays, in proportion", () => {
    // 900 stay; 300 may be added to: 600 of a's growth and 1 200 of c, a sixth each.
    expect(weights(candidate("a", 1_200, 600), candidate("b", 300, 300), candidate("c", 1_200))).toEqual([
      700, 300, 200,
    ])
  })

  it("admit all new stake below a third", () => {
    expect(weights(candidate("a", 650, 600), candidate("b", 300, 300), candidate("c", 100))).toEqual([650, 300, 100])
  })

  it("share the third between stake of the last close and new stake", () => {
    // 1 000 were there before, 100 of b's came at the last close: 333 may be young, so 233 may be added.
    const members = [candidate("a", 800, 800), candidate("b", 300, 300, 200), candidate("c", 1_000)]
    expect(weights(...members)).toEqual([800, 300, 233])
  })

  it("admit nothing while the stake of the last close is already a third", () => {
    expect(weights(candidate("a", 2_000, 900), candidate("b", 500, 300, 0), candidate("c", 1_000))).toEqual([
      900,
      300,
      undefined,
    ])
    expect(weights(candidate("a", 900, 900), candidate("b", 500, 400, 0))).toEqual([900, 400])
  })

  it("remain valid amounts when old members carry weights whose coins others have staked since", () => {
    const most = coins(18_000_000)
    expect(weights(candidate("a", most, most), candidate("b", most))).toEqual([most, coins(3_000_000)])
  })

  it("give no seat to a newcomer without weight", () => {
    expect(weights(candidate("a", 10, 10), candidate("b", 1), candidate("c", 1_000))).toEqual([10, undefined, 2])
  })
})

describe("the seats of a committee", () => {
  const many = (count: number, prefix: string, stake: number, carried: number) =>
    Array.from({ length: count }, (_, i) => candidate(`${prefix} ${i}`, stake + i, carried))

  it("are a hundred, the largest, at most 25 of them new", () => {
    const seats = Committee.seated([...many(90, "old", 1_000, 1), ...many(40, "new", 5_000, 0)])
    expect(seats).toHaveLength(100)
    const newcomers = seats.filter(({ carried }) => carried === 0).map(({ stake }) => stake)
    // 25 by the limit, the largest, and ten more because nobody else wants those seats.
    expect(newcomers).toHaveLength(25)
    expect(Math.min(...newcomers)).toBe(5_015)
  })

  it("count only newcomers as new, 25 of them, even after larger old members", () => {
    const seats = Committee.seated([
      ...many(10, "large", 9_000, 1),
      ...many(40, "new", 5_000, 0),
      ...many(80, "small", 1_000, 1),
    ])
    expect(seats.filter(({ carried }) => carried === 0)).toHaveLength(25)
    expect(seats).toHaveLength(100)
  })

  it("go to further newcomers if they are free", () => {
    expect(Committee.seated([...many(10, "old", 1_000, 1), ...many(40, "new", 5_000, 0)])).toHaveLength(50)
  })

  it("are never more than a hundred, however many newcomers wait", () => {
    const seats = Committee.seated([...many(10, "old", 1_000, 1), ...many(200, "new", 5_000, 0)])
    expect(seats).toHaveLength(100)
    expect(Math.min(...seats.filter(({ carried }) => carried === 0).map(({ stake }) => stake))).toBe(5_110)
  })

  it("go to the lower address where stakes are equal", () => {
    const equal = Array.from({ length: 101 }, (_, i) => candidate(`equal ${i}`, 1_000, 1_000))
    const highest = [...equal].sort((a, b) => (a.address < b.address ? -1 : 1)).at(-1)
    expect(Committee.seated(equal)).not.toContain(highest)
  })

  it("never give newcomers more than a third of the weight of two closes ago", () => {
    const amount = fc.integer({ min: 1, max: 20_000_000_000_000 })
    const part = fc.oneof(amount, fc.constant(0))
    const asks = fc.array(fc.tuple(amount, part, part), { minLength: 1, maxLength: 100 })
    fc.assert(
      fc.property(asks, amount, (asks, anchor) => {
        const candidates = [
          candidate("anchor", anchor, anchor),
          ...asks.map(([stake, most, before], i) => {
            const carried = Math.min(stake, most)
            return candidate(`asker ${i}`, stake, carried, Math.min(carried, before))
          }),
        ]
        const members = Committee.select(candidates)
        const seated = Committee.seated(candidates)
        const staying = seated.reduce((sum, { carried }) => sum + carried, 0)
        const established = seated.reduce((sum, candidate) => sum + candidate.established, 0)
        const total = members.reduce((sum, { weight }) => sum + weight, 0)
        const young = total - established
        expect(total === staying || young <= established / 3).toBe(true)
        for (const { address, weight } of members) {
          const asked = candidates.find((asker) => asker.address === address)
          expect(weight).toBeGreaterThan(0)
          expect(weight).toBeGreaterThanOrEqual(asked?.carried ?? 0)
          expect(weight).toBeLessThanOrEqual(asked?.stake ?? 0)
        }
      }),
      { seed: 4, numRuns: 300 },
    )
  })
})

describe("an epoch's close", () => {
  const [val, other, third, alice] = [person("val"), person("other"), person("third"), person("alice")]
  const world = { validators: { val: 9_000, other: 6_000, third: 3_000 }, accounts: { alice: 9_000, val: 10 } }
  const names = (chain: Chain) => chain.committee.map(({ name }) => name).sort()

  it("drops a member that was silent in the second half, and readmits it after an epoch of heartbeats", () => {
    const chain = new Chain(world)
    chain.advanceTo(20)
    chain.closeEpoch([val, other])
    expect(names(chain)).toEqual(["other", "val"])
    chain.closeEpoch([val, other], [third])
    expect(names(chain)).toEqual(["other", "third", "val"])
  })

  it("keeps a member that spoke in the first round of the second half", () => {
    const chain = new Chain(world)
    chain.advanceTo(20)
    chain.advanceTo(21)
    chain.closeEpoch([val, other])
    expect(names(chain)).toEqual(["other", "third", "val"])
  })

  it("admits no account that only staked or missed a heartbeat in some quarter", () => {
    const chain = new Chain(world)
    chain.run(chain.stake(alice, coins(8_000)))
    chain.closeEpoch(chain.committee, [])
    expect(names(chain)).not.toContain("alice")
    const { firstRound } = chain.epoch
    for (const offset of [1, 11, 31, 39]) chain.advanceTo(firstRound + offset, chain.committee, [alice])
    expect(names(chain)).not.toContain("alice")
    for (const offset of [1, 11, 21, 31, 39]) chain.advanceTo(firstRound + 40 + offset, chain.committee, [alice])
    expect(names(chain)).toContain("alice")
  })

  it("ignores heartbeats that name an old, a foreign or an unknown commit", () => {
    const chain = new Chain(world)
    chain.run(chain.stake(alice, coins(8_000)))
    chain.closeEpoch()
    const old = chain.heartbeat(alice)
    const { firstRound } = chain.epoch
    const foreign = { ...old, commitHash: "e".repeat(64) as typeof old.commitHash }
    const unknown = { ...old, commitIndex: (old.commitIndex + 50) as typeof old.commitIndex }
    for (const offset of [1, 11, 21, 31, 39]) {
      chain.commit([...chain.committee.map((by) => ({ by, heartbeats: [old, foreign, unknown] }))], firstRound + offset)
    }
    expect(names(chain)).not.toContain("alice")
  })

  it("accepts a heartbeat that names a commit exactly a quarter epoch back", () => {
    const seen = (distance: number): boolean => {
      const chain = new Chain(world)
      chain.run(chain.stake(alice, coins(8_000)))
      const heartbeat = chain.heartbeat(alice)
      const { changes } = chain.commit([{ by: val, heartbeats: [heartbeat] }], 1 + distance)
      return [...changes].some(({ kind }) => kind === "Presence")
    }
    expect([seen(10), seen(11)]).toEqual([true, false])
  })

  it("ignores heartbeats of members and of accounts without an active stake", () => {
    const chain = new Chain({ ...world, accounts: { alice: 9_000, bob: 5 } })
    chain.run(chain.stake(alice, coins(8_000)), chain.unstake(alice))
    const heartbeats = [alice, person("bob"), val].map((who) => chain.heartbeat(who))
    const { changes } = chain.commit([{ by: val, heartbeats }])
    expect([...changes].map(({ kind }) => kind)).not.toContain("Presence")
  })

  it("ignores heartbeats that name a commit of another history", () => {
    const chain = new Chain(world)
    chain.run(chain.stake(alice, coins(8_000)))
    const heartbeat = chain.heartbeat(alice)
    const counts = (commitHash: string): boolean => {
      const beat = { ...heartbeat, commitHash: commitHash as typeof heartbeat.commitHash }
      return [...chain.commit([{ by: val, heartbeats: [beat] }]).changes].some(({ kind }) => kind === "Presence")
    }
    expect([counts("e".repeat(64)), counts(heartbeat.commitHash)]).toEqual([false, true])
  })

  it("counts a heartbeat after the nominal last round for the last quarter", () => {
    const chain = new Chain(world)
    chain.run(chain.stake(alice, coins(8_000)))
    chain.closeEpoch()
    const { firstRound } = chain.epoch
    for (const offset of [1, 11, 21]) chain.advanceTo(firstRound + offset, chain.committee, [alice])
    for (const offset of [30, 38]) chain.advanceTo(firstRound + offset)
    chain.advanceTo(firstRound + 45, chain.committee, [alice])
    expect(names(chain)).toContain("alice")
  })

  it("lets heartbeats of the next epoch name the closing commit, and none before it", () => {
    const counts = (isClosing: boolean): boolean => {
      const chain = new Chain(world)
      chain.run(chain.stake(alice, coins(8_000)))
      chain.advanceTo(chain.lastRound - 1)
      const before = chain.heartbeat(alice)
      chain.advanceTo(chain.lastRound)
      const { changes } = chain.commit([{ by: val, heartbeats: [isClosing ? chain.heartbeat(alice) : before] }])
      return [...changes].some(({ kind }) => kind === "Presence")
    }
    expect([counts(true), counts(false)]).toEqual([true, false])
  })

  it("keeps exactly the commits that a heartbeat may still name", () => {
    const chain = new Chain(world)
    const kept = () =>
      [...chain.ledger.records()].flatMap(({ kind, key }) =>
        kind === "RecentCommit" ? [Number(`0x${toHex(key)}`)] : [],
      )
    for (let round = 1; round <= 9; round++) chain.advanceTo(round)
    expect(kept()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    chain.advanceTo(10)
    expect(kept()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    chain.advanceTo(11)
    expect(kept()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    chain.advanceTo(20)
    expect(kept()).toEqual([10, 11, 12])
  })

  it("keeps the old members with their weights if all others leave", () => {
    const chain = new Chain(world)
    const before = chain.epoch.members
    // The closing commit orders only vertices of the first half.
    chain.commit([{ by: val, round: 12 }], 40)
    expect(chain.epoch).toMatchObject({ epoch: 2, firstRound: 41, members: before })
  })

  it("admits growth as slowly as newcomers", () => {
    const chain = new Chain({ validators: { val: 3_000 }, accounts: { val: 9_000 } })
    chain.run(chain.stake(val, coins(9_000)))
    const weightAfterClose = () => {
      chain.closeEpoch()
      return chain.epoch.members[0]?.weight
    }
    expect(weightAfterClose()).toBe(coins(4_000))
    // What came at one close must stay for an epoch before the same amount can come again.
    expect(weightAfterClose()).toBe(coins(4_000))
    expect(weightAfterClose()).toBe(Math.floor(coins(4_000) / 3) + coins(4_000))
  })

  it("keeps finality although all stake of the last two closes falls silent at once", () => {
    const [first, second] = [person("first"), person("second")]
    const rich = { validators: { val: 9_000 }, accounts: { first: 60_000, second: 60_000 } }
    const chain = new Chain(rich)
    chain.run(chain.stake(first, coins(50_000)))
    chain.run(chain.stake(second, coins(50_000)))
    chain.closeEpoch()
    chain.closeEpoch(chain.committee, [first])
    expect(names(chain)).toEqual(["first", "val"])
    chain.closeEpoch(chain.committee, [second])
    const { members } = chain.epoch
    const total = members.reduce((sum, { weight }) => sum + weight, 0)
    const old = members.find(({ address }) => address === val.address)?.weight ?? 0
    expect(old * 3).toBeGreaterThan(total * 2)
  })

  it("begins the next epoch after the leader round of the closing commit", () => {
    const chain = new Chain(world)
    const { seed } = chain.epoch
    const { nextEpoch } = chain.advanceTo(43)
    expect(nextEpoch).toMatchObject({ epoch: 2, firstRound: 44 })
    expect(nextEpoch?.seed).not.toBe(seed)
    expect(chain.ledger.read.previousEpoch?.epoch).toBe(1)
  })
})
