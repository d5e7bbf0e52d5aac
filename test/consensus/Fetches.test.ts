import { describe, expect, it } from "vitest"
import { Fetches } from "../../src/consensus/admission/Fetches.js"
import { type Guest, WaitingRoom, type Want } from "../../src/consensus/admission/WaitingRoom.js"
import * as SeatSet from "../../src/consensus/dag/SeatSet.js"
import { Pace } from "../../src/consensus/Pace.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Parent } from "../../src/protocol/vertex/Header.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import { equalWeights, openingOf, recordOf } from "./TestCommittee.js"
import { parentOf, VertexBuilder } from "./VertexBuilder.js"

const SIZE = 4
const RETRY_MS = 1_000
const builder = new VertexBuilder(openingOf(recordOf(equalWeights(SIZE))))
const at = Natural.timestamp
/** No validator is connected. */
const look = { retryMs: RETRY_MS, isOnItsWay: () => false, awaitedMs: 100 }

/** A waiting room and its fetches of missing parents; nothing ever arrives. */
class World {
  readonly fetches: Fetches
  readonly room: WaitingRoom
  readonly #builder: VertexBuilder
  #serial = 0

  constructor(size = SIZE) {
    this.#builder = new VertexBuilder(openingOf(recordOf(equalWeights(size))))
    this.fetches = new Fetches(
      size,
      () => false,
      () => this.room.wanted,
    )
    this.room = new WaitingRoom(size, 0, this.fetches)
  }

  /** Hashes of nonexistent vertices. */
  phantoms(round: number, count: number): ReadonlyArray<Parent> {
    return Array.from({ length: count }, (_, i) => ({
      round: Natural.round(round),
      author: this.#builder.committee.member(i % SIZE).address,
      hash: Hash.of("udg/seed", new Uint8Array([++this.#serial & 0xff, this.#serial >>> 8])),
    }))
  }

  add(seat: number, round: number, parents: ReadonlyArray<Parent>): Vertex {
    const vertex = this.#builder.make(seat, round, parents)
    this.room.add(vertex, seat, parents, true)
    return vertex
  }

  due(now: number, upTo = 99) {
    return this.fetches.due({ ...look, upTo, now: at(now) })
  }
}

it("asks for a missing parent at once and again, with growing intervals", () => {
  const world = new World()
  world.add(0, 2, world.phantoms(1, 1))
  const asked: Array<number> = []
  for (let now = 0; now <= 60_000; now += 500) {
    for (const { attempt } of world.due(now)) {
      expect(attempt).toBe(asked.length)
      asked.push(now / RETRY_MS)
    }
  }
  expect(asked).toEqual([0, 1, 2, 3, 4, 6, 10, 18, 26, 34, 42, 50, 58])
})

it("waits once for a missing parent that its author is sending before it asks", () => {
  const world = new World()
  world.add(0, 2, world.phantoms(1, 2))
  const [coming] = world.room.wanted
  const isOnItsWay = (parent: Parent): boolean => parent === coming?.parent
  const attempts = [0, 99, 100, RETRY_MS, 100 + RETRY_MS].map((now) =>
    world.fetches.due({ ...look, isOnItsWay, upTo: 99, now: at(now) }).map(({ attempt }) => attempt),
  )
  expect(attempts).toEqual([[0], [], [0], [1], [1]])
})

it("never asks for a parent that comes while it is waited for", () => {
  const world = new World()
  const parents = world.phantoms(1, 1)
  world.add(0, 2, parents)
  const due = (now: number) => world.fetches.due({ ...look, isOnItsWay: () => true, upTo: 99, now: at(now) })
  expect(due(0)).toEqual([])
  for (const parent of parents) world.room.satisfy(parent)
  expect(due(100)).toEqual([])
  expect(world.fetches.size).toBe(0)
})

it("does not delay one author's parent because another has long named it without result", () => {
  const world = new World()
  const parents = world.phantoms(1, 1)
  world.add(0, 2, parents)
  for (let now = 0; now <= 11_000; now += 500) world.due(now)
  expect(world.due(11_500)).toEqual([])
  world.add(1, 3, parents)
  expect(world.due(11_501).map(({ seat }) => seat)).toEqual([1])
})

it("does not repeat one author's question before its interval is over", () => {
  const world = new World()
  const parents = world.phantoms(1, 1)
  world.add(0, 2, parents)
  for (let now = 0; now <= 3_500; now += 500) world.due(now)
  world.add(1, 3, parents)
  expect(world.due(3_600)).toEqual([])
  expect(world.due(4_000).map(({ attempt }) => attempt)).toEqual([4])
})

it("keeps its other questions when one parent has arrived", () => {
  const world = new World()
  const [low, high] = [world.phantoms(1, 2), world.phantoms(5, 1)]
  world.add(0, 6, [...low, ...high])
  expect(world.due(0, 4).map(({ parent }) => parent)).toEqual(low)
  for (const parent of high) world.room.satisfy(parent)
  expect(world.fetches.size).toBe(2)
  expect(world.due(RETRY_MS).map(({ attempt }) => attempt)).toEqual([1, 1])
})

it("leaves parents above the given round for later", () => {
  const world = new World()
  const parents = [1, 2, 3].flatMap((round) => world.phantoms(round, 1))
  world.add(0, 4, parents)
  expect([2, 2, 3].map((upTo, now) => world.due(now, upTo).map(({ parent }) => parent.round))).toEqual([
    [1, 2],
    [],
    [3],
  ])
})

it("requests at most 256 parents at once, and continues with the next author in turn", () => {
  const world = new World(10)
  for (let seat = 0; seat < 10; seat++) world.add(seat, 2, world.phantoms(1, 60))
  const looks = [0, 1, 2, 3].map((now) => world.due(now).map(({ seat }) => seat))
  expect(looks.map(({ length }) => length)).toEqual([256, 256, 88, 0])
  expect(looks.flat()).toEqual(Array.from({ length: 600 }, (_, i) => i % 10))
})

it("begins with the same author again after a look that requested everything", () => {
  const world = new World()
  world.add(0, 2, world.phantoms(1, 1))
  expect(world.due(0).map(({ seat }) => seat)).toEqual([0])
  for (const seat of [0, 1, 2, 3]) world.add(seat, 3, world.phantoms(2, 1))
  expect(world.due(1).map(({ seat }) => seat)).toEqual([0, 1, 2, 3])
})

it("treats a parent as new that is missing again", () => {
  const world = new World()
  const parents = world.phantoms(1, 1)
  const vertex = world.add(0, 2, parents)
  expect(world.due(0).map(({ attempt }) => attempt)).toEqual([0])
  const guest = world.room.get(vertex.header.hash)
  if (guest !== undefined) world.room.take(guest)
  expect(world.fetches.size).toBe(0)
  world.add(1, 3, parents)
  expect(world.due(2).map(({ attempt }) => attempt)).toEqual([0])
})

it("limits an author's open questions without costing others a turn", () => {
  const world = new World()
  for (let round = 3; round < 11; round++) world.add(0, round, world.phantoms(1, 290))
  const [first, second] = [world.due(0), world.due(1)]
  expect([first.length, second.length]).toEqual([64, 0])
  world.add(1, 3, world.phantoms(2, 3))
  expect(world.due(2).map(({ seat }) => seat)).toEqual([1, 1, 1])
  expect(world.due(RETRY_MS)).toHaveLength(64)
  expect(world.fetches.size).toBe(67)
})

it("does not ask for a vertex that waits for its own parents", () => {
  const world = new World()
  const parents = world.phantoms(1, 1)
  const named = builder.make(1, 2, parents)
  world.add(0, 3, [parentOf(named)])
  world.room.add(named, 1, parents, true)
  expect([0, RETRY_MS].map((now) => world.due(now).map(({ parent }) => parent))).toEqual([parents, parents])
})

it("asks again for a lost guest on behalf of those that wait for it", () => {
  const world = new World()
  const parents = world.phantoms(1, 300)
  const named = builder.make(1, 2, parents)
  const { round, author, hash } = named.header
  world.add(0, 3, [{ round, author, hash }])
  world.room.add(named, 1, parents, true)
  expect(world.due(0).some(({ parent }) => parent.hash === hash)).toBe(false)
  // Eight more of lower rounds crowd it out.
  for (let i = 0; i < 8; i++) {
    const more = world.phantoms(0, 300)
    world.room.add(builder.make(1, 1, more), 1, more, true)
  }
  expect(world.room.has(hash)).toBe(false)
  expect(world.due(1).some(({ parent, seat }) => parent.hash === hash && seat === 0)).toBe(true)
})

/**
 * An author builds on 24 waiting vertices of the three others, so its turns cover the 7,200 parents that those lack.
 */
const builtOnOthers = (world: World): { readonly lacked: ReadonlyArray<Parent> } => {
  const lacked = world.phantoms(1, 7_200)
  const named = Array.from({ length: 24 }, (_, i) =>
    parentOf(world.add(1 + (i % 3), 2, lacked.slice(300 * i, 300 * (i + 1)))),
  )
  world.add(0, 3, named)
  return { lacked }
}

/** Everything requested while every answer arrives at once. */
const askedOf = (world: World): ReadonlySet<string> => {
  const asked = new Set<string>()
  for (let now = 0; ; now++) {
    const due = world.due(now)
    if (due.length === 0) return asked
    for (const { parent } of due) {
      asked.add(parent.hash)
      world.room.satisfy(parent)
    }
  }
}

it("asks for a parent without room in its author's queue once there is room", () => {
  const world = new World()
  builtOnOthers(world)
  const own = world.phantoms(2, 2_100)
  for (let i = 0; i < 7; i++) world.add(0, 3, own.slice(300 * i, 300 * (i + 1)))
  const asked = askedOf(world)
  expect(own.filter(({ hash }) => !asked.has(hash))).toEqual([])
})

it("refills a full queue only when half of it is done, and only with what its author needs", () => {
  const world = new World(5)
  builtOnOthers(world)
  // From seat 0, which has no room for all of it: 7,200 parents of others, 1,200 of its own, and then the lowest of
  // all.
  for (let i = 0; i < 4; i++) world.add(0, 3, world.phantoms(2, 300))
  const late = world.phantoms(0, 1)
  world.add(0, 3, late)
  const ofAnother = world.phantoms(5, 300)
  world.add(4, 6, ofAnother)
  const asked = new Map<string, { readonly place: number; readonly seat: number }>()
  for (let now = 0; ; now++) {
    const due = world.due(now)
    if (due.length === 0) break
    for (const { parent, seat } of due) {
      asked.set(parent.hash, { place: asked.size, seat })
      world.room.satisfy(parent)
    }
  }
  expect(late.map(({ hash }) => (asked.get(hash)?.place ?? 0) > 1_000)).toEqual([true])
  expect(new Set(ofAnother.map(({ hash }) => asked.get(hash)?.seat))).toEqual(new Set([4]))
})

/** The wants of two validators, without the room that would limit each. */
class TwoAuthors {
  readonly wants: Array<Want> = []
  readonly fetches = new Fetches(
    2,
    () => false,
    () => this.wants.filter(({ isOver }) => !isOver),
  )
  readonly #guest: Guest

  constructor() {
    const vertex = builder.make(0, 1, [])
    const seats = { isNamed: true, neededBy: SeatSet.none(2) }
    this.#guest = {
      vertex,
      hash: vertex.header.hash,
      round: 1,
      seat: 0,
      missing: new Map(),
      isFirst: true,
      place: -1,
      ...seats,
    }
  }

  /** One of the two, by default the first, needs this many more. */
  need(round: number, count: number, seat = 0): ReadonlyArray<Want> {
    const added = Array.from({ length: count }, (): Want => {
      const serial = this.wants.length
      const hash = Hash.of("udg/seed", new Uint8Array([serial & 0xff, serial >>> 8]))
      const parent = { round: Natural.round(round), author: builder.committee.member(0).address, hash }
      const marks = { guest: null, isOver: false, isAwaited: false, attempts: 0, askedFor: 0, dueAt: 0, place: -1 }
      const want = { parent, guests: new Set<Guest>(), neededBy: SeatSet.none(2), queuedFor: SeatSet.none(2), ...marks }
      SeatSet.add(want.neededBy, seat)
      this.wants.push(want)
      return want
    })
    for (const want of added) this.fetches.needed(want, want.neededBy)
    return added
  }

  /** Requests everything up to this round, and receives every answer at once. */
  answer(upTo: number): void {
    for (let asked = -1; asked !== 0; ) {
      asked = this.fetches.due({ ...look, upTo, now: at(0) }).length
      for (const want of this.wants) if (want.place >= 0) this.#arrived(want)
    }
  }

  #arrived(want: Want): void {
    want.isOver = true
    this.fetches.resolved(want)
  }

  /** A vertex has arrived that waits for its own parents. */
  lodge(want: Want): void {
    want.guest = this.#guest
  }
}

const isQueued = ({ queuedFor }: Want): boolean => SeatSet.has(queuedFor, 0)

it("limits a queue to 8,192 parents", () => {
  const authors = new TwoAuthors()
  expect(authors.need(1, 8_192).every(isQueued)).toBe(true)
  expect(authors.need(1, 1).some(isQueued)).toBe(false)
})

it.each([
  [4_095, false],
  [4_096, true],
])("a full queue in which %d are over has room again: %s", (over, hasRoom) => {
  const authors = new TwoAuthors()
  for (const want of authors.need(1, 8_192).slice(0, over)) want.isOver = true
  expect(authors.need(1, 1).map(isQueued)).toEqual([hasRoom])
})

describe("a queue that was full", () => {
  /** 4,097 of 8,192 are left in it, one of them of round 2. */
  const aboveHalf = () => {
    const authors = new TwoAuthors()
    authors.need(1, 4_095)
    authors.need(2, 1)
    authors.need(9, 4_096)
    const late = authors.need(9, 1)
    authors.answer(1)
    return { authors, late }
  }

  it("is looked up again at half of its places, and not one above", () => {
    const { authors, late } = aboveHalf()
    expect(late.some(isQueued)).toBe(false)
    authors.answer(2)
    expect(late.every(isQueued)).toBe(true)
  })

  it("then takes only what its own author needs and does not have", () => {
    const { authors, late } = aboveHalf()
    const ofAnother = authors.need(9, 1, 1)
    const lodged = authors.need(9, 1)
    for (const want of lodged) authors.lodge(want)
    authors.answer(2)
    expect([late, ofAnother, lodged].map((wants) => wants.some(isQueued))).toEqual([true, false, false])
  })
})

it("counts each place that it visits", () => {
  const world = new World()
  world.add(0, 2, world.phantoms(1, 3))
  expect(world.fetches.steps).toBe(3)
  expect(world.due(0)).toHaveLength(3)
  expect(world.fetches.steps).toBe(6)
})

it("frees the place of a parent that others have fetched", () => {
  const world = new World()
  const { lacked } = builtOnOthers(world)
  const own = world.phantoms(2, 2_100)
  const add = (i: number) => world.add(0, 3, own.slice(300 * i, 300 * (i + 1)))
  for (let i = 0; i < 3; i++) add(i)
  for (const parent of lacked) world.room.satisfy(parent)
  for (let i = 3; i < 7; i++) add(i)
  const steps = world.fetches.steps
  expect(askedOf(world).size).toBe(own.length)
  // Each place once, without a search through everything missing.
  expect(world.fetches.steps - steps).toBeLessThanOrEqual(own.length + lacked.length)
})

it("a pace lets through once in its time", () => {
  const pace = new Pace(100)
  expect([1_000, 1_050, 1_100, 1_150].map((now) => pace.isDue(now))).toEqual([true, false, true, false])
  expect(pace.nextAfter(1_150)).toBe(1_200)
})
