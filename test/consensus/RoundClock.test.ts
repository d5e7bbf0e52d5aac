import { describe, expect, it } from "vitest"
import { Committer } from "../../src/consensus/commit/Committer.js"
import type { Committee } from "../../src/consensus/dag/Committee.js"
import { Dag } from "../../src/consensus/dag/Dag.js"
import * as RoundClock from "../../src/consensus/RoundClock.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { committeeOf, equalWeights, openingOf } from "./TestCommittee.js"
import { parentOf, VertexBuilder } from "./VertexBuilder.js"

const INTERVAL = 500
const MADE_AT = 1_000

/** Fills rounds with the vertices of these seats, each on everything of the round before unless it leaves seats out. */
class Rounds {
  readonly dag: Dag
  readonly committer: Committer
  readonly #builder: VertexBuilder

  constructor(committee: Committee) {
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
    return RoundClock.plan(this.dag, this.committer, INTERVAL, {
      round: Natural.round(own),
      madeAt: Natural.timestamp(MADE_AT),
      lastCommitRound: Natural.round(Math.max(0, own - 2)),
      reachedRound: this.dag.quorumRound,
      begun: { round: Natural.round(own), at: Natural.timestamp(MADE_AT) },
      ...given,
    })
  }
}

const committee = committeeOf(equalWeights(4))
const leader = (round: number): number => committee.leaderOf(Natural.round(round))
const all = [0, 1, 2, 3]
const allBut = (seat: number): ReadonlyArray<number> => all.filter((other) => other !== seat)

const afterInterval = MADE_AT + INTERVAL
const afterTimeout = MADE_AT + 2 * INTERVAL

describe("a node that never made a vertex", () => {
  it("makes the epoch's first at once", () => {
    expect(new Rounds(committee).plan(0, { madeAt: null })).toEqual({ round: 1, at: 0 })
  })

  it("joins at the round that has a quorum", () => {
    const rounds = new Rounds(committee).add(1, all).add(2, all).add(3, [0, 1])
    expect(rounds.plan(0, { madeAt: null })).toEqual({ round: 2, at: 0 })
  })

  // A copy of the key had made the vertices of the last rounds; once silence was over nobody else could go on without
  // this validator, and it wanted to make the round the copy had made.
  it("goes on above the own rounds that somebody else made", () => {
    const rounds = new Rounds(committee).add(1, all).add(2, all)
    expect(rounds.plan(2, { madeAt: null })?.round).toBe(3)
    expect(rounds.plan(2, { madeAt: null })?.at).toBeLessThanOrEqual(afterTimeout)
    expect(rounds.plan(3, { madeAt: null })).toBeNull()
  })
})

describe("a node goes on to the next round", () => {
  it("not without a quorum of its own", () => {
    const rounds = new Rounds(committee).add(1, all).add(2, [0, 1])
    expect(rounds.plan(2)).toBeNull()
  })

  it("after the interval, when the leader has arrived and the leader before is voted on", () => {
    const rounds = new Rounds(committee).add(1, all).add(2, all)
    expect(rounds.plan(2)).toEqual({ round: 3, at: afterInterval })
  })

  it("sooner, where it was later than a third in this round: an interval after those", () => {
    const rounds = new Rounds(committee).add(1, all).add(2, all)
    const earlier = Natural.timestamp(MADE_AT - 300)
    const later = Natural.timestamp(MADE_AT + 300)
    const begun = (round: number, at: Natural.Timestamp) =>
      rounds.plan(2, { begun: { round: Natural.round(round), at } })
    expect(begun(2, earlier)).toEqual({ round: 3, at: afterInterval - 300 })
    expect(begun(2, later)).toEqual({ round: 3, at: afterInterval })
    for (const at of [earlier, Natural.timestamp(MADE_AT - 900)]) {
      expect(begun(1, at)).toEqual({ round: 3, at: afterInterval })
    }
  })

  it("at once, where a third is in the next round: they have kept to the interval", () => {
    const rounds = new Rounds(committee).add(1, all).add(2, all).add(3, [0, 1])
    const at = Natural.timestamp(MADE_AT + 100)
    expect(rounds.dag.begunRound).toBe(3)
    expect(rounds.plan(2, { begun: { round: rounds.dag.begunRound, at } })).toEqual({ round: 3, at })
  })

  it("in the epoch's first round, when its leader has arrived: there is no leader before", () => {
    expect(new Rounds(committee).add(1, all).plan(1)).toEqual({ round: 2, at: afterInterval })
    expect(new Rounds(committee).add(1, allBut(leader(1))).plan(1)).toEqual({ round: 2, at: afterTimeout })
  })

  it("from the round before the epoch, where the last epoch's vertex stands, after the interval", () => {
    expect(new Rounds(committee).plan(0)).toEqual({ round: 1, at: afterInterval })
  })

  it("after the timeout, when the leader has not arrived", () => {
    const rounds = new Rounds(committee).add(1, all).add(2, allBut(leader(2)))
    expect(rounds.plan(2)).toEqual({ round: 3, at: afterTimeout })
  })

  it("after the timeout, when the leader before is neither voted for nor blamed by a quorum", () => {
    const split = (seat: number) => (seat % 2 === 0 ? leader(1) : undefined)
    const rounds = new Rounds(committee).add(1, all).add(2, all, split)
    expect(rounds.plan(2)).toEqual({ round: 3, at: afterTimeout })
  })

  it("after the interval, when a quorum blames the leader before", () => {
    const rounds = new Rounds(committee).add(1, all).add(2, all, () => leader(1))
    expect(rounds.plan(2)).toEqual({ round: 3, at: afterInterval })
  })

  it("not before the timeout without a leader of the first three rounds, who cannot have been silent for three", () => {
    for (const own of [1, 2, 3]) {
      const rounds = new Rounds(committee)
      for (let round = 1; round <= own; round++) rounds.add(round, allBut(leader(own)))
      expect(rounds.plan(own)).toEqual({ round: own + 1, at: afterTimeout })
    }
    const fourth = new Rounds(committee)
    for (let round = 1; round <= 4; round++) fourth.add(round, allBut(leader(4)))
    expect(fourth.plan(4)).toEqual({ round: 5, at: afterInterval })
  })

  it("without waiting for a leader that had no vertex in three rounds", () => {
    const silent = leader(5)
    const waits = new Rounds(committee)
    for (let round = 1; round <= 5; round++) waits.add(round, round === 2 ? all : allBut(silent))
    expect(waits.plan(5)).toEqual({ round: 6, at: afterTimeout })
    const goesOn = new Rounds(committee)
    for (let round = 1; round <= 5; round++) goesOn.add(round, round === 1 ? all : allBut(silent))
    expect(goesOn.plan(5)).toEqual({ round: 6, at: afterInterval })
  })
})

describe("a node that is behind", () => {
  it("jumps at once to a higher round with a quorum", () => {
    const rounds = new Rounds(committee).add(1, all).add(2, all).add(3, all).add(4, [1, 2, 3])
    expect(rounds.plan(1)).toEqual({ round: 4, at: 0 })
  })

  it("makes nothing for rounds that a quorum has left, while their vertices are on the way", () => {
    const rounds = new Rounds(committee).add(1, all).add(2, all)
    expect(rounds.plan(1, { reachedRound: Natural.round(4) })).toBeNull()
    expect(rounds.plan(1, { reachedRound: Natural.round(3) })).toEqual({ round: 2, at: 0 })
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
