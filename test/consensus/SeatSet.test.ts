import { FastCheck } from "effect"
import { expect, it } from "vitest"
import * as SeatSet from "../../src/consensus/dag/SeatSet.js"

/** One word, exactly two, and a seat in the fourth. */
const sizes = FastCheck.constantFrom(1, 31, 32, 33, 64, 100)
const seatsOf = (size: number) => FastCheck.uniqueArray(FastCheck.nat(size - 1))
const worlds = sizes.chain((size) => FastCheck.tuple(FastCheck.constant(size), seatsOf(size), seatsOf(size)))

const setOf = (size: number, seats: ReadonlyArray<number>): SeatSet.SeatSet => {
  const set = SeatSet.none(size)
  for (const seat of seats) SeatSet.add(set, seat)
  return set
}
const ascending = (seats: ReadonlyArray<number>) => seats.toSorted((a, b) => a - b)

it("contains all added and not removed seats, in ascending order", () => {
  FastCheck.assert(
    FastCheck.property(worlds, ([size, added, removed]) => {
      const set = setOf(size, added)
      expect(SeatSet.seatsIn(set)).toEqual(ascending(added))
      for (const seat of removed) SeatSet.remove(set, seat)
      const left = added.filter((seat) => !removed.includes(seat))
      expect(SeatSet.seatsIn(set)).toEqual(ascending(left))
      expect(SeatSet.isEmpty(set)).toBe(left.length === 0)
      for (let seat = 0; seat < size; seat++) expect(SeatSet.has(set, seat)).toBe(left.includes(seat))
    }),
  )
})

it("merges another set, and returns the new seats", () => {
  FastCheck.assert(
    FastCheck.property(worlds, ([size, before, more]) => {
      const [set, other] = [setOf(size, before), setOf(size, more)]
      const added = SeatSet.addAll(set, other)
      const news = more.filter((seat) => !before.includes(seat))
      expect(added === undefined ? undefined : SeatSet.seatsIn(added)).toEqual(
        news.length === 0 ? undefined : ascending(news),
      )
      expect(SeatSet.seatsIn(set)).toEqual(ascending([...before, ...news]))
      expect(SeatSet.seatsIn(other)).toEqual(ascending(more))
    }),
  )
})

it("ignores a seat that it has no room for", () => {
  const set = setOf(32, [0, 31])
  expect([31, 32, 63, 64].map((seat) => SeatSet.has(set, seat))).toEqual([true, false, false, false])
  expect(SeatSet.addAll(set, setOf(64, [40]))).toBeUndefined()
})

it("takes four words for a hundred seats", () => {
  expect([0, 1, 32, 33, 100].map((size) => SeatSet.none(size).length)).toEqual([0, 1, 1, 2, 4])
})
