import { describe, expect, it } from "vitest"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { CommitteeClock } from "../../src/replica/live/CommitteeClock.js"
import { committeeOf, equalWeights } from "../consensus/TestCommittee.js"

const NOW = 1_000_000
const DAY_MS = 86_400_000
const committee = committeeOf(equalWeights(4))
const member = (seat: number) => committee.member(seat).address

const heard = (aheadMs: ReadonlyArray<number>): CommitteeClock => {
  const clock = new CommitteeClock()
  for (const [i, ahead] of aheadMs.entries()) {
    clock.hear(member(i + 1), Natural.round(1), Natural.timestamp(Math.max(0, NOW + ahead)), Natural.timestamp(NOW))
  }
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
    late(2)
    late(1)
    expect(clock.aheadMs(committee, null, 0)).toBe(60)
    for (let round = 3; round < 10; round++) late(round)
    expect(clock.aheadMs(committee, null, 0)).toBe(70)
    clock.keepOnly(committee)
    expect(clock.size).toBe(3)
    clock.keepOnly(committeeOf([1]))
    expect(clock.size).toBe(0)
  })

  it("ignores a vertex of the same or an earlier round", () => {
    const clock = heard([-50, -60, -70])
    for (const round of [3, 2, 3]) {
      clock.hear(
        member(1),
        Natural.round(round),
        Natural.timestamp(NOW - (round === 3 ? 65 : 0)),
        Natural.timestamp(NOW),
      )
    }
    clock.hear(member(2), Natural.round(1), Natural.timestamp(NOW), Natural.timestamp(NOW))
    expect(clock.aheadMs(committee, null, 0)).toBe(60)
    const pair = committeeOf([1, 1])
    const other = new CommitteeClock()
    other.hear(pair.member(1).address, Natural.round(1), Natural.timestamp(NOW - 50), Natural.timestamp(NOW))
    expect(other.aheadMs(pair, pair.member(0).address, 0)).toBe(50)
  })

  it("goes by weight, and by the last eight vertices of each", () => {
    const uneven = committeeOf([1, 1, 1, 4])
    const hear = (clock: CommitteeClock, seat: number, round: number, aheadMs: number) => {
      const { address } = uneven.member(seat)
      clock.hear(address, Natural.round(round), Natural.timestamp(NOW + aheadMs), Natural.timestamp(NOW))
    }
    const clock = new CommitteeClock()
    for (const [seat, ahead] of [-50, -60, -70].entries()) hear(clock, seat + 1, 1, ahead)
    expect(clock.aheadMs(uneven, uneven.member(0).address, 0)).toBe(70)
    // Seven of one round further on leave the first among the eight, an eighth does not.
    for (let round = 2; round <= 8; round++) hear(clock, 3, round, -90)
    expect(clock.aheadMs(uneven, null, 0)).toBe(70)
    hear(clock, 3, 9, -90)
    expect(clock.aheadMs(uneven, null, 0)).toBe(90)
  })
})
