import { FastCheck } from "effect"
import { describe, expect, it } from "vitest"
import { fromHex } from "#crypto"
import { Linearizer, weightedMedian } from "../../src/consensus/commit/Linearizer.js"
import { Committee } from "../../src/consensus/dag/Committee.js"
import { Dag, type Node } from "../../src/consensus/dag/Dag.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Commit from "../../src/protocol/vertex/Commit.js"
import { draw, type Picture } from "./Picture.js"
import { equalWeights, openingOf, recordOf, rules } from "./TestCommittee.js"
import { parentOf, VertexBuilder } from "./VertexBuilder.js"

const fill = (picture: Picture) => {
  const dag = new Dag(picture.committee)
  for (const vertex of picture.vertices) dag.insert(vertex)
  const node = (name: string): Node => {
    const found = dag.get(picture.vertex(name).header.hash)
    if (found === undefined) throw new Error(`${name} is not in the DAG`)
    return found
  }
  return { dag, node, linearizer: new Linearizer(dag, picture.opening.position) }
}

const namesOf = (picture: Picture, commit: ReturnType<Linearizer["order"]>): ReadonlyArray<string> =>
  commit.vertices.map(picture.nameOf)

describe("a commit", () => {
  const picture = draw(`
          A     B     C     D
      1   .     .     .     .
      2   =    ABC   ABC    =
      3   =   BCD   ABC     -
      4  ABC  ABC   ABC+D2  -
  `)

  it("orders exactly the leader's history that was not ordered yet", () => {
    const { node, linearizer } = fill(picture)
    expect(namesOf(picture, linearizer.order(node("C2"))).toSorted()).toEqual(["A1", "B1", "C1", "C2"])
    expect(namesOf(picture, linearizer.order(node("B3"))).toSorted()).toEqual(["B2", "B3", "D1", "D2"])
    expect(namesOf(picture, linearizer.order(node("C4"))).toSorted()).toEqual(["A2", "A3", "C3", "C4"])
  })

  it("orders by round, then by a draw over the previous commit's hash and the author", () => {
    const { node, linearizer } = fill(picture)
    const previous = picture.opening.position.hash
    const drawOf = (name: string) =>
      Hash.of("udg/order", fromHex(previous), fromHex(picture.vertex(name).header.author))
    const expected = ["A1", "B1", "C1", "D1"].toSorted((a, b) => (drawOf(a) < drawOf(b) ? -1 : 1))
    const second = ["A2", "B2", "C2"].toSorted((a, b) => (drawOf(a) < drawOf(b) ? -1 : 1))
    expect(namesOf(picture, linearizer.order(node("C3")))).toEqual([...expected, ...second, "C3"])
  })

  it("is chained to the previous one", () => {
    const { node, linearizer } = fill(picture)
    const first = linearizer.order(node("A2")).commit
    const second = linearizer.order(node("B3")).commit
    expect(first).toEqual(
      Commit.make({
        index: Natural.commitIndex(1),
        epoch: Natural.epoch(1),
        leaderRound: Natural.round(2),
        leaderHash: picture.vertex("A2").header.hash,
        previous: picture.opening.position.hash,
      }),
    )
    expect(second.previous).toBe(first.hash)
    expect(second.index).toBe(2)
    expect(linearizer.position).toMatchObject({ index: 2, hash: second.hash, leaderRound: 3 })
  })

  it("has the median time of the leader's parents of the previous round, and never goes back", () => {
    const { node, linearizer } = fill(picture)
    expect(linearizer.order(node("A1")).time).toBe(0)
    expect(linearizer.order(node("A4")).time).toBe(3)
    const { dag, node: again } = fill(picture)
    const later = new Linearizer(dag, { ...picture.opening.position, time: Natural.timestamp(9) })
    expect(later.order(again("C2")).time).toBe(9)
  })

  it("takes the time of the previous round only, however many older parents its leader has", () => {
    const late = draw(`
            A         B     C     D
        1   .         .     .     .
        2  ABC       ABC   ABC    -
        3  ABC       ABC   ABC    -
        4  ABC+B1+C1+D1  -  -     -
    `)
    const { node, linearizer } = fill(late)
    expect(linearizer.order(node("A4")).time).toBe(3)
  })

  it("rejects a leader that was already ordered, as a bug", () => {
    const { node, linearizer } = fill(picture)
    linearizer.order(node("B3"))
    expect(() => linearizer.order(node("B3"))).toThrow("is already ordered")
    expect(() => linearizer.order(node("B2"))).toThrow("is already ordered")
  })
})

it("orders all vertices of one slot, by hash", () => {
  const builder = new VertexBuilder(openingOf(recordOf(equalWeights(4))))
  const twins = [0, 1, 2, 3].map((i) => builder.make(0, 1, [], { timestamp: Natural.timestamp(i) }))
  const byHash = twins.toSorted((a, b) => (a.header.hash < b.header.hash ? -1 : 1))
  const others = [1, 2, 3].map((seat) => builder.make(seat, 1, []))
  // Each vertex of the next round names another one of them, not in the order of their hashes.
  const naming = [2, 0, 3, 1].map((i, seat) =>
    builder.make(seat, 2, [byHash[i] ?? builder.make(0, 1, []), ...others].map(parentOf)),
  )
  const leader = builder.make(0, 3, naming.map(parentOf))
  const dag = new Dag(builder.committee)
  const nodes = [...twins, ...others, ...naming, leader].map((vertex) => dag.insert(vertex))
  const ordered = new Linearizer(dag, builder.opening.position).order(nodes.at(-1) as Node)
  expect(ordered.vertices.filter((vertex) => twins.includes(vertex))).toEqual(byHash)
})

it("closes the epoch with the first leader at or past its last round", () => {
  const record = recordOf(equalWeights(1), { firstRound: Natural.round(11), rules: { ...rules, epochRounds: 30 } })
  const linearizer = new Linearizer(new Dag(new Committee(record)), openingOf(record).position)
  expect([39, 40, 41].map((round) => linearizer.closes(Natural.round(round)))).toEqual([false, true, true])
})

describe("the collection depth", () => {
  it("omits vertices at or below the last leader's round less the depth", () => {
    const lines = Array.from({ length: 70 }, (_, i) => `${i + 2}  =  =  =  ${i === 67 ? "ABC+D1" : "-"}`)
    const picture = draw(`
        A B C D
      1 . . . .
      ${lines.join("\n").replaceAll("=", "ABC")}
    `)
    const { node, linearizer } = fill(picture)
    expect(linearizer.collectionRound).toBe(0)
    linearizer.order(node("A62"))
    expect(linearizer.collectionRound).toBe(2)
    // D1 was in no history before D69 named it: too late.
    const names = namesOf(picture, linearizer.order({ ...node("D69") } as Node))
    expect(names).not.toContain("D1")
    expect(names).toContain("A68")
  })

  it("omits the round it ends in, and no higher one", () => {
    const lines = Array.from({ length: 68 }, (_, i) => {
      const round = i + 2
      return `${round} ${round === 69 ? "ABC+D2+D3" : "ABC"} ABC ABC ${round < 4 ? "ABC" : "-"}`
    })
    const picture = draw(`A B C D\n1 . . . -\n${lines.join("\n")}`)
    const { node, linearizer } = fill(picture)
    linearizer.order(node("A62"))
    expect(linearizer.collectionRound).toBe(2)
    const late = namesOf(picture, linearizer.order(node("A69"))).filter((name) => name.startsWith("D"))
    expect(late).toEqual(["D3"])
  })

  it("is never counted below the epoch's first round", () => {
    const picture = draw("A\n1 .\n")
    const { linearizer } = fill(picture)
    expect(linearizer.collectionRound).toBe(0)
  })
})

describe("the weighted median", () => {
  it("is the earliest time that half of the weight has reached", () => {
    const at = (timestamp: number, weight: number) => ({ timestamp: Natural.timestamp(timestamp), weight })
    expect(weightedMedian([])).toBeNull()
    expect(weightedMedian([at(5, 1)])).toBe(5)
    expect(weightedMedian([at(9, 1), at(1, 1), at(5, 1)])).toBe(5)
    expect(weightedMedian([at(9, 5), at(1, 1), at(5, 1)])).toBe(9)
    expect(weightedMedian([at(1, 1), at(2, 1)])).toBe(1)
  })

  it("is between honest times while the dishonest hold less than half", () => {
    const stamp = FastCheck.record({
      timestamp: FastCheck.nat(1_000).map(Natural.timestamp),
      weight: FastCheck.nat(9).map((w) => w + 1),
    })
    FastCheck.assert(
      FastCheck.property(FastCheck.array(stamp, { minLength: 1 }), FastCheck.array(stamp), (honest, liars) => {
        const weightOf = (stamps: typeof honest) => stamps.reduce((sum, { weight }) => sum + weight, 0)
        FastCheck.pre(weightOf(liars) < weightOf(honest))
        const median = weightedMedian([...honest, ...liars]) ?? -1
        const times = honest.map(({ timestamp }) => timestamp)
        expect(median).toBeGreaterThanOrEqual(Math.min(...times))
        expect(median).toBeLessThanOrEqual(Math.max(...times))
      }),
    )
  })
})
