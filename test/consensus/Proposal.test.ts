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

/** The parents A would name in this round. */
const proposed = (picture: Picture, round: number): string => {
  const dag = new Dag(picture.committee)
  const proposer = new Proposer(dag, 0)
  for (const vertex of picture.vertices) proposer.add(dag.insert(vertex))
  return proposer
    .parents(Natural.round(round))
    .map(({ hash }) => picture.vertices.find(({ header }) => header.hash === hash))
    .map((vertex) => (vertex === undefined ? "?" : picture.nameOf(vertex)))
    .toSorted()
    .join(" ")
}

describe("a proposal names", () => {
  it("the whole round before", () => {
    const picture = draw(`
          A     B     C     D
      1   .     .     .     .
      2   =     =     =     -
    `)
    expect(proposed(picture, 3)).toBe("A2 B2 C2")
  })

  it("older vertices that nothing it names reaches", () => {
    const picture = draw(`
          A     B     C     D
      1   .     .     .     .
      2  ABC   ABC   ABC    -
      3  ABC   ABC   ABC    -
    `)
    expect(proposed(picture, 4)).toBe("A3 B3 C3 D1")
  })

  it("of older ones only the top, when it brings the rest", () => {
    const picture = draw(`
          A     B     C     D
      1   .     .     .     .
      2  ABC   ABC   ABC   ABD
      3  ABC   ABC   ABC    -
    `)
    expect(proposed(picture, 4)).toBe("A3 B3 C3 D2")
  })

  it("its own latest vertex, also when others reach that already", () => {
    const picture = draw(`
          A     B     C     D
      1   .     .     .     .
      2   -     =     =     =
    `)
    expect(proposed(picture, 3)).toBe("A1 B2 C2 D2")
  })

  it("of an equivocated slot the vertex that came first, never both", () => {
    const picture = draw(`
          A     B     C     D
      1   .    ./.    .     .
      2   =     =   AbCD    =
    `)
    expect(proposed(picture, 2)).toBe("A1 B1 C1 D1")
    expect(proposed(picture, 3)).toBe("A2 B2 C2 D2")
  })

  it("nothing in the epoch's first round", () => {
    expect(proposed(draw("A B\n1 - -\n"), 1)).toBe("")
  })
})

it("what an honest node proposes is valid, and reaches everything that came in before its round", () => {
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
        // The own vertices of this DAG are not this node's doing and do not name each other; it made none so far.
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
