import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { Reassembly } from "../../src/network/Reassembly.js"

/** The length of a record, from its first two bytes. */
const lengthOf = (start: Uint8Array): number | undefined =>
  start.length < 2 ? undefined : 2 + (start[0] ?? 0) + 256 * (start[1] ?? 0)

const record = (content: Uint8Array): Uint8Array => Uint8Array.of(content.length % 256, content.length >> 8, ...content)

const joined = (parts: ReadonlyArray<Uint8Array>) => new Uint8Array(Buffer.concat(parts))

/** All records of a line that arrives in pieces of these lengths, repeated. */
const assembled = (assembly: Reassembly, line: Uint8Array, cuts: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const records: Array<Uint8Array> = []
  let at = 0
  for (let i = 0; at < line.length; i++) {
    const end = at + (cuts[i % cuts.length] ?? 1)
    assembly.add(line.subarray(at, end))
    for (let next = assembly.next(); next !== undefined; next = assembly.next()) records.push(next.slice())
    at = end
  }
  return records
}

describe("records", () => {
  it("come out as they went in however the line is cut, with at most three bytes copied per byte", () => {
    const contents = fc.array(fc.uint8Array({ maxLength: 400 }), { maxLength: 12 })
    const cuts = fc.array(fc.integer({ min: 0, max: 500 }), { minLength: 1, maxLength: 8 }).map((all) => [...all, 1])
    fc.assert(
      fc.property(contents, cuts, (sent, sizes) => {
        const assembly = new Reassembly(lengthOf)
        const records = sent.map(record)
        const line = joined(records)
        expect(assembled(assembly, line, sizes)).toEqual(records)
        expect(assembly.isWaiting).toBe(false)
        expect(assembly.copied).toBeLessThanOrEqual(3 * line.length)
      }),
      { numRuns: 1_000 },
    )
  })

  it("are not copied if they are complete in a piece", () => {
    const assembly = new Reassembly(lengthOf)
    const line = joined([1, 2, 3].map((n) => record(new Uint8Array(n * 100))))
    expect(assembled(assembly, line, [line.length])).toHaveLength(3)
    expect(assembly.copied).toBe(0)
  })

  it("hold at most twice what arrived, regardless of announced lengths", () => {
    const assembly = new Reassembly(() => 1_000_000_000)
    for (let bytes = 1; bytes <= 5_000; bytes++) {
      assembly.add(Uint8Array.of(0))
      expect(assembly.next()).toBeUndefined()
      expect(assembly.heldBytes).toBeLessThanOrEqual(Math.max(64, 2 * bytes))
    }
  })

  it("cost no more in a hundred thousand pieces than in one hundred", () => {
    const line = record(new Uint8Array(60_000))
    const inOnes = new Reassembly(lengthOf)
    const inSome = new Reassembly(lengthOf)
    assembled(inOnes, line, [1])
    assembled(inSome, line, [600])
    expect(inOnes.copied).toBeLessThan(2 * inSome.copied)
  })
})
