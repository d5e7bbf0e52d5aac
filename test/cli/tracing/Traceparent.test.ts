import { FastCheck as fc, Option } from "effect"
import { describe, expect, it } from "vitest"
import * as Traceparent from "../../../src/cli/tracing/Traceparent.js"

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
const SPAN = "00f067aa0ba902b7"

const hexOf = (digits: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: digits, maxLength: digits })

const isZero = (hex: string): boolean => /^0+$/.test(hex)

describe("a traceparent header", () => {
  it("of version 00 names the parent and whether it is sampled", () => {
    const parts = [hexOf(32), hexOf(16), fc.integer({ min: 0, max: 255 })] as const
    fc.assert(
      fc.property(...parts, (traceId, spanId, flags) => {
        fc.pre(!isZero(traceId) && !isZero(spanId))
        const header = `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, "0")}`
        expect(Traceparent.parse(header)).toEqual(Option.some({ traceId, spanId, sampled: flags % 2 === 1 }))
      }),
    )
  })

  it.each([[`01-${TRACE}-${SPAN}-01`], [`cc-${TRACE}-${SPAN}-01-`], [`fe-${TRACE}-${SPAN}-01-what-will-be`]])(
    "of a later version can have more at its end: %s",
    (header) => {
      expect(Traceparent.parse(header)).toEqual(Option.some({ traceId: TRACE, spanId: SPAN, sampled: true }))
    },
  )

  it.each([
    ["nothing", undefined],
    ["two in a list", [`00-${TRACE}-${SPAN}-01`]],
    ["two as Node.js joins them", `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
    ["two of a later version", `01-${TRACE}-${SPAN}-01-x, 01-${TRACE}-${SPAN}-01`],
    ["an empty one", ""],
    ["version ff", `ff-${TRACE}-${SPAN}-01`],
    ["more after version 00", `00-${TRACE}-${SPAN}-01-`],
    ["a later version with too much at its end", `01-${TRACE}-${SPAN}-01-${"x".repeat(201)}`],
    ["text glued to a later version", `01-${TRACE}-${SPAN}-01x`],
    ["a trace id of zeros", `00-${"0".repeat(32)}-${SPAN}-01`],
    ["a span id of zeros", `00-${TRACE}-${"0".repeat(16)}-01`],
    ["upper case", `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ["a short trace id", `00-${TRACE.slice(1)}-${SPAN}-01`],
    ["a long span id", `00-${TRACE}-${SPAN}0-01`],
    ["one digit of flags", `00-${TRACE}-${SPAN}-1`],
    ["no flags", `00-${TRACE}-${SPAN}`],
    ["spaces around", ` 00-${TRACE}-${SPAN}-01`],
    ["a line's end", `00-${TRACE}-${SPAN}-01\n`],
  ])("is ignored if it is %s", (_, header) => {
    expect(Traceparent.parse(header)).toEqual(Option.none())
  })

  it("with one changed character names a parent only if the result has the form", () => {
    const header = `00-${TRACE}-${SPAN}-01`
    fc.assert(
      fc.property(fc.nat(header.length - 1), fc.string({ unit: "binary", minLength: 1, maxLength: 1 }), (at, unit) => {
        const changed = header.slice(0, at) + unit + header.slice(at + 1)
        const isOfForm = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/.test(changed) && !changed.startsWith("ff")
        expect(Option.isSome(Traceparent.parse(changed))).toBe(isOfForm)
      }),
      { numRuns: 500 },
    )
  })

  it("never throws, whatever it is", () => {
    fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => void Traceparent.parse(text)))
  })
})
