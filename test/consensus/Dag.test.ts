import { describe, expect, it } from "vitest"
import { Dag } from "../../src/consensus/dag/Dag.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import { draw } from "./Picture.js"
import { keysOf } from "./TestCommittee.js"

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

describe("a lookup in the DAG", () => {
  const dag = filled(everything)

  it("finds a vertex by hash", () => {
    for (const name of everything) expect(dag.get(picture.vertex(name).header.hash)?.vertex).toBe(picture.vertex(name))
    expect(dag.size).toBe(10)
    expect([dag.has(picture.vertex("A3").header.hash), filled(["A1"]).has(picture.vertex("a1").header.hash)]).toEqual([
      true,
      false,
    ])
  })

  it("finds the vertices of a round in the order of insertion", () => {
    expect(named(dag.at(round(1)))).toBe("A1 a1 B1 C1 D1")
    expect(named(dag.at(round(4)))).toBe("")
  })

  it("finds a vertex by author and slot", () => {
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

describe("the beginning of a round", () => {
  const weighted = draw(`
        A:1   B:2   C:3   D:3
    1   .    ./.    .     .
    2   =     =     =     =
    3   -     =     -     -
  `)
  const begun = (...names: ReadonlyArray<string>): number => {
    const dag = new Dag(weighted.committee)
    for (const name of names) dag.insert(weighted.vertex(name))
    return dag.begunRound
  }

  it("needs vertices of a third of the weight, each author counted once", () => {
    expect([begun(), begun("A1"), begun("B1", "b1"), begun("A1", "B1"), begun("C1")]).toEqual([0, 0, 0, 1, 1])
  })

  it("stays when a lower round gets more", () => {
    const first = ["A1", "B1", "C1", "D1"]
    expect(begun(...first, "B2")).toBe(1)
    expect(begun(...first, "C2")).toBe(2)
    expect(begun(...first, "C2", "b1")).toBe(2)
  })
})

describe("the highest rounds", () => {
  it("do not fall when a lower round gets more", () => {
    const dag = filled(["A1", "B1", "C1", "A2", "B2"])
    expect([dag.highestRound, dag.quorumRound]).toEqual([2, 1])
    dag.insert(picture.vertex("D1"))
    dag.insert(picture.vertex("a1"))
    dag.insert(picture.vertex("C2"))
    expect([dag.highestRound, dag.quorumRound]).toEqual([2, 2])
    dag.insert(picture.vertex("A3"))
    expect([dag.highestRound, dag.quorumRound]).toEqual([3, 2])
    const late = filled(["A1", "a1", "B1", "C1", "A2", "B2", "C2", "D1"])
    expect([late.highestRound, late.quorumRound]).toEqual([2, 2])
  })
})

describe("a slot", () => {
  it("counts its vertices, and is held by the first of them", () => {
    const dag = filled(everything)
    expect([0, 1, 2, 3].map((seat) => dag.countOf(round(1), seat))).toEqual([2, 1, 1, 1])
    expect([0, 1, 2, 3].map((seat) => dag.countOf(round(2), seat))).toEqual([1, 1, 1, 0])
    expect([dag.countOf(round(4), 0), dag.first(round(4), 0)]).toEqual([0, undefined])
    expect(["A1", "a1", "A2"].map((name) => dag.get(picture.vertex(name).header.hash)?.isFirst)).toEqual([
      true,
      false,
      true,
    ])
  })

  it("is held by its second vertex if that came first", () => {
    const dag = filled(["a1", "A1", "B1", "C1"])
    expect(dag.first(round(1), 0)?.vertex).toBe(picture.vertex("a1"))
  })
})

describe("an author's latest vertex", () => {
  const latest = (dag: Dag, seat: number) => {
    const node = dag.latestOf(seat)
    return node === undefined ? undefined : picture.nameOf(node.vertex)
  }

  it("is the first that came of its highest round, and stays after it is collected", () => {
    const dag = filled(["B1", "C1", "D1", "A1"])
    expect(latest(dag, 0)).toBe("A1")
    dag.insert(picture.vertex("a1"))
    expect(latest(dag, 0)).toBe("A1")
    dag.insert(picture.vertex("A2"))
    expect(latest(dag, 0)).toBe("A2")
    dag.collect(round(2))
    expect([0, 1, 2].map((seat) => latest(dag, seat))).toEqual(["A2", "B1", "C1"])
    expect(dag.latestOf(4)).toBeUndefined()
  })
})

describe("a reference", () => {
  it("names a vertex only under its own round and author", () => {
    const dag = filled(["A1", "B1"])
    const { round: at, author, hash } = picture.vertex("A1").header
    expect(dag.named({ round: at, author, hash })?.vertex).toBe(picture.vertex("A1"))
    expect(dag.named({ round: round(2), author, hash })).toBeUndefined()
    expect(dag.named({ round: at, author: picture.vertex("B1").header.author, hash })).toBeUndefined()
    expect(dag.named({ round: at, author, hash: picture.vertex("C1").header.hash })).toBeUndefined()
  })
})

describe("insertion", () => {
  it("fails for a vertex with missing parents", () => {
    expect(() => filled(["A1", "B1", "A2"])).toThrow(/before its parent/)
    expect(filled(["A1", "B1"]).missingParents(picture.vertex("A2"))).toHaveLength(1)
  })

  it("fails for a vertex by an author outside the committee", () => {
    const vertex = picture.vertex("A1")
    const author = keysOf(9)[8]?.address ?? vertex.header.author
    expect(picture.committee.seatOf(author)).toBeUndefined()
    const strange = { ...vertex, header: { ...vertex.header, author } }
    expect(() => new Dag(picture.committee).insert(strange)).toThrow(/unknown/)
  })

  it("leaves a vertex to be ordered", () => {
    expect(filled(["A1"]).first(round(1), 0)?.isOrdered).toBe(false)
  })

  it("fails for a vertex that is already there", () => {
    expect(() => filled(["A1", "A1"])).toThrow(/duplicate/)
  })

  it("fails for a vertex below its own parent, since a walk down the history would not end", () => {
    const dag = filled(["A1", "B1"])
    const vertex = picture.vertex("A2")
    const { header } = vertex
    const [parent] = header.parents
    const below: Vertex = { ...vertex, header: { ...header, round: parent?.round ?? header.round } }
    expect(() => dag.insert(below)).toThrow(/has a parent in round 1/)
  })
})

describe("collection", () => {
  it("returns dropped vertices, and no longer reports them as missing", () => {
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

  it("admits a vertex with collected parents", () => {
    const dag = filled(["A1", "a1", "B1", "C1", "D1"])
    dag.collect(round(1))
    expect(dag.insert(picture.vertex("A2")).parents).toEqual([])
  })
})
