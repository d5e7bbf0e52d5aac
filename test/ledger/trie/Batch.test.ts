/** How an update's changes are sorted. The tests of tries cover the rest. */
import { describe, expect, it } from "vitest"
import { toHex } from "#crypto"
import { Batch, SORTED } from "../../../src/ledger/trie/Batch.js"
import * as worlds from "./worlds.js"

/** A key that begins with these bits in hex. */
const key = (hex: string) => worlds.key(hex.padEnd(64, "0"))

/** Changes of these keys, each with its order of arrival as its value. */
const batchOf = (...keys: ReadonlyArray<string>): Batch => {
  const batch = new Batch()
  for (const [i, hex] of keys.entries()) batch.add({ key: key(hex), value: Uint8Array.of(i) })
  return batch
}

const placesOf = (batch: Batch): ReadonlyArray<number> =>
  Array.from({ length: batch.length }, (_, i) => {
    const { bytes, end } = batch.spanAt(i)
    return bytes[end - 1] ?? -1
  })

describe("a batch of changes", () => {
  it("holds all added changes, in further chunks and beyond 64", () => {
    const batch = new Batch()
    const sizes = Array.from({ length: 70 }, (_, i) => (i % 7 === 3 ? null : (i * 1_237) % 8_193))
    for (const [i, size] of sizes.entries()) {
      batch.add({ key: worlds.hashed(i), value: size === null ? null : new Uint8Array(size).fill(i) })
    }
    const held = sizes.map((_, i) => {
      const { bytes, start, end } = batch.spanAt(i)
      const value = bytes.subarray(start + 34, end)
      expect(toHex(bytes.subarray(start, start + 32))).toBe(worlds.hashed(i))
      expect(value.every((byte) => byte === i)).toBe(true)
      return batch.isRemoval(i) ? null : value.length
    })
    expect(held).toEqual(sizes)
    expect(batch.length).toBe(70)
  })

  it("has nothing where nothing was added", () => {
    expect(() => new Batch().spanAt(0)).toThrow("no change at 0")
  })

  it("puts left turns before right ones, and pauses after every 4096 changes", () => {
    const batch = batchOf("80", "00", "c0", "40", "00")
    const job = batch.partition(1, 5, 0)
    expect(job.next()).toEqual({ done: true, value: 4 })
    expect(placesOf(batch)).toEqual([0, 1, 3, 4, 2])
    const many = new Batch()
    for (let i = 0; i < 8_193; i++) many.add({ key: key(i % 2 === 0 ? "00" : "80"), value: null })
    const pauses = (lo: number, hi: number) => [...many.partition(lo, hi, 0)].length
    expect([pauses(0, 4_095), pauses(0, 4_096), pauses(1, 4_096), pauses(1, 8_193)]).toEqual([0, 1, 0, 2])
  })

  it("sorts a part by the first 32 bits, and equal ones in order of arrival", () => {
    const batch = batchOf("ff", "7f000001", "00ff", "7f00000000", "0000ff", "000000ff", "7f000001", "00")
    batch.sort(1, 7)
    expect(placesOf(batch)).toEqual([0, 5, 4, 2, 3, 1, 6, 7])
  })

  it("sorts a limited number at once", () => {
    const batch = new Batch()
    for (let i = 0; i <= SORTED; i++) batch.add({ key: key("00"), value: null })
    batch.sort(1, SORTED + 1)
    expect(() => batch.sort(0, SORTED + 1)).toThrow(`cannot sort ${SORTED + 1} changes at once`)
  })

  it("finds the first sorted change that turns right", () => {
    const batch = batchOf("80", "00", "20", "40", "60", "00")
    expect(batch.boundary(1, 5, 1)).toBe(3)
    expect([batch.boundary(1, 3, 1), batch.boundary(3, 5, 1), batch.boundary(2, 2, 1)]).toEqual([3, 3, 2])
  })

  it("sorts a part by whole keys, and keeps the latest of each", () => {
    const last = `${"0".repeat(63)}1`
    const batch = batchOf("00", last, "80", last, "00", "80", "40", "80", "00")
    expect(batch.sortChanges(1, 8)).toBe(5)
    expect(placesOf(batch).slice(0, 5)).toEqual([0, 4, 3, 6, 7])
    expect(placesOf(batch).at(-1)).toBe(8)
  })

  it("orders changes of one key by arrival, in any position", () => {
    const batch = batchOf("80", "80", "00", "80")
    expect([...batch.partition(0, 3, 0)]).toEqual([])
    expect(placesOf(batch)).toEqual([2, 1, 0, 3])
    batch.latestFirst(1, 3)
    expect(placesOf(batch)).toEqual([2, 1, 0, 3])
    expect([batch.sortChanges(0, 3), ...placesOf(batch).slice(0, 2)]).toEqual([2, 2, 1])
    const others = batchOf("00", "00", "00", "80")
    others.latestFirst(0, 3)
    expect([placesOf(others)[0], placesOf(others)[3]]).toEqual([2, 3])
  })
})
