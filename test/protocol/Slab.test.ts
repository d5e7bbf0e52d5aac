import { FastCheck as fc } from "effect"
import { expect, it } from "vitest"
import * as Slab from "../../src/protocol/encoding/Slab.js"

it("gives every byte string zeros that are its own, across blocks and for long ones", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.nat(1_100), fc.nat(8)), { minLength: 1, maxLength: 60 }), (lengths) => {
      const taken = lengths.map((length, i) => {
        const bytes = Slab.allot(length)
        expect(bytes).toEqual(new Uint8Array(length))
        return bytes.fill(i + 1)
      })
      for (const [i, bytes] of taken.entries()) {
        expect(bytes).toHaveLength(lengths[i] ?? 0)
        expect(bytes.every((byte) => byte === i + 1)).toBe(true)
      }
    }),
    { numRuns: 30 },
  )
})
