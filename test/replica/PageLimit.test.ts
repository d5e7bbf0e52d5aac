import { expect, it } from "vitest"
import { PageLimit } from "../../src/replica/disk/PageLimit.js"

const takes = (limit: number, ...sizes: ReadonlyArray<number>) => {
  const page = new PageLimit(limit)
  return sizes.map((bytes) => page.takes(bytes))
}

it("a page takes items up to exactly its limit", () => {
  expect(takes(10, 4, 6)).toEqual([true, true])
  expect(takes(10, 4, 7)).toEqual([true, false])
})

it("a page takes its first item at any size, and then no second one", () => {
  expect(takes(10, 11, 1)).toEqual([true, false])
  expect(takes(0, 1, 0)).toEqual([true, false])
})

it("a page is full after the first item that does not fit, without skipping any", () => {
  expect(takes(10, 4, 7, 1)).toEqual([true, false, false])
})
