/** Verdicts over pictures of a DAG. */
import { expect } from "vitest"
import { Committer } from "../../src/consensus/commit/Committer.js"
import { Dag } from "../../src/consensus/dag/Dag.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import { draw, type Picture } from "./Picture.js"
import { ReferenceCommitter } from "./ReferenceCommitter.js"

/** Releases verdicts after every vertex, like a node. */
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

/** Parents first, otherwise reversed: the hardest order of arrival. */
const backwards = (picture: Picture): ReadonlyArray<Vertex> =>
  picture.vertices.toReversed().sort((a, b) => a.header.round - b.header.round)

/** The verdicts that a picture releases, in any order of arrival. */
const released = (text: string): string => {
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

export const expectReleased = (text: string) => expect(released(text))

/** The verdict of each round, including those that wait for a lower one. */
export const verdicts = (text: string, upTo: number): string => {
  const picture = draw(text)
  const { committer } = decide(picture, picture.vertices)
  return Array.from({ length: upTo }, (_, i) => {
    const verdict = committer.verdictOf(Natural.round(i + 1))
    return verdict === null ? "?" : verdict._tag === "Skip" ? "skip" : picture.nameOf(verdict.leader.vertex)
  }).join(" ")
}
