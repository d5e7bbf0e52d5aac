import { FastCheck as fc } from "effect"
import { expect, it } from "vitest"
import * as SpanIds from "../../../src/cli/tracing/SpanIds.js"

const hash = fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: 64, maxLength: 64 })
const ratio = fc.double({ min: 0, max: 1, noNaN: true })

it("names the trace after the first 16 bytes of the hash", () => {
  expect(SpanIds.traceOf("0123456789abcdef".repeat(4))).toBe("0123456789abcdef0123456789abcdef")
})

it("samples all traces at 1 and none at 0, up to the last one", () => {
  for (const trace of ["0".repeat(32), "f".repeat(32), `${"f".repeat(16)}${"0".repeat(16)}`]) {
    expect(SpanIds.isSampled(trace, 1)).toBe(true)
    expect(SpanIds.isSampled(trace, 0)).toBe(false)
  }
})

it("samples at a larger ratio whatever it samples at a smaller one", () => {
  fc.assert(
    fc.property(hash, ratio, ratio, (hash, one, other) => {
      const trace = SpanIds.traceOf(hash)
      const isSampledAtLess = SpanIds.isSampled(trace, Math.min(one, other))
      expect(!isSampledAtLess || SpanIds.isSampled(trace, Math.max(one, other))).toBe(true)
    }),
  )
})

it("samples about the share of hashes that the ratio says", () => {
  const count = Array.from({ length: 20_000 }, SpanIds.trace).filter((trace) => SpanIds.isSampled(trace, 0.1)).length
  // Seven standard deviations.
  expect(Math.abs(count - 2_000)).toBeLessThan(300)
})

it("gives a transaction another span on each node, always the same one there", () => {
  fc.assert(
    fc.property(hash, (hash) => {
      const [one, other] = [SpanIds.salt(), SpanIds.salt()]
      expect(SpanIds.spanOf(hash, one)).toMatch(/^[0-9a-f]{16}$/)
      expect(SpanIds.spanOf(hash, one)).toBe(SpanIds.spanOf(hash, one))
      expect(SpanIds.spanOf(hash, one)).not.toBe(SpanIds.spanOf(hash, other))
    }),
  )
})
