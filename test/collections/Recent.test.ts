import { expect, it } from "vitest"
import { Recent } from "../../src/collections/Recent.js"

const of = (...keys: ReadonlyArray<string>): Recent<string, number> => {
  const recent = new Recent<string, number>(3)
  for (const [i, key] of keys.entries()) recent.set(key, i)
  return recent
}

const kept = (recent: Recent<string, number>): ReadonlyArray<string> =>
  ["a", "b", "c", "d"].filter((key) => recent.get(key) !== undefined)

it("forgets the key that was set longest ago, and no more than needed", () => {
  expect(kept(of("a", "b", "c"))).toEqual(["a", "b", "c"])
  expect(kept(of("a", "b", "c", "d"))).toEqual(["b", "c", "d"])
  expect(kept(of("a", "b", "c", "a", "d"))).toEqual(["a", "c", "d"])
  expect(of("a", "b", "c", "d").size).toBe(3)
})

it("keeps all other keys when a known one is set while it is full", () => {
  const recent = of("a", "b", "c", "b")
  expect([kept(recent), recent.get("b")]).toEqual([["a", "b", "c"], 3])
})

it("changes a value without making its key younger, and adds none", () => {
  const recent = of("a", "b", "c")
  recent.change("a", 9)
  expect(recent.get("a")).toBe(9)
  recent.set("d", 4)
  recent.change("a", 10)
  expect(kept(recent)).toEqual(["b", "c", "d"])
})

it("has room again after a deletion", () => {
  const recent = of("a", "b", "c")
  recent.delete("c")
  recent.set("d", 3)
  expect(kept(recent)).toEqual(["a", "b", "d"])
})
