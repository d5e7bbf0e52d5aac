import { Either, FastCheck } from "effect"
import { describe, expect, it } from "vitest"
import { Dag } from "../../src/consensus/dag/Dag.js"
import { Proposer } from "../../src/consensus/dag/Proposal.js"
import * as Validity from "../../src/consensus/dag/Validity.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { Chance } from "../simulation/Chance.js"
import { draw, type Picture } from "./Picture.js"
import { randomDag, shuffleParentsFirst } from "./RandomDag.js"
import { VertexBuilder } from "./VertexBuilder.js"

/** The parents that A would name in this round, after the rounds up to another are collected. */
const proposed = (picture: Picture, round: number, collected?: number): string => {
  const dag = new Dag(picture.committee)
  const proposer = new Proposer(dag, 0)
  for (const vertex of picture.vertices) proposer.add(dag.insert(vertex))
  if (collected !== undefined) proposer.collect(dag.collect(Natural.round(collected)))
  return proposer
    .parents(Natural.round(round))
    .map(({ hash }) => picture.vertices.find(({ header }) => header.hash === hash))
    .map((vertex) => (vertex === undefined ? "?" : picture.nameOf(vertex)))
    .toSorted()
    .join(" ")
}

describe("the parents of a proposal", () => {
  it("include the whole previous round", () => {
    const picture = draw(`
          A     B     C     D
      1   .     .     .     .
      2   =     =     =     -
    `)
    expect(proposed(picture, 3)).toBe("A2 B2 C2")
  })

  it("include older vertices that no other parent reaches", () => {
    const picture = draw(`
          A     B     C     D
      1   .     .     .     .
      2  ABC   ABC   ABC    -
      3  ABC   ABC   ABC    -
    `)
    expect(proposed(picture, 4)).toBe("A3 B3 C3 D1")
  })

  it("include only the top of older ones, when it brings the rest", () => {
    const picture = draw(`
          A     B     C     D
      1   .     .     .     .
      2  ABC   ABC   ABC   ABD
      3  ABC   ABC   ABC    -
    `)
    expect(proposed(picture, 4)).toBe("A3 B3 C3 D2")
  })

  it("include its own latest vertex, also when others already reach it", () => {
    const picture = draw(`
          A     B     C     D
      1   .     .     .     .
      2   -     =     =     =
    `)
    expect(proposed(picture, 3)).toBe("A1 B2 C2 D2")
  })

  it("include the first vertex of an equivocated slot, never both", () => {
    const picture = draw(`
          A     B     C     D
      1   .    ./.    .     .
      2   =     =   AbCD    =
    `)
    expect(proposed(picture, 2)).toBe("A1 B1 C1 D1")
    expect(proposed(picture, 3)).toBe("A2 B2 C2 D2")
  })

  it("number at most three per member, the highest of the older ones", () => {
    const rounds = Array.from({ length: 12 }, (_, i) => `${i + 2} ABC ABC ABC ABC`)
    const names = proposed(draw(`A B C D\n1 . . . .\n${rounds.join("\n")}`), 14).split(" ")
    const older = [5, 6, 7, 8, 9, 10, 11, 12].map((round) => `D${round}`)
    expect(names).toEqual(["A13", "B13", "C13", "D13", ...older].toSorted())
  })

  it("exclude collected ones, and its own latest unless it is above them", () => {
    const picture = draw(`
          A     B     C     D
      1   .     .     .     .
      2   -    BCD   BCD   BCD
      3   -    BCD   BCD   BCD
    `)
    expect([0, 1].map((collected) => proposed(picture, 4, collected))).toEqual(["A1 B3 C3 D3", "B3 C3 D3"])
  })

  it("exclude collected ones, also if nothing else reaches them", () => {
    const picture = draw(`
          A     B     C     D
      1   .     .     .     .
      2  ABC   ABC   ABC    -
    `)
    const dag = new Dag(picture.committee)
    const proposer = new Proposer(dag, 0)
    for (const vertex of picture.vertices) proposer.add(dag.insert(vertex))
    expect(proposer.parents(Natural.round(3))).toHaveLength(4)
    proposer.collect(dag.collect(Natural.round(1)))
    expect(proposer.parents(Natural.round(3)).map(({ round }) => round)).toEqual([2, 2, 2])
  })

  it("are empty in the epoch's first round", () => {
    expect(proposed(draw("A B\n1 - -\n"), 1)).toBe("")
  })
})

it("are valid for an honest node, and reach everything that came in before its round", () => {
  const habits = { rounds: 12, silence: 30, neglect: 60, missedLeaders: 30, equivocation: 60 }
  FastCheck.assert(
    FastCheck.property(FastCheck.integer(), (seed) => {
      const random = randomDag(seed, { ...habits, weights: [1, 1, 1, 1, 1, 1, 1] })
      const dag = new Dag(random.committee)
      const proposer = new Proposer(dag, 6)
      const builder = new VertexBuilder(random.opening)
      const chance = new Chance(seed)
      for (const vertex of shuffleParentsFirst(chance, random.vertices)) {
        const node = dag.insert(vertex)
        // Another node made the own vertices of this DAG, and they do not name each other; this one has made none.
        if (node.seat !== 6) proposer.add(node)
        if (chance.percent(80)) continue
        const round = dag.quorumRound + 1
        const proposal = builder.make(6, round, proposer.parents(Natural.round(round)))
        expect(Validity.check(proposal, random.opening.base, random.committee)).toEqual(Either.right(proposal))
        const reached = new Set(proposal.header.parents.map(({ hash }) => hash))
        for (const hash of reached) for (const parent of dag.get(hash)?.parents ?? []) reached.add(parent.hash)
        for (let below = 1; below < round; below++) {
          const firsts = dag.at(Natural.round(below)).filter((node) => node.isFirst && node.seat !== 6)
          for (const { hash } of firsts) expect(reached.has(hash)).toBe(true)
        }
      }
    }),
    { numRuns: 25 },
  )
})
