import { FastCheck } from "effect"
import { describe, expect, it } from "vitest"
import { Admission } from "../../src/consensus/admission/Admission.js"
import { Dag } from "../../src/consensus/dag/Dag.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { Chance } from "../simulation/Chance.js"
import { Entrance, fetched, look, NOW, RETRY_MS, toFetch } from "./Entrance.js"
import { draw } from "./Picture.js"
import { randomDag } from "./RandomDag.js"
import { equalWeights } from "./TestCommittee.js"
import { VertexBuilder } from "./VertexBuilder.js"

describe("admission", () => {
  const picture = draw(`
        A     B     C     D
    1   .     .     .     .
    2  ABC   ABC   ABC   ABC
    3  ABC   BCD    -     -
  `)

  it("holds a vertex until its missing parents are fetched", () => {
    const entrance = new Entrance(picture)
    entrance.receive(picture.vertex("A1"))
    entrance.receive(picture.vertex("A2"))
    expect(entrance.entered.map(picture.nameOf)).toEqual(["A1"])
    expect(fetched(picture, entrance)).toBe("B1 C1")
    expect(toFetch(entrance).map(({ namedBy }) => namedBy)).toEqual(
      ["A2", "A2"].map((name) => picture.vertex(name).header.author),
    )
    for (const name of ["B1", "C1"]) entrance.receive(picture.vertex(name))
    expect(entrance.entered.map(picture.nameOf)).toEqual(["A1", "B1", "C1", "A2"])
    expect(entrance.admission.waiting).toBe(0)
  })

  it("fetches neither vertices that wait here nor vertices above the given round", () => {
    const entrance = new Entrance(picture)
    for (const name of ["A3", "B3", "A2"]) entrance.receive(picture.vertex(name))
    expect(fetched(picture, entrance, 1)).toBe("A1 B1 C1")
    expect(fetched(picture, entrance, 2).split(" ").sort().join(" ")).toBe("A1 B1 B2 C1 C2 D2")
  })

  // One validator's vertices with thousands of nonexistent parents used to take all places in the questions, and again
  // with every retry, since their rounds were low.
  it("gives every author with waiting vertices a turn, regardless of how much others lack", () => {
    const crowd = draw(`
          A     B     C     D
      1   .     .     .     .
      2  ABC   ABC   ABC   ABC
      3  ABC   ABC   ABC   BCD
    `)
    const entrance = new Entrance(crowd)
    for (const name of ["D2", "D3", "A3"]) entrance.receive(crowd.vertex(name))
    // D's turns begin with what D2 lacks, A's are for A3 alone.
    expect(fetched(crowd, entrance)).toBe("A2 A1 B2 B1 C2 C1")
  })

  it("fetches the missing parents of a waiting vertex in the turns of those that build on it", () => {
    const crowd = draw(`
          A     B     C     D
      1   .     .     .     .
      2  ABC   ABC   ABC   ABC
      3  ABC   ABC   ABC   BCD
      4  BCD   ABC   ABC   ABC
    `)
    const entrance = new Entrance(crowd)
    for (const name of ["A4", "D3"]) entrance.receive(crowd.vertex(name))
    const turns = toFetch(entrance).map(({ parent, namedBy }) => [
      crowd.nameOf(crowd.vertices.find(({ header }) => header.hash === parent.hash) ?? crowd.vertex("A1")),
      crowd.nameOf(crowd.vertices.find(({ header }) => header.author === namedBy) ?? crowd.vertex("A1")).charAt(0),
    ])
    // A4 needs D3, so what D3 lacks comes in A's turns too.
    expect(turns).toEqual([
      ["B2", "A"],
      ["C2", "D"],
      ["D2", "A"],
      ["B3", "A"],
      ["C3", "A"],
    ])
  })

  it("omits parents that were requested just now", () => {
    const entrance = new Entrance(picture)
    for (const name of ["A1", "A2"]) entrance.receive(picture.vertex(name))
    const lookAt = (now: number) =>
      entrance.admission
        .toFetch({ ...look, upTo: 99, now: Natural.timestamp(now) })
        .map(({ parent, attempt }) => [
          picture.nameOf(picture.vertices.find(({ header }) => header.hash === parent.hash) ?? picture.vertex("A1")),
          attempt,
        ])
    expect(lookAt(NOW)).toEqual([
      ["B1", 0],
      ["C1", 0],
    ])
    expect(lookAt(NOW + RETRY_MS - 1)).toEqual([])
    entrance.receive(picture.vertex("B1"))
    expect(entrance.admission.asked).toBe(1)
    expect(lookAt(NOW + RETRY_MS)).toEqual([["C1", 1]])
    entrance.receive(picture.vertex("C1"))
    expect(entrance.admission.asked).toBe(0)
    expect(lookAt(NOW + 3_600_000)).toEqual([])
  })

  it("lets every vertex enter once and after its parents, in any order of arrival", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.integer(), (seed) => {
        const habits = { rounds: 10, silence: 20, neglect: 40, missedLeaders: 20, equivocation: 0 }
        const random = randomDag(seed, { ...habits, weights: equalWeights(5) })
        const entrance = new Entrance(random)
        const chance = new Chance(seed)
        const shuffled = chance.shuffle(random.vertices)
        for (const vertex of [...shuffled, ...chance.shuffle(shuffled)]) entrance.receive(vertex)
        expect(entrance.entered).toHaveLength(random.vertices.length)
        const present = new Set<string>()
        for (const { header } of entrance.entered) {
          for (const { hash } of header.parents) expect(present.has(hash)).toBe(true)
          present.add(header.hash)
        }
      }),
      { numRuns: 50 },
    )
  })
})

describe("a closed entrance", () => {
  const picture = draw(`
        A     B     C     D
    1  ./.    .     .     .
    2  ABC   ABC   ABC    -
  `)

  /** Nothing enters after this vertex. */
  const closingAt = (last: string): Entrance => {
    const entrance: Entrance = new Entrance(picture, undefined, (vertex) => {
      if (vertex === picture.vertex(last)) entrance.admission.close()
    })
    return entrance
  }

  it("admits nothing that comes later, nor what waited for the last vertex", () => {
    const entrance = closingAt("C1")
    for (const name of ["A2", "A1", "B1", "C1", "D1"]) entrance.receive(picture.vertex(name))
    expect(entrance.entered.map(picture.nameOf)).toEqual(["A1", "B1", "C1"])
    expect(entrance.admission.waiting).toBe(1)
  })

  it("admits nothing at a standstill either, even if it admitted the last vertex itself", () => {
    const builder = new VertexBuilder(picture.opening)
    const others = [1, 2].map((i) => builder.make(0, 1, [], { timestamp: Natural.timestamp(500 + i) }))
    const entrance = closingAt("a1")
    for (const vertex of [picture.vertex("A1"), picture.vertex("a1"), ...others]) entrance.receive(vertex)
    entrance.admission.admitUnnamed(true)
    entrance.admission.tick()
    expect(entrance.entered.map(picture.nameOf)).toEqual(["A1", "a1"])
    expect(entrance.admission.waiting).toBe(2)
  })
})

describe("a waiting vertex", () => {
  const picture = draw(`
        A     B     C     D
    1  ./.    .     .     .
    2  ABC   ABC   ABC   ABC
    3  ABC   ABC   ABC   ABC
  `)
  const seats = [0, 1, 2, 3]

  it("is known by its author and by its hash", () => {
    const entrance = new Entrance(picture)
    for (const name of ["B2", "B3", "C3"]) entrance.receive(picture.vertex(name))
    const { admission } = entrance
    expect(seats.map((seat) => admission.hasWaiting(seat))).toEqual([false, true, true, false])
    expect(seats.map((seat) => admission.ofSeat(seat).map(picture.nameOf))).toEqual([[], ["B2", "B3"], ["C3"], []])
    expect(admission.get(picture.vertex("C3").header.hash)).toBe(picture.vertex("C3"))
    expect(admission.get(picture.vertex("C2").header.hash)).toBeUndefined()
    // A1, B1, C1, and all parents of C3 in round 2.
    expect(admission.wants).toBe(6)
  })

  it("is forgotten under both once it has entered", () => {
    const entrance = new Entrance(picture)
    for (const name of ["B2", "A1", "B1", "C1"]) entrance.receive(picture.vertex(name))
    expect(entrance.admission.hasWaiting(1)).toBe(false)
    expect(entrance.admission.get(picture.vertex("B2").header.hash)).toBeUndefined()
    expect([entrance.admission.waiting, entrance.admission.wants]).toEqual([0, 0])
  })

  it("counts as here, like one that entered; a collected one counts as old, and any other as unknown", () => {
    const entrance = new Entrance(picture)
    for (const name of ["A1", "B1", "C1", "A2", "B3"]) entrance.receive(picture.vertex(name))
    const isHereOrOld = (name: string) => entrance.admission.isHereOrOld(picture.vertex(name))
    expect(["A1", "A2", "B3", "D1", "B2"].map(isHereOrOld)).toEqual([true, true, true, false, false])
    entrance.dag.collect(Natural.round(1))
    expect(["D1", "B2"].map(isHereOrOld)).toEqual([true, false])
  })

  it("weighs for a vertex as much as its authors do, without the vertex's own", () => {
    const weighted = draw(`
          A:1   B:2   C:4   D:8
      1   .     .     .     .
      2  ACD   BCD   BCD   BCD
      3  BCD   BCD   BCD   BCD
    `)
    const entrance = new Entrance(weighted)
    const weight = () => entrance.admission.weightNeeding(weighted.vertex("C1"))
    expect(weight()).toBe(0)
    const weights = ["A2", "C2", "D2", "B3"].map((name) => {
      entrance.receive(weighted.vertex(name))
      return weight()
    })
    expect(weights).toEqual([1, 1, 9, 11])
  })

  it("is not dropped when the same vertex comes again", () => {
    const entrance = new Entrance(picture)
    for (const name of ["B2", "B2", "A1", "B1", "B2", "C1", "B2"]) entrance.receive(picture.vertex(name))
    expect(entrance.entered.map(picture.nameOf)).toEqual(["A1", "B1", "C1", "B2"])
  })

  it("from storage enters in order, and only if it is not here", () => {
    const entrance = new Entrance(picture)
    for (const name of ["A1", "B1", "C1", "a1", "B2", "a1", "A1"]) entrance.admission.restore(picture.vertex(name))
    expect(entrance.entered.map(picture.nameOf)).toEqual(["A1", "B1", "C1", "a1", "B2"])
  })
})

// Otherwise a validator whose clock was a day ahead for a minute would be missing from every DAG for a day: its later
// vertices, with the right time, name the earlier ones.
describe("a timestamp far from the local clock", () => {
  const picture = draw(`
      A B C D
    1 . . . .
    2 ABC ABCD ABCD ABCD
  `)

  it("keeps out neither its vertex nor the vertices that name it", () => {
    const entrance = new Entrance(picture)
    for (const vertex of picture.vertices) {
      const isWrong = picture.nameOf(vertex).startsWith("D")
      const timestamp = Natural.timestamp(isWrong ? Natural.LATEST : 0)
      entrance.receive({ ...vertex, header: { ...vertex.header, timestamp } })
    }
    expect(entrance.entered).toHaveLength(picture.vertices.length)
    expect(entrance.admission.waiting).toBe(0)
  })
})

describe("the waiting room", () => {
  const picture = draw(`
        A     B     C     D
    1   .     .     .     .
    2  ABC   ABC   ABC   ABC
    3  ABC   ABC   ABC   ABC
    4  ABC   ABC   ABC   ABC
  `)

  it("keeps the lowest rounds of an author that exceeds its share, without cost to other authors", () => {
    const entrance = new Entrance(picture, { vertices: 2, bytes: 1_000_000, missing: 100 })
    for (const name of ["A4", "A3", "B4", "A2"]) entrance.receive(picture.vertex(name))
    expect(entrance.admission.waiting).toBe(3)
    expect(entrance.admission.get(picture.vertex("A4").header.hash)).toBeUndefined()
    expect(entrance.admission.get(picture.vertex("B4").header.hash)).toBe(picture.vertex("B4"))
  })

  it("is bounded in bytes and in missing parents too", () => {
    const size = picture.vertex("A2").encoded.length
    for (const bounds of [
      { vertices: 10, bytes: size, missing: 100 },
      { vertices: 10, bytes: 1_000_000, missing: 5 },
    ]) {
      const entrance = new Entrance(picture, bounds)
      for (const name of ["A3", "A2"]) entrance.receive(picture.vertex(name))
      expect(entrance.admission.waiting).toBe(1)
      expect(entrance.admission.get(picture.vertex("A2").header.hash)).toBe(picture.vertex("A2"))
    }
  })

  it("never turns away a vertex that can enter at once", () => {
    const entrance = new Entrance(picture, { vertices: 0, bytes: 0, missing: 0 })
    for (const vertex of picture.vertices) entrance.receive(vertex)
    expect(entrance.entered).toEqual(picture.vertices)
  })

  it("admits what waited only for vertices collected meanwhile", () => {
    const dag = new Dag(picture.committee)
    const entered: Array<string> = []
    const admission = new Admission(dag, ({ vertex }) => {
      entered.push(picture.nameOf(vertex))
      if (picture.nameOf(vertex) === "D1") dag.collect(Natural.round(1))
    })
    const receive = (name: string) => admission.receive(picture.vertex(name), "ABCD".indexOf(name.charAt(0)))
    // C2 misses C1, which never comes; C3 misses C2.
    for (const name of ["A1", "B1", "C2", "C3"]) receive(name)
    expect(entered).toEqual(["A1", "B1"])
    for (const name of ["D1", "A2", "B2"]) receive(name)
    expect(entered).toEqual(["A1", "B1", "D1", "C2", "A2", "B2", "C3"])
    expect(admission.isHereOrOld(picture.vertex("C1"))).toBe(true)
  })
})
