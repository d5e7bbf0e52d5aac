import { expect, it } from "vitest"
import { EarlyVertices } from "../../src/consensus/admission/EarlyVertices.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import { equalWeights, openingOf, recordOf, seedOf } from "./TestCommittee.js"
import { parentOf, VertexBuilder } from "./VertexBuilder.js"

const opening = openingOf(recordOf(equalWeights(4)))
const builder = new VertexBuilder(opening)

/** Calm rounds by all four. */
const roundsOf = (count: number): ReadonlyArray<ReadonlyArray<Vertex>> => {
  const rounds: Array<ReadonlyArray<Vertex>> = []
  for (let round = 1; round <= count; round++) {
    const parents = (rounds[round - 2] ?? []).map(parentOf)
    rounds.push([0, 1, 2, 3].map((seat) => builder.make(seat, round, parents)))
  }
  return rounds
}

it("keeps the first three vertices of each author, and each once", () => {
  const early = new EarlyVertices(opening.base, opening.record)
  const rounds = roundsOf(4)
  const kept = rounds.map((round) => round.map((vertex) => [early.add(vertex), early.add(vertex)]))
  expect(kept.flat()).toEqual(rounds.flatMap((round, i) => round.map(() => [i < 3, false])))
  expect(early.size).toBe(12)
  expect(new Set(early.vertices)).toEqual(new Set(rounds.slice(0, 3).flat()))
})

it("keeps nothing on another base, by a stranger, or invalid, and no author loses a place to it", () => {
  const early = new EarlyVertices(opening.base, opening.record)
  const stranger = new VertexBuilder(openingOf(recordOf(equalWeights(5))))
  const useless = [
    builder.make(0, 1, [], { base: seedOf("another close") }),
    stranger.make(0, 1, [], { base: opening.base }),
    // No quorum of parents.
    ...[2, 3, 4].map((round) => builder.make(0, round, [])),
  ]
  expect(useless.map((vertex) => early.add(vertex))).toEqual(useless.map(() => false))
  expect(useless.slice(0, 2).map(({ header }) => early.wants(header))).toEqual([false, false])
  expect(early.size).toBe(0)
  expect(roundsOf(3).flatMap((round) => round.map((vertex) => early.add(vertex)))).toEqual(Array(12).fill(true))
})
