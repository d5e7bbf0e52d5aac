import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import * as Cells from "../../src/ledger/tables/Cells.js"

const filled = (length: number, byte: number): Uint8Array => new Uint8Array(length).fill(byte)

const isOther = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) !== 0

describe("cells", () => {
  it("hold any bytes up to the maximum length, each under its own nonzero handle", () => {
    const cells = new Cells.Cells()
    const lengths = Array.from({ length: Cells.MAX_BYTES + 1 }, (_, length) => length)
    const handles = lengths.map((length) => cells.put(filled(length, length & 0xff)))
    expect(new Set([0, ...handles]).size).toBe(lengths.length + 1)
    const wrong = lengths.filter((length, i) => isOther(cells.get(handles[i] ?? 0), filled(length, length & 0xff)))
    expect(wrong).toEqual([])
    expect(() => cells.put(filled(Cells.MAX_BYTES + 1, 0))).toThrow(`a cell of ${Cells.MAX_BYTES + 1} bytes`)
  })

  it("reuse freed cells, so temporary values take no more room", () => {
    const cells = new Cells.Cells()
    const held = Array.from({ length: 300 }, () => cells.put(filled(50, 1)))
    for (const handle of held) cells.free(handle)
    const again = Array.from({ length: 300 }, () => cells.put(filled(45, 2)))
    expect([...again].sort()).toEqual([...held].sort())
  })

  it("behave as a map from handles to bytes under any additions and removals", () => {
    const act = fc.record({ isPut: fc.boolean(), length: fc.integer({ min: 0, max: 200 }), which: fc.nat() })
    fc.assert(
      fc.property(fc.array(act, { maxLength: 400, size: "max" }), (acts) => {
        const cells = new Cells.Cells()
        const model = new Map<number, Uint8Array>()
        acts.forEach(({ isPut, length, which }, i) => {
          const handle = [...model.keys()][which % Math.max(1, model.size)]
          if (isPut || handle === undefined) {
            const bytes = filled(length, i & 0xff)
            const put = cells.put(bytes)
            expect(model.has(put)).toBe(false)
            model.set(put, bytes)
          } else {
            cells.free(handle)
            model.delete(handle)
          }
          expect([...model].filter(([handle, bytes]) => isOther(cells.get(handle), bytes))).toEqual([])
        })
      }),
      { numRuns: 50 },
    )
  })
})
