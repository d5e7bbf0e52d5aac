/** Entries that come and go while their table grows. */
import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { HashIndex, NO_ENTRY } from "../../src/ledger/tables/HashIndex.js"

/** Few hashes for many keys, so that walks are long and cross the table's end. */
const crowded = (entry: number): number => (Math.imul(entry >>> 2, 0x9e3779b1) >>> 28) * 0x0fff_ffff

const finds = (index: HashIndex, hashOf: (entry: number) => number, entry: number): boolean =>
  index.find(hashOf(entry), (found) => found === entry) === entry

describe("an index of entries by hash", () => {
  it.each([
    ["scattered hashes", (entry: number) => Math.imul(entry, 0x9e3779b1) >>> 0],
    ["a handful of hashes", crowded],
  ])("is a set under any additions and removals, with %s", (_, hashOf) => {
    const act = fc.record({ isAdd: fc.boolean(), key: fc.integer({ min: 1, max: 400 }) })
    fc.assert(
      fc.property(fc.nat(300), fc.array(act, { maxLength: 500, size: "max" }), (first, acts) => {
        const index = new HashIndex(hashOf)
        const model = new Set<number>()
        const add = (key: number) => {
          index.add(key, hashOf(key))
          model.add(key)
        }
        for (let key = 1_000; key < 1_000 + first; key++) add(key)
        for (const { isAdd, key } of acts) {
          if (isAdd && !model.has(key)) add(key)
          else if (model.delete(key)) index.remove(key, hashOf(key))
          if (finds(index, hashOf, key) !== model.has(key)) throw new Error(`${key} is ${String(model.has(key))}`)
        }
        for (const key of model) if (!finds(index, hashOf, key)) throw new Error(`${key} is lost`)
        expect(index.size).toBe(model.size)
        expect([...index.entries()].sort()).toEqual([...model].sort())
      }),
      { numRuns: 100 },
    )
  })

  it("removes an entry while it waits in the smaller table, and finishes with that before it grows again", () => {
    const hashOf = (entry: number) => Math.imul(entry, 0x9e3779b1) >>> 0
    const index = new HashIndex(hashOf)
    let unmoved = 0
    let growths = 0
    for (let entry = 1; entry <= 20_000; entry++) {
      index.add(entry, hashOf(entry))
      if (index.unmoved > unmoved) {
        expect(unmoved).toBe(0)
        growths++
        index.remove(entry - 1, hashOf(entry - 1))
        expect(finds(index, hashOf, entry - 1)).toBe(false)
        index.add(entry - 1, hashOf(entry - 1))
      }
      unmoved = index.unmoved
    }
    expect(growths).toBe(10)
    for (let entry = 1; entry <= 20_000; entry++) if (!finds(index, hashOf, entry)) throw new Error(`${entry} is lost`)
    expect(index.find(hashOf(20_001), (entry) => entry === 20_001)).toBe(NO_ENTRY)
    expect(() => index.remove(20_001, hashOf(20_001))).toThrow("no entry 20001")
  })
})
