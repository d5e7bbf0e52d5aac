import { Either, Schema } from "effect"
import { describe, expect, it } from "vitest"
import * as Parameters from "../../src/protocol/numbers/Parameters.js"

describe("a governable parameter", () => {
  it("has a default within its bounds, and its own name and key", () => {
    for (const epochRounds of [40, 240, 7_200, 10_000_000]) {
      const standard = Parameters.standard(epochRounds)
      for (const entry of Parameters.table) {
        expect(standard[entry.key]).toBeGreaterThanOrEqual(Parameters.minimumOf(entry, epochRounds))
        expect(standard[entry.key]).toBeLessThanOrEqual(entry.max)
        if (typeof entry.standard === "number") expect(standard[entry.key]).toBe(entry.standard)
      }
    }
    for (const entry of Parameters.table) {
      expect(Parameters.solo[entry.key]).toBeGreaterThanOrEqual(Parameters.minimumOf(entry, 240))
      expect(Parameters.solo[entry.key]).toBeLessThanOrEqual(entry.max)
      expect(Parameters.find(entry.name)).toBe(entry)
    }
    expect(new Set(Parameters.table.map(({ key }) => key)).size).toBe(Parameters.table.length)
    expect(Parameters.find("no_such_parameter")).toBeUndefined()
  })

  it("of the cooldown is at least an epoch", () => {
    const cooldown = Parameters.find("cooldown_rounds")
    if (cooldown === undefined) throw new Error("no cooldown")
    expect(Parameters.minimumOf(cooldown, 240)).toBe(240)
  })

  it("has its standard value where a genesis omits it", () => {
    const json = Schema.decodeUnknownSync(Parameters.FileJson)({ min_fee_sats: 5 })
    expect(Parameters.fromFile(json, 240)).toStrictEqual({ ...Parameters.standard(240), minFee: 5 })
  })

  it("decodes from its JSON unchanged, and is written under its own name", () => {
    const numbered = Parameters.make((entry) => Parameters.minimumOf(entry, 40))
    const json = Parameters.toJson(numbered)
    expect(Parameters.fromFile(Schema.decodeUnknownSync(Parameters.FileJson)(json), 240)).toStrictEqual(numbered)
    for (const entry of Parameters.table) expect(json[entry.name]).toBe(numbered[entry.key])
  })

  it("in JSON is an integer: no string, fraction or minus zero", () => {
    for (const value of ["1", 0.5, -0, null]) {
      expect(Either.isLeft(Schema.decodeUnknownEither(Parameters.FileJson)({ treasury_percent: value }))).toBe(true)
    }
  })
})
