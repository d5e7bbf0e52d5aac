/** Verdicts over pictures of a DAG. */
import { expect } from "vitest"
import { Committer } from "../../src/consensus/commit/Committer.js"
import { Dag } from "../../src/consensus/dag/Dag.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import { draw, type Picture } from "./Picture.js"
import { ReferenceCommitter } from "./ReferenceCommitter.js"

/** Releases after every vertex, as a node does. */
export const decide = (picture: Picture, order: ReadonlyArray<Vertex>) => {
  const dag = new Dag(picture.committee)
  const committer = new Committer(dag, picture.schedule)
  const released: Array<string> = []
  for (const vertex of order) {
    committer.add(dag.insert(vertex))
    for (const { verdict } of committer.release()) {
      released.push(verdict._tag === "Skip" ? "skip" : picture.nameOf(verdict.leader.vertex))
    }
  }
  return { committer, released: released.join(" ") }
}

/** Parents first, else the other way round: the hardest order for reading a picture. */
const backwards = (picture: Picture): ReadonlyArray<Vertex> =>
  picture.vertices.toReversed().sort((a, b) => a.header.round - b.header.round)

/** What a picture releases, in whatever order it arrives. */
export const released = (text: string): string => {
  const picture = draw(text)
  const { committer, released: told } = decide(picture, picture.vertices)
  expect(committer.contradiction).toBeNull()
  expect(decide(picture, backwards(picture)).released).toBe(told)
  const reference = new ReferenceCommitter(picture.committee, picture.schedule, picture.vertices)
    .released()
    .map((verdict) => (verdict._tag === "Skip" ? "skip" : picture.nameOf(verdict.leader)))
  expect(reference.join(" ")).toBe(told)
  return told
}

/** The verdict of each round of a picture, also of those that wait for a lower one. */
export const verdicts = (text: string, upTo: number): string => {
  const picture = draw(text)
  const { committer } = decide(picture, picture.vertices)
  return Array.from({ length: upTo }, (_, i) => {
    const verdict = committer.verdictOf(Natural.round(i + 1))
    return verdict === null ? "?" : verdict._tag === "Skip" ? "skip" : picture.nameOf(verdict.leader.vertex)
  }).join(" ")
}
