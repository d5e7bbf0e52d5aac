/** A commit's changes are written in the same order everywhere, so the order must be exact. */
import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import * as Order from "../../src/ledger/tables/Order.js"

describe("the order of words", () => {
  it("ascends, keeps equal words in order of arrival, and ignores words beyond the count", () => {
    const word = fc.oneof(fc.nat(3), fc.integer({ min: 0, max: 0xffff_ffff }), fc.constant(0xffff_ffff))
    fc.assert(
      fc.property(fc.array(word, { maxLength: 300 }), fc.nat(300), (words, most) => {
        const count = Math.min(most, words.length)
        const expected = [...words.keys()].slice(0, count).sort((a, b) => (words[a] ?? 0) - (words[b] ?? 0) || a - b)
        expect([...Order.byWords(Uint32Array.from(words), count)]).toEqual(expected)
      }),
    )
  })
})
