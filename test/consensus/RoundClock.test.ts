import { describe, expect, it } from "vitest"
import { Committer } from "../../src/consensus/commit/Committer.js"
import type { Committee } from "../../src/consensus/dag/Committee.js"
import { Dag } from "../../src/consensus/dag/Dag.js"
import * as RoundClock from "../../src/consensus/RoundClock.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { committeeOf, equalWeights, openingOf } from "./TestCommittee.js"
import { parentOf, VertexBuilder } from "./VertexBuilder.js"

const INTERVAL = 500
const MADE_AT = 10_000
const RATE = RoundClock.rateOf(INTERVAL, 4, "budget")
const RATE_ALONE = RoundClock.rateOf(INTERVAL, 1, "budget")
/** With full credit, and with none. */
const FULL = { round: null, paidUntil: MADE_AT - RATE.burstMs }
const EMPTY = { round: null, paidUntil: MADE_AT + INTERVAL }

/** Fills rounds with vertices of these seats, each on the whole previous round unless it leaves seats out. */
class Rounds {
  readonly dag: Dag
  readonly committer: Committer
  readonly #builder: VertexBuilder
  readonly #rate: RoundClock.Rate

  constructor(committee: Committee, rate = RATE) {
    this.#rate = rate
    this.dag = new Dag(committee)
    this.committer = new Committer(this.dag)
    this.#builder = new VertexBuilder(openingOf(committee.record))
  }

  add(
    round: number,
    seats: ReadonlyArray<number>,
    blind: (seat: number) => number | undefined = () => undefined,
  ): this {
    for (const seat of seats) {
      const parents = this.dag.at(Natural.round(Math.max(1, round - 1))).filter((node) => node.round === round - 1)
      const named = parents.filter((node) => node.seat !== blind(seat))
      const vertex = this.#builder.make(
        seat,
        round,
        named.map(({ vertex }) => parentOf(vertex)),
      )
      this.committer.add(this.dag.insert(vertex))
    }
    return this
  }

  plan(own: number, given: Partial<RoundClock.Own> = {}): RoundClock.Plan | null {
    return RoundClock.plan(this.dag, this.committer, this.#rate, {
      round: Natural.round(own),
      madeAt: Natural.timestamp(MADE_AT),
      lastCommitRound: Natural.round(Math.max(0, own - 2)),
      reachedRound: this.dag.quorumRound,
      begun: { round: Natural.round(own), at: Natural.timestamp(MADE_AT) },
      budget: FULL,
      isAwaited: false,
      carried: 0,
      ...given,
    })
  }
}

const committee = committeeOf(equalWeights(4))
const leader = (round: number): number => committee.leaderOf(Natural.round(round))
const all = [0, 1, 2, 3]
const allBut = (seat: number): ReadonlyArray<number> => all.filter((other) => other !== seat)

const afterIdle = MADE_AT + 2 * INTERVAL
const afterGap = MADE_AT + 10
const afterTimeout = MADE_AT + 2 * INTERVAL

describe("a node that never made a vertex", () => {
  it("makes the epoch's first at once", () => {
    expect(new Rounds(committee).plan(0, { madeAt: null })).toEqual({ round: 1, at: 0, isReady: true })
  })

  it("joins at the round that has a quorum", () => {
    const rounds = new Rounds(committee).add(1, all).add(2, all).add(3, [0, 1])
    expect(rounds.plan(0, { madeAt: null })).toEqual({ round: 2, at: 0, isReady: true })
  })

  // A copy of the key had made the vertices of the last rounds. After the silence the others could not continue without
  // this validator, which tried to make the round that the copy had made.
  it("continues above own rounds that another process made", () => {
    const rounds = new Rounds(committee).add(1, all).add(2, all)
    expect(rounds.plan(2, { madeAt: null })?.round).toBe(3)
    expect(rounds.plan(2, { madeAt: null })?.at).toBeLessThanOrEqual(afterTimeout)
    expect(rounds.plan(3, { madeAt: null })).toBeNull()
  })
})

describe("the step to the next round", () => {
  it("needs a quorum of the node's own round", () => {
    const rounds = new Rounds(committee).add(1, all).add(2, [0, 1])
    expect(rounds.plan(2, { isAwaited: true })).toBeNull()
  })

  it("happens at once where a third is in the next round: an honest member of it has paid for that round", () => {
    const rounds = new Rounds(committee).add(1, all).add(2, all).add(3, [0, 1])
    const at = Natural.timestamp(MADE_AT + 100)
    expect(rounds.dag.begunRound).toBe(3)
    const begun = { round: rounds.dag.begunRound, at }
    expect(rounds.plan(2, { begun, budget: EMPTY })).toEqual({ round: 3, at, isReady: true })
  })

  it("happens after the timeout when the leader has not arrived, however hurried", () => {
    const rounds = new Rounds(committee).add(1, all).add(2, allBut(leader(2)))
    expect(rounds.plan(2, { isAwaited: true })).toEqual({ round: 3, at: afterTimeout, isReady: false })
  })

  it("happens after the timeout when the previous leader is neither voted for nor blamed by a quorum", () => {
    const split = (seat: number) => (seat % 2 === 0 ? leader(1) : undefined)
    const rounds = new Rounds(committee).add(1, all).add(2, all, split)
    expect(rounds.plan(2)).toEqual({ round: 3, at: afterTimeout, isReady: false })
  })

  it("waits for the timeout without a leader of the first three rounds, too early to count as silent", () => {
    for (const own of [1, 2, 3]) {
      const rounds = new Rounds(committee)
      for (let round = 1; round <= own; round++) rounds.add(round, allBut(leader(own)))
      expect(rounds.plan(own)).toEqual({ round: own + 1, at: afterTimeout, isReady: false })
    }
    const fourth = new Rounds(committee)
    for (let round = 1; round <= 4; round++) fourth.add(round, allBut(leader(4)))
    expect(fourth.plan(4)?.isReady).toBe(true)
  })

  it("does not wait for a leader that had no vertex in three rounds", () => {
    const silent = leader(5)
    const waits = new Rounds(committee)
    for (let round = 1; round <= 5; round++) waits.add(round, round === 2 ? all : allBut(silent))
    expect(waits.plan(5)).toEqual({ round: 6, at: afterTimeout, isReady: false })
    const goesOn = new Rounds(committee)
    for (let round = 1; round <= 5; round++) goesOn.add(round, round === 1 ? all : allBut(silent))
    expect(goesOn.plan(5)?.isReady).toBe(true)
  })
})

describe("a round that no client waits for", () => {
  const rounds = () => new Rounds(committee).add(1, all).add(2, all)

  it("comes two intervals after the last", () => {
    expect(rounds().plan(2)).toEqual({ round: 3, at: afterIdle, isReady: true })
    expect(new Rounds(committee).plan(0)).toEqual({ round: 1, at: afterIdle, isReady: true })
    expect(new Rounds(committee).add(1, all).plan(1)).toEqual({ round: 2, at: afterIdle, isReady: true })
  })

  it("comes sooner if this node was later than a third, to catch up", () => {
    const begun = (round: number, at: number) =>
      rounds().plan(2, { begun: { round: Natural.round(round), at: Natural.timestamp(at) } })?.at
    expect(begun(2, MADE_AT - 300)).toBe(afterIdle - 300)
    expect(begun(2, MADE_AT + 300)).toBe(afterIdle)
    expect(begun(1, MADE_AT - 300)).toBe(afterIdle)
  })

  it("comes later while there is credit to regain, but after no more than five intervals", () => {
    const spent = (roundsSpent: number) =>
      rounds().plan(2, { budget: { round: null, paidUntil: FULL.paidUntil + roundsSpent * INTERVAL } })?.at
    expect([1, 2, 3, 4, 5, 12].map(spent)).toEqual(
      [2, 2, 3, 4, 5, 5].map((intervals) => MADE_AT + intervals * INTERVAL),
    )
  })
})

describe("a round that a client waits for", () => {
  const upTo = (own: number) => {
    const rounds = new Rounds(committee)
    for (let round = 1; round <= own; round++) rounds.add(round, all)
    return rounds
  }
  const at = (own: number, paidUntil: number) =>
    upTo(own).plan(own, { isAwaited: true, budget: { round: null, paidUntil } })?.at

  it("comes as soon as others had time for the last", () => {
    for (const own of [1, 2, 3]) expect(upTo(own).plan(own, { isAwaited: true })?.at).toBe(afterGap)
    expect(new Rounds(committee).plan(0, { isAwaited: true })?.at).toBe(afterGap)
  })

  it("gathers transactions on a single validator, for up to an interval", () => {
    const alone = committeeOf(equalWeights(1))
    const at = (carried: number) => new Rounds(alone, RATE_ALONE).add(1, [0]).plan(1, { isAwaited: true, carried })?.at
    expect([0, 1, 40, 500, 5_000].map(at)).toEqual([0, 1, 40, 500, 500].map((ms) => MADE_AT + ms))
    expect(upTo(1).plan(1, { isAwaited: true, carried: 5_000 })?.at).toBe(afterGap)
  })

  it("waits until it is paid for", () => {
    expect(at(3, MADE_AT + 700)).toBe(MADE_AT + 700)
    expect(at(4, MADE_AT + 700)).toBe(MADE_AT + 700)
  })

  it("waits for the cost of two more if it is the first of three", () => {
    expect(at(2, MADE_AT + 700)).toBe(MADE_AT + 700 + 2 * INTERVAL)
    expect(at(5, MADE_AT + 700)).toBe(MADE_AT + 700 + 2 * INTERVAL)
  })
})

describe("the rate", () => {
  it("lets a single validator save more, and wait for no others", () => {
    expect(RoundClock.rateOf(100, 1, "budget")).toEqual({
      intervalMs: 100,
      costMs: 100,
      burstMs: 60_000,
      gapMs: 0,
      gatheredMs: 1,
      longestGapMs: 100,
      idleMs: 200,
      longestIdleMs: 500,
    })
  })

  it("costs nothing where rounds are not metered, and is idle at the interval", () => {
    expect(RoundClock.rateOf(100, 4, "at once")).toMatchObject({
      costMs: 0,
      gapMs: 10,
      longestGapMs: 10,
      idleMs: 100,
      longestIdleMs: 100,
    })
  })

  it("leaves at most the interval between the vertices of a quick network", () => {
    expect(RoundClock.rateOf(4, 4, "budget").gapMs).toBe(4)
  })
})

describe("a node that is behind", () => {
  it("jumps at once to a higher round with a quorum, paid for or not", () => {
    const rounds = new Rounds(committee).add(1, all).add(2, all).add(3, all).add(4, [1, 2, 3])
    expect(rounds.plan(1, { budget: EMPTY })).toEqual({ round: 4, at: 0, isReady: true })
  })

  it("makes nothing for rounds that a quorum has left, while their vertices are on the way", () => {
    const rounds = new Rounds(committee).add(1, all).add(2, all)
    expect(rounds.plan(1, { reachedRound: Natural.round(4) })).toBeNull()
    expect(rounds.plan(1, { reachedRound: Natural.round(3) })).toEqual({ round: 2, at: 0, isReady: true })
  })
})

describe("the timeout", () => {
  it("is twice the interval, at least 250 ms", () => {
    expect([20, 125, 126, 500].map((interval) => RoundClock.timeoutMs(interval, 0))).toEqual([250, 250, 252, 1_000])
  })

  it("grows by half for every ten rounds without a commit, to at most ten seconds", () => {
    expect([2, 9, 10, 19, 20, 30].map((rounds) => RoundClock.timeoutMs(500, rounds))).toEqual([
      1_000, 1_000, 1_500, 1_500, 2_250, 3_375,
    ])
    expect(RoundClock.timeoutMs(500, 60)).toBe(10_000)
    expect(RoundClock.timeoutMs(500, 1_000_000)).toBe(10_000)
  })

  it("counts from the last commit", () => {
    const rounds = new Rounds(committee)
    for (let round = 1; round <= 12; round++) rounds.add(round, round < 12 ? all : allBut(leader(12)))
    expect(rounds.plan(12, { lastCommitRound: Natural.round(10) })?.at).toBe(MADE_AT + 1_000)
    expect(rounds.plan(12, { lastCommitRound: Natural.round(2) })?.at).toBe(MADE_AT + 1_500)
  })
})
