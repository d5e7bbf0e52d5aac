import { describe, expect, it } from "vitest"
import type { Address } from "../../src/protocol/identity/Address.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { CommitteeClock } from "../../src/replica/live/CommitteeClock.js"
import { committeeOf, equalWeights } from "../consensus/TestCommittee.js"

const NOW = 1_000_000
const DAY_MS = 86_400_000
const committee = committeeOf(equalWeights(4))
const member = (seat: number) => committee.member(seat).address

/** As many of each member count. */
const REMEMBERED = 8

/** Hears a member's vertices of rounds 1 to 8, which are so far ahead of the steady clock. */
const hearEight = (clock: CommitteeClock, address: Address, aheadMs: number): void => {
  for (let round = 1; round <= REMEMBERED; round++) {
    clock.hear(address, Natural.round(round), Natural.timestamp(Math.max(0, NOW + aheadMs)), Natural.timestamp(NOW))
  }
}

const heard = (aheadMs: ReadonlyArray<number>): CommitteeClock => {
  const clock = new CommitteeClock()
  for (const [i, ahead] of aheadMs.entries()) hearEight(clock, member(i + 1), ahead)
  return clock
}

describe("the committee's clock", () => {
  it("reports how far the local clock is ahead of the median, even if one member lies", () => {
    expect(heard([-50, -60, -70]).aheadMs(committee, member(0), DAY_MS)).toBe(DAY_MS + 60)
    expect(heard([-50, -60, DAY_MS]).aheadMs(committee, member(0), 0)).toBeLessThan(100)
    expect(heard([-50, DAY_MS]).aheadMs(committee, member(0), 0)).toBe(0)
    expect(heard([-50, -60, -NOW]).aheadMs(committee, member(0), 0)).toBeLessThan(100)
    expect(heard([-50, -60, -70]).aheadMs(committee, member(0), -DAY_MS)).toBe(70 - DAY_MS)
  })

  it("reports nothing before a quorum was heard, this node counted", () => {
    expect(heard([-50]).aheadMs(committee, member(0), 0)).toBeNull()
    expect(heard([-50, -60]).aheadMs(committee, member(0), 0)).toBe(50)
    expect(heard([-50, -60]).aheadMs(committee, null, 0)).toBeNull()
    const alone = committeeOf([1])
    expect(new CommitteeClock().aheadMs(alone, alone.member(0).address, 0)).toBeNull()
  })

  it("uses each member's fastest vertex, and forgets old ones and former members", () => {
    const clock = heard([-50, -60, -70])
    const late = (round: number) =>
      clock.hear(member(1), Natural.round(round), Natural.timestamp(NOW), Natural.timestamp(NOW + 5_000))
    late(9)
    late(8)
    expect(clock.aheadMs(committee, null, 0)).toBe(60)
    for (let round = 10; round < 17; round++) late(round)
    expect(clock.aheadMs(committee, null, 0)).toBe(70)
    clock.keepOnly(committee)
    expect(clock.size).toBe(3)
    clock.keepOnly(committeeOf([1]))
    expect(clock.size).toBe(0)
  })

  it("ignores a vertex of the same or an earlier round", () => {
    const clock = heard([-50, -60, -70])
    for (const round of [10, 9, 10]) {
      clock.hear(
        member(1),
        Natural.round(round),
        Natural.timestamp(NOW - (round === 10 ? 65 : 0)),
        Natural.timestamp(NOW),
      )
    }
    clock.hear(member(2), Natural.round(8), Natural.timestamp(NOW), Natural.timestamp(NOW))
    expect(clock.aheadMs(committee, null, 0)).toBe(60)
  })

  it("is unknown to a node that has heard only vertices from before a standstill, and right after new ones", () => {
    const three = committeeOf(equalWeights(3))
    const [self, ...others] = three.record.members.map(({ address }) => address)
    const clock = new CommitteeClock()
    const everyHears = (round: number, aheadMs: number) => {
      for (const address of others)
        clock.hear(address, Natural.round(round), Natural.timestamp(NOW + aheadMs), Natural.timestamp(NOW))
    }
    for (const round of [1, 2, 3, 4, 5]) everyHears(round, -60_000)
    expect(clock.aheadMs(three, self ?? null, 0)).toBeNull()
    for (const round of [6, 7, 8]) everyHears(round, -40)
    expect(clock.aheadMs(three, self ?? null, 0)).toBe(40)
  })

  it("goes by weight, and by the last eight vertices of each", () => {
    const uneven = committeeOf([1, 1, 1, 4])
    const clock = new CommitteeClock()
    for (const [seat, ahead] of [-50, -60, -70].entries()) hearEight(clock, uneven.member(seat + 1).address, ahead)
    expect(clock.aheadMs(uneven, uneven.member(0).address, 0)).toBe(70)
    const heaviest = uneven.member(3).address
    const hear = (round: number) =>
      clock.hear(heaviest, Natural.round(round), Natural.timestamp(NOW - 90), Natural.timestamp(NOW))
    // Seven later ones leave one of the first among the eight, an eighth does not.
    for (let round = 9; round < 16; round++) hear(round)
    expect(clock.aheadMs(uneven, null, 0)).toBe(70)
    hear(16)
    expect(clock.aheadMs(uneven, null, 0)).toBe(90)
  })
})
