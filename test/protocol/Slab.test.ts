import { FastCheck as fc } from "effect"
import { expect, it } from "vitest"
import * as Slab from "../../src/protocol/encoding/Slab.js"

it("gives every byte string its own zeros, across blocks and for long ones", () => {
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

it("places eight of a kibibyte side by side in a block, and gives anything longer its own buffer", () => {
  const places = (length: number) => Array.from({ length: 24 }, () => Slab.allot(length).buffer)
  const counts = new Map<ArrayBufferLike, number>()
  for (const buffer of places(1_024)) counts.set(buffer, (counts.get(buffer) ?? 0) + 1)
  // The first block was in use, and the last one may have room.
  expect(new Set([...counts.values()].slice(1, -1))).toEqual(new Set([8]))
  for (const length of [1_025, 8_193]) {
    expect(new Set(places(length)).size).toBe(24)
    expect(Slab.allot(length)).toEqual(new Uint8Array(length))
  }
})
