import { describe, expect, it } from "vitest"
import { Dag } from "../../src/consensus/dag/Dag.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import { draw } from "./Picture.js"

const picture = draw(`
      A     B     C     D
  1  ./.    .     .     .
  2  ABC   ABC   aBC    -
  3  ABC   ABC    -     -
`)
const round = Natural.round

const filled = (names: ReadonlyArray<string>): Dag => {
  const dag = new Dag(picture.committee)
  for (const name of names) dag.insert(picture.vertex(name))
  return dag
}

const everything = ["A1", "a1", "B1", "C1", "D1", "A2", "B2", "C2", "A3", "B3"]
const named = (nodes: ReadonlyArray<{ readonly vertex: Parameters<typeof picture.nameOf>[0] }>): string =>
  nodes.map(({ vertex }) => picture.nameOf(vertex)).join(" ")

describe("the DAG finds a vertex", () => {
  const dag = filled(everything)

  it("by hash", () => {
    for (const name of everything) expect(dag.get(picture.vertex(name).header.hash)?.vertex).toBe(picture.vertex(name))
    expect(dag.size).toBe(10)
  })

  it("by round, in the order of insertion", () => {
    expect(named(dag.at(round(1)))).toBe("A1 a1 B1 C1 D1")
    expect(named(dag.at(round(4)))).toBe("")
  })

  it("by author and slot", () => {
    expect(named(dag.ofAuthor(0))).toBe("A1 a1 A2 A3")
    expect(named(dag.ofSlot(round(1), 0))).toBe("A1 a1")
    expect(dag.first(round(1), 0)?.vertex).toBe(picture.vertex("A1"))
    expect(dag.first(round(2), 3)).toBeUndefined()
    expect(dag.latestOf(2)?.vertex).toBe(picture.vertex("C2"))
  })
})

describe("a round's weight", () => {
  it("counts an author once, however many vertices it has there", () => {
    const dag = filled(["A1", "a1", "B1"])
    expect(dag.quorumRound).toBe(0)
    dag.insert(picture.vertex("C1"))
    expect(dag.quorumRound).toBe(1)
    expect(dag.highestRound).toBe(1)
  })
})

describe("insertion", () => {
  it("refuses a vertex whose parents are missing: that would be a bug", () => {
    expect(() => filled(["A1", "B1", "A2"])).toThrow(/before its parent/)
    expect(filled(["A1", "B1"]).missingParents(picture.vertex("A2"))).toHaveLength(1)
  })

  it("refuses a vertex that is there already", () => {
    expect(() => filled(["A1", "A1"])).toThrow(/twice/)
  })

  it("refuses a vertex below its own parent: a walk down the history would not end", () => {
    const dag = filled(["A1", "B1"])
    const vertex = picture.vertex("A2")
    const { header } = vertex
    const [parent] = header.parents
    const below: Vertex = { ...vertex, header: { ...header, round: parent?.round ?? header.round } }
    expect(() => dag.insert(below)).toThrow(/has a parent in round 1/)
  })
})

describe("collection", () => {
  it("gives back what it forgets, and misses it no more", () => {
    const dag = filled(everything)
    const collected = dag.collect(round(1))
    expect(named(collected)).toBe("A1 a1 B1 C1 D1")
    expect(dag.size).toBe(5)
    expect(dag.collectedRound).toBe(1)
    expect(collected.every((node) => node.parents.length === 0)).toBe(true)
    expect(dag.missingParents(picture.vertex("A2"))).toEqual([])
    expect(() => dag.insert(picture.vertex("D1"))).toThrow(/collected/)
  })

  it("of an earlier round than before changes nothing", () => {
    const dag = filled(everything)
    dag.collect(round(2))
    expect(dag.collect(round(1))).toEqual([])
    expect(dag.collectedRound).toBe(2)
  })

  it("lets a vertex in whose parents are collected", () => {
    const dag = filled(["A1", "a1", "B1", "C1", "D1"])
    dag.collect(round(1))
    expect(dag.insert(picture.vertex("A2")).parents).toEqual([])
  })
})
