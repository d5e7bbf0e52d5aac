/** Second vertices of a slot, and parents under a wrong slot. */
import { describe, expect, it } from "vitest"
import { Admission } from "../../src/consensus/admission/Admission.js"
import { Dag } from "../../src/consensus/dag/Dag.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Parent } from "../../src/protocol/vertex/Header.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import { Entrance, fetched } from "./Entrance.js"
import { draw } from "./Picture.js"
import { parentOf, VertexBuilder } from "./VertexBuilder.js"

describe("the second vertex of a slot", () => {
  const picture = draw(`
        A     B     C     D
    1  ./.    .     .     .
    2  ABC   ABC   aBC   ABC
    3  ABD   ABCD  ABCD   -
  `)

  it("stays outside until an entering vertex names it", () => {
    const entrance = new Entrance(picture)
    for (const name of ["A1", "a1", "B1", "C1", "D1", "A2", "B2"]) entrance.receive(picture.vertex(name))
    expect(entrance.dag.has(picture.vertex("a1").header.hash)).toBe(false)
    expect(entrance.admission.waiting).toBe(1)
    entrance.receive(picture.vertex("C2"))
    expect(entrance.entered.slice(-2).map(picture.nameOf)).toEqual(["a1", "C2"])
    expect(entrance.dag.first(Natural.round(1), 0)?.vertex).toBe(picture.vertex("A1"))
    expect(entrance.dag.get(picture.vertex("a1").header.hash)?.isFirst).toBe(false)
  })

  it("is the one that lacked its parents for longer, whichever came first", () => {
    const late = draw(`
          A       B     C     D
      1   .       .     .     .
      2  ABC/ACD  -     -     -
    `)
    const entrance = new Entrance(late)
    for (const name of ["A1", "C1", "D1", "A2", "a2", "B1"]) entrance.receive(late.vertex(name))
    expect(entrance.entered.map(late.nameOf)).toEqual(["A1", "C1", "D1", "a2", "B1"])
    expect(entrance.admission.waiting).toBe(1)
  })

  it("is fetched when only the name arrived", () => {
    const entrance = new Entrance(picture)
    for (const name of ["A1", "B1", "C1", "C2"]) entrance.receive(picture.vertex(name))
    expect(fetched(picture, entrance)).toBe("a1")
    entrance.receive(picture.vertex("a1"))
    expect(entrance.entered.slice(-2).map(picture.nameOf)).toEqual(["a1", "C2"])
  })

  it("stays outside unfetched when only another unnamed second vertex names it", () => {
    const twins = draw(`
          A     B     C     D
      1  ./.    .     .     .
      2  ABC/aBC ABC  ABC  ABC
    `)
    const entrance = new Entrance(twins)
    for (const name of ["A1", "B1", "C1", "D1", "A2", "a2"]) entrance.receive(twins.vertex(name))
    expect(entrance.entered.map(twins.nameOf)).toEqual(["A1", "B1", "C1", "D1", "A2"])
    expect(fetched(twins, entrance)).toBe("")
  })

  it("enters with its chain once the end of the chain is named", () => {
    const chain = draw(`
          A       B     C     D
      1  ./.      .     .     .
      2  ABC/aBC ABC   ABC   ABC
      3  ABC     aBC   ABC    -
    `)
    for (const late of ["a1", "a2", "B3"]) {
      const entrance = new Entrance(chain)
      const names = ["A1", "B1", "C1", "D1", "A2", "B2", "C2", "D2", "A3", "a1", "a2", "B3"]
      for (const name of names.filter((name) => name !== late)) entrance.receive(chain.vertex(name))
      expect(entrance.entered).toHaveLength(9)
      entrance.receive(chain.vertex(late))
      expect(entrance.entered.slice(-3).map(chain.nameOf)).toEqual(["a1", "a2", "B3"])
    }
  })

  // Two of seven closed an epoch with an equivocator's second vertex. The others waited for a vertex that names it, but
  // those who could have named it made no more vertices.
  it("enters unnamed while nothing advances, since those who could name it may be done", () => {
    const entrance = new Entrance(picture)
    for (const name of ["A1", "a1", "B1"]) entrance.receive(picture.vertex(name))
    entrance.admission.tick()
    expect(entrance.entered.map(picture.nameOf)).toEqual(["A1", "B1"])
    entrance.admission.admitUnnamed(true)
    entrance.admission.tick()
    expect(entrance.entered.map(picture.nameOf)).toEqual(["A1", "B1", "a1"])
    expect(entrance.dag.first(Natural.round(1), 0)?.vertex).toBe(picture.vertex("A1"))
  })

  it("enters unnamed on arrival while nothing advances, and waits again afterwards", () => {
    const entrance = new Entrance(picture)
    entrance.admission.admitUnnamed(true)
    for (const name of ["A1", "a1"]) entrance.receive(picture.vertex(name))
    expect(entrance.entered.map(picture.nameOf)).toEqual(["A1", "a1"])
    const later = new Entrance(picture)
    later.admission.admitUnnamed(true)
    later.admission.admitUnnamed(false)
    for (const name of ["A1", "a1"]) later.receive(picture.vertex(name))
    expect(later.entered.map(picture.nameOf)).toEqual(["A1"])
  })

  const twinsOf = (count: number): ReadonlyArray<Vertex> => {
    const builder = new VertexBuilder(picture.opening)
    return Array.from({ length: count }, (_, i) => builder.make(0, 1, [], { timestamp: Natural.timestamp(i) }))
  }

  it("enters unnamed with at most fifteen others of its slot, whether it waited or comes then", () => {
    const [early, late] = [new Entrance(picture), new Entrance(picture)]
    late.admission.admitUnnamed(true)
    for (const twin of twinsOf(20)) for (const entrance of [early, late]) entrance.receive(twin)
    expect([early, late].map(({ entered }) => entered.length)).toEqual([1, 16])
    early.admission.admitUnnamed(true)
    early.admission.tick()
    expect([early, late].map(({ entered, admission }) => [entered.length, admission.waiting])).toEqual([
      [16, 4],
      [16, 4],
    ])
  })

  it("admits a chain of unnamed second vertices, look by look", () => {
    const chain = draw(`
          A       B     C     D
      1  ./.      .     .     .
      2  ABC/aBC ABC   ABC   ABC
    `)
    const entrance = new Entrance(chain)
    for (const name of ["A1", "a1", "B1", "C1", "A2", "a2"]) entrance.receive(chain.vertex(name))
    entrance.admission.admitUnnamed(true)
    const looks = [1, 2].map(() => {
      const before = entrance.entered.length
      entrance.admission.tick()
      return entrance.entered.slice(before).map(chain.nameOf)
    })
    expect(looks).toEqual([["a1"], ["a2"]])
  })
})

describe("a parent under a false slot", () => {
  const picture = draw(`
        A     B     C     D
    1   .     .     .     .
    2  ABC   ABC   ABC   ABC
    3  ABC    -     -     -
  `)
  const [a, b, c] = ["A2", "B2", "C2"].map((name) => picture.vertex(name))
  const builder = new VertexBuilder(picture.opening)
  const as = (vertex: Vertex | undefined, author: Vertex | undefined): Parent => {
    if (vertex === undefined || author === undefined) throw new Error("drawn above")
    return { ...parentOf(vertex), author: author.header.author }
  }

  // With wrong slots, a few vertices of any round would pass for a quorum of parents. Rules assume that two quorums
  // share an honest member, so this must never be accepted.
  it("is never accepted, regardless of which vertex has the hash", () => {
    const entrance = new Entrance(picture)
    const liar = builder.make(3, 3, [as(a, a), as(a, b), as(a, c)])
    for (const name of ["A1", "B1", "C1", "D1"]) entrance.receive(picture.vertex(name))
    entrance.receive(liar)
    for (const name of ["A2", "B2", "C2", "D2", "A3"]) entrance.receive(picture.vertex(name))
    expect(entrance.dag.has(liar.header.hash)).toBe(false)
    expect(entrance.admission.waiting).toBe(1)
    expect(fetched(picture, entrance)).toBe("")
  })

  // Two vertices named one invented hash under two rounds. When the lower round was collected, both counted as
  // complete, and the DAG threw at the one whose parent was still missing.
  it("is another parent than the same hash under a collected slot", () => {
    const dag = new Dag(picture.committee)
    const entered: Array<Vertex> = []
    const admission = new Admission(dag, ({ vertex }) => {
      entered.push(vertex)
      if (vertex === picture.vertex("D1")) dag.collect(Natural.round(1))
    })
    const invented = (round: number): ReadonlyArray<Parent> =>
      picture.committee.record.members.map(({ address: author }) => ({
        round: Natural.round(round),
        author,
        hash: picture.opening.base,
      }))
    const [low, high] = [builder.make(3, 2, invented(1)), builder.make(3, 3, invented(2))]
    for (const vertex of [low, high]) admission.receive(vertex, 3)
    admission.receive(picture.vertex("D1"), 3)
    expect(entered).toEqual([picture.vertex("D1"), low])
    expect(admission.get(high.header.hash)).toBe(high)
  })
})
