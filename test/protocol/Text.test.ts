import { Either, FastCheck as fc, Schema } from "effect"
import { describe, expect, it } from "vitest"
import * as Text from "../../src/protocol/encoding/Text.js"
import * as arbitrary from "./arbitraries.js"

const decode = Schema.decodeUnknownEither(Text.schema(1, 8))

describe("a text of 1 to 8 bytes", () => {
  it("is measured in UTF-8, not in characters", () => {
    fc.assert(
      fc.property(arbitrary.text(12), (text) => {
        const length = Buffer.byteLength(text)
        expect(Either.isRight(decode(text))).toBe(length >= 1 && length <= 8)
      }),
      { numRuns: 500 },
    )
    expect(Either.isRight(decode("🪙🪙"))).toBe(true)
    expect(Either.isRight(decode("🪙🪙x"))).toBe(false)
  })

  it("states its limits", () => {
    expect(String(Either.merge(decode("")))).toContain("valid Unicode text of 1 to 8 bytes in UTF-8")
  })

  it.each(["", "\ud800", "a\udfff", "\udc00\ud800", 5, null])("is not %j", (value) => {
    expect(Either.isLeft(decode(value))).toBe(true)
  })
})
