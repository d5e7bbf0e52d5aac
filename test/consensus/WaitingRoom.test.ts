import { describe, expect, it } from "vitest"
import { type Bounds, WaitingRoom, type Want } from "../../src/consensus/admission/WaitingRoom.js"
import * as SeatSet from "../../src/consensus/dag/SeatSet.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Parent } from "../../src/protocol/vertex/Header.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import { equalWeights, openingOf, recordOf } from "./TestCommittee.js"
import { parentOf, VertexBuilder } from "./VertexBuilder.js"

const SIZE = 4
const builder = new VertexBuilder(openingOf(recordOf(equalWeights(SIZE))))
const PLENTY: Bounds = { vertices: 100, bytes: 1_000_000, missing: 100 }

/** A waiting room, with the parents it requested and those it no longer wanted. */
class World {
  readonly needed: Array<readonly [Parent, ReadonlyArray<number>]> = []
  readonly resolved: Array<Parent> = []
  readonly room: WaitingRoom
  #serial = 0

  constructor(bounds: Partial<Bounds> = {}, collectedRound = 0) {
    const lacks = {
      needed: ({ parent }: Want, seats: SeatSet.SeatSet) => this.needed.push([parent, SeatSet.seatsIn(seats)]),
      resolved: ({ parent }: Want) => this.resolved.push(parent),
    }
    this.room = new WaitingRoom(SIZE, collectedRound, lacks, { ...PLENTY, ...bounds })
  }

  /** Always the same vertex for this seat and round. */
  vertex(seat: number, round: number, parents: ReadonlyArray<Parent> = []): Vertex {
    return builder.make(seat, round, parents, { timestamp: Natural.timestamp(++this.#serial) })
  }

  phantoms(round: number, count: number): ReadonlyArray<Parent> {
    return Array.from({ length: count }, () => ({
      round: Natural.round(round),
      author: builder.committee.member(0).address,
      hash: Hash.of("udg/seed", new Uint8Array([++this.#serial])),
    }))
  }

  /** Adds a vertex with this many missing parents in the previous round. */
  add(seat: number, round: number, missing: number | ReadonlyArray<Parent>, isFirst = true): Vertex {
    const parents = typeof missing === "number" ? this.phantoms(round - 1, missing) : missing
    const vertex = this.vertex(seat, round, parents)
    this.room.add(vertex, seat, parents, isFirst)
    return vertex
  }

  has(...vertices: ReadonlyArray<Vertex>): ReadonlyArray<boolean> {
    return vertices.map(({ header }) => this.room.has(header.hash))
  }

  satisfy(parents: ReadonlyArray<Parent>): void {
    for (const parent of parents) this.room.satisfy(parent)
  }

  /** Admits all vertices that are complete. */
  enter(): ReadonlyArray<Vertex> {
    const entered: Array<Vertex> = []
    for (let guest = this.room.next(); guest !== undefined; guest = this.room.next()) {
      this.room.take(guest)
      entered.push(guest.vertex)
      this.room.satisfy(guest.vertex.header)
    }
    return entered
  }
}

describe("an author at its limits", () => {
  it("loses its highest vertex, the latest of several, to one of a lower round", () => {
    const world = new World({ vertices: 3 })
    const [two, three, another] = [world.add(0, 2, 1), world.add(0, 3, 1), world.add(0, 3, 1)]
    const low = world.add(0, 1, 1)
    expect(world.has(two, three, another, low)).toEqual([true, true, false, true])
    expect(world.room.countOf(0)).toBe(3)
  })

  it("keeps its vertices when the new one is of the same or a higher round", () => {
    const world = new World({ vertices: 2 })
    const kept = [world.add(0, 2, 1), world.add(0, 3, 1)]
    const late = [world.add(0, 3, 1), world.add(0, 4, 1)]
    expect(world.has(...kept, ...late)).toEqual([true, true, false, false])
  })

  it("loses as many as the new one requires", () => {
    const world = new World({ missing: 6 })
    const old = [world.add(0, 5, 2), world.add(0, 4, 2), world.add(0, 3, 2)]
    const low = world.add(0, 2, 3)
    expect(world.has(...old, low)).toEqual([false, false, true, true])
  })

  it("has no place for a vertex that exceeds the limits alone", () => {
    const world = new World({ missing: 2 })
    expect(world.has(world.add(0, 2, 3), world.add(0, 2, 2))).toEqual([false, true])
  })

  it("may have exactly as many missing parents and bytes as its limits", () => {
    const size = builder.make(0, 3, new World().phantoms(2, 3)).encoded.length
    for (const bounds of [{ missing: 6 }, { bytes: 2 * size }]) {
      const world = new World(bounds)
      expect(world.has(world.add(0, 3, 3), world.add(0, 3, 3), world.add(0, 3, 1))).toEqual([true, true, false])
    }
  })

  it("regains room from vertices that enter, and from parents that arrive", () => {
    const size = builder.make(0, 3, new World().phantoms(2, 3)).encoded.length
    const world = new World({ missing: 3, bytes: 2 * size })
    const parents = world.phantoms(2, 3)
    const first = world.add(0, 3, parents)
    world.satisfy(parents.slice(0, 2))
    const second = world.add(0, 3, 2)
    expect(world.has(first, second, world.add(0, 3, 1))).toEqual([true, true, false])
    world.satisfy(parents.slice(2))
    expect(world.enter()).toEqual([first])
    expect(world.has(world.add(0, 3, 1), world.add(0, 3, 1))).toEqual([true, false])
  })

  it("takes no place from another author", () => {
    const world = new World({ vertices: 1 })
    expect(world.has(...[0, 1, 2, 3].map((seat) => world.add(seat, 2, 1)))).toEqual([true, true, true, true])
  })
})

it("has no place at all outside the committee", () => {
  const world = new World()
  const vertex = world.vertex(0, 2)
  for (const seat of [-1, SIZE]) {
    world.room.add(vertex, seat, [], true)
    expect([world.room.size, world.room.countOf(seat), [...world.room.ofSeat(seat)]]).toEqual([0, 0, []])
  }
})

describe("vertices that may enter", () => {
  it("come out by round and hash, each once", () => {
    const world = new World()
    const byHash = [0, 1, 2, 3]
      .map((seat) => world.vertex(seat, 2))
      .sort((a, b) => (a.header.hash < b.header.hash ? -1 : 1))
    const [low, high] = [world.vertex(0, 1), world.vertex(0, 3)]
    for (const vertex of [high, ...[3, 1, 0, 2].flatMap((i) => byHash.slice(i, i + 1)), low])
      world.room.add(vertex, builder.committee.seatOf(vertex.header.author) ?? -1, [], true)
    expect(world.enter()).toEqual([low, ...byHash, high])
    expect([world.room.size, [...world.room.complete]]).toEqual([0, []])
  })

  it("are those whose last parent has arrived or is collected", () => {
    const world = new World()
    const parents = [...world.phantoms(1, 2), ...world.phantoms(2, 1)]
    const vertex = world.add(0, 3, parents)
    world.satisfy(parents.slice(2))
    expect(world.enter()).toEqual([])
    world.room.collect(1)
    expect(world.enter()).toEqual([vertex])
    expect(world.room.wants).toBe(0)
  })

  it("are not second vertices, until an entering one names them", () => {
    const world = new World()
    const second = world.add(0, 1, [], false)
    expect(world.enter()).toEqual([])
    expect([...world.room.complete].map(({ vertex }) => vertex)).toEqual([second])
    const naming = world.add(1, 2, [parentOf(second)])
    expect(world.enter()).toEqual([second, naming])
  })

  it("are second vertices once, however many name them", () => {
    const world = new World()
    const second = world.add(0, 1, [], false)
    const naming = [1, 2, 3].map((seat) => world.add(seat, seat + 1, [parentOf(second)]))
    expect(world.room.isNeeded(second.header)).toBe(true)
    expect(world.enter()).toEqual([second, ...naming])
  })

  it("are second vertices that were named before they came", () => {
    const world = new World()
    const second = world.vertex(0, 1)
    const naming = world.add(1, 2, [parentOf(second)])
    world.room.add(second, 0, [], false)
    expect(world.enter()).toEqual([second, naming])
  })

  it("are not second vertices that only another second one names", () => {
    const world = new World()
    const second = world.add(0, 1, [], false)
    world.add(0, 2, [parentOf(second)], false)
    expect(world.enter()).toEqual([])
    expect(world.room.isNeeded(second.header)).toBe(false)
    expect(world.room.neededBy(second.header)).toEqual([])
  })

  it("are not second vertices that are named under another author or round", () => {
    const world = new World()
    const second = world.add(0, 1, [], false)
    world.add(1, 3, [{ ...parentOf(second), round: Natural.round(2) }])
    world.add(2, 3, [{ ...parentOf(second), author: builder.committee.member(3).address }])
    expect(world.enter()).toEqual([])
    expect(world.room.isNeeded(second.header)).toBe(false)
  })
})

describe("a missing parent", () => {
  it("is requested once in the turn of each author that needs it, directly or through others", () => {
    const world = new World()
    const [phantom] = world.phantoms(1, 1)
    if (phantom === undefined) throw new Error("one asked for")
    const low = world.add(0, 2, [phantom])
    expect(world.needed).toEqual([[phantom, [0]]])
    world.add(0, 3, [parentOf(low)])
    const middle = world.add(1, 3, [parentOf(low)])
    expect(world.needed.slice(1)).toEqual([[phantom, [1]]])
    world.add(2, 4, [parentOf(middle)])
    expect(world.needed.slice(2)).toEqual([[phantom, [2]]])
    expect(world.room.neededBy(phantom)).toEqual([0, 1, 2])
    expect(world.room.neededBy(parentOf(low))).toEqual([0, 1, 2])
  })

  it("is not requested while only unnamed second vertices lack it", () => {
    const world = new World()
    const [phantom] = world.phantoms(1, 1)
    if (phantom === undefined) throw new Error("one asked for")
    const second = world.add(0, 2, [phantom], false)
    expect([world.needed, world.room.wants]).toEqual([[], 1])
    world.add(3, 3, [parentOf(second)])
    expect(world.needed).toEqual([[phantom, [3]]])
  })

  it("is no longer wanted once it has arrived, or no vertex waits for it", () => {
    const world = new World({ vertices: 1 })
    const [first, second] = world.phantoms(1, 2)
    if (first === undefined || second === undefined) throw new Error("two asked for")
    world.add(0, 3, [first])
    const low = world.vertex(1, 1)
    world.add(2, 2, [parentOf(low)])
    world.room.add(low, 1, [second], true)
    expect(world.resolved).toEqual([parentOf(low)])
    // A vertex of a lower round displaces the one that names it.
    world.add(0, 2, [second])
    expect(world.resolved.slice(1)).toEqual([first])
    expect([...world.room.wanted].map(({ parent }) => parent)).toEqual([parentOf(low), second])
  })

  it("is still wanted while one vertex that waits for it is left", () => {
    const world = new World({ vertices: 1 })
    const parents = world.phantoms(1, 1)
    const [first, second] = [world.add(0, 3, parents), world.add(1, 3, parents)]
    world.add(0, 2, 1)
    expect(world.has(first, second)).toEqual([false, true])
    expect(world.resolved).toEqual([])
    expect([...world.room.wanted].map(({ parent }) => parent)).toContainEqual(parents[0])
  })

  it("that was dropped from the room is requested again by all that need it", () => {
    const world = new World({ vertices: 1 })
    const named = world.add(1, 3, 1)
    world.add(2, 4, [parentOf(named)])
    const before = world.needed.length
    world.add(1, 2, 1)
    expect(world.has(named)).toEqual([false])
    expect(world.needed.slice(before)[0]).toEqual([parentOf(named), [2]])
  })
})

describe("collection", () => {
  it("drops what waits up to its round, and what waits for that, and nothing above", () => {
    const world = new World({}, 4)
    const [old, fresh] = [world.add(0, 6, 1), world.add(0, 7, 1)]
    const above = world.add(1, 8, [parentOf(old), parentOf(fresh)])
    world.room.collect(6)
    expect(world.has(old, fresh, above)).toEqual([false, true, true])
    expect([...world.room.wanted].map(({ parent }) => parent)).toEqual([parentOf(fresh)])
    expect(world.enter()).toEqual([fresh, above])
  })

  it("of a round that was collected before drops nothing", () => {
    const world = new World()
    world.room.collect(6)
    const late = world.add(0, 5, 1)
    world.room.collect(3)
    world.room.collect(6)
    expect(world.has(late)).toEqual([true])
    world.room.collect(7)
    expect(world.has(late)).toEqual([true])
  })
})
