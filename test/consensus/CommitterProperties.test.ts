import { FastCheck } from "effect"
import { describe, expect, it } from "vitest"
import { Committer } from "../../src/consensus/commit/Committer.js"
import type { Committee } from "../../src/consensus/dag/Committee.js"
import { Dag } from "../../src/consensus/dag/Dag.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import { Chance } from "../simulation/Chance.js"
import { type Habits, randomDag, shuffleParentsFirst } from "./RandomDag.js"
import { ReferenceCommitter } from "./ReferenceCommitter.js"

const committees: ReadonlyArray<ReadonlyArray<number>> = [
  [1],
  [1, 1, 1, 1],
  [5, 4, 1, 1, 1],
  [1, 1, 1, 1, 1, 1, 1],
  [9, 7, 7, 3, 3, 2, 1],
]

const habits = FastCheck.record({
  weights: FastCheck.constantFrom(...committees),
  rounds: FastCheck.integer({ min: 3, max: 14 }),
  silence: FastCheck.constantFrom(0, 20, 60),
  neglect: FastCheck.constantFrom(0, 40, 100),
  missedLeaders: FastCheck.constantFrom(0, 30, 70, 100),
  equivocation: FastCheck.constantFrom(0, 50, 100),
})

const nameOf = (vertex: Vertex | undefined): string => (vertex === undefined ? "skip" : vertex.header.hash)

/** The verdicts of a node that receives the vertices in this order. */
const released = (committee: Committee, vertices: ReadonlyArray<Vertex>): ReadonlyArray<string> => {
  const dag = new Dag(committee)
  const committer = new Committer(dag)
  const names: Array<string> = []
  for (const vertex of vertices) {
    committer.add(dag.insert(vertex))
    for (const { verdict } of committer.release()) {
      names.push(nameOf(verdict._tag === "Commit" ? verdict.leader.vertex : undefined))
    }
  }
  expect(committer.contradiction).toBeNull()
  return names
}

describe("random DAGs", () => {
  it("make the incremental committer agree with the definition at every prefix", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.integer(), habits, (seed, habit: Habits) => {
        const { committee, vertices } = randomDag(seed, habit)
        const order = shuffleParentsFirst(new Chance(seed), vertices)
        const dag = new Dag(committee)
        const committer = new Committer(dag)
        const names: Array<string> = []
        for (const [i, vertex] of order.entries()) {
          committer.add(dag.insert(vertex))
          for (const { verdict } of committer.release()) {
            names.push(nameOf(verdict._tag === "Commit" ? verdict.leader.vertex : undefined))
          }
          // Every prefix would have cubic cost; a few of them, always including the last.
          if (i % 7 !== 0 && i !== order.length - 1) continue
          const reference = new ReferenceCommitter(committee, committee, order.slice(0, i + 1))
          const expected = reference
            .released()
            .map((verdict) => nameOf(verdict._tag === "Commit" ? verdict.leader : undefined))
          expect(names).toEqual(expected)
        }
      }),
      { numRuns: 150 },
    )
  })

  it("give the same result in any order of arrival", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.integer(), habits, (seed, habit: Habits) => {
        const { committee, vertices } = randomDag(seed, { ...habit, rounds: habit.rounds * 2 })
        const told = released(committee, vertices)
        for (let i = 1; i <= 3; i++) {
          expect(released(committee, shuffleParentsFirst(new Chance(seed + i), vertices))).toEqual(told)
        }
      }),
      { numRuns: 100 },
    )
  })

  it("release at a node that knows less a prefix of what one that knows more has", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.integer(), habits, FastCheck.integer({ min: 1, max: 99 }), (seed, habit, part) => {
        const { committee, vertices } = randomDag(seed, { ...habit, rounds: habit.rounds * 2 })
        const all = released(committee, vertices)
        const order = shuffleParentsFirst(new Chance(seed), vertices)
        const some = released(committee, order.slice(0, Math.floor((order.length * part) / 100)))
        expect(all.slice(0, some.length)).toEqual(some)
      }),
      { numRuns: 100 },
    )
  })

  it("reach every kind of verdict, which guards the laws above", () => {
    const kinds = new Set<string>()
    for (let seed = 0; seed < 40; seed++) {
      const { committee, vertices } = randomDag(seed, {
        weights: [1, 1, 1, 1],
        rounds: 14,
        silence: 20,
        neglect: 60,
        missedLeaders: 40,
        equivocation: 60,
      })
      const reference = new ReferenceCommitter(committee, committee, vertices)
      for (let round = 1; round <= 14; round++) kinds.add(reference.kindOf(round))
    }
    expect([...kinds].sort()).toEqual([
      "committed by the anchor",
      "committed directly",
      "skipped by the anchor",
      "skipped directly",
      "undecided",
    ])
  })
})
