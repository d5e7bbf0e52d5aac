import { Either, FastCheck as fc, Schema } from "effect"
import { describe, expect, it } from "vitest"
import * as Hex from "../../src/protocol/encoding/Hex.js"
import * as arbitrary from "./arbitraries.js"

const decode = Schema.decodeUnknownEither(Hex.schema("Four", 4, "four bytes"))

describe("hexadecimal", () => {
  it("comes in any case and is kept in lower case", () => {
    fc.assert(
      fc.property(arbitrary.hex(4), (hex) => {
        expect(decode(hex.toUpperCase())).toStrictEqual(Either.right(hex))
        expect(decode(hex)).toStrictEqual(Either.right(hex))
      }),
    )
  })

  it.each(["", "0011223", "001122334", "0011223g", "0x112233", " 0112233", "0011223\n", 11223344, null])(
    "of four bytes is not %j",
    (value) => {
      expect(Either.isLeft(decode(value))).toBe(true)
    },
  )

  it("of another length is none in memory either", () => {
    const isFour = Schema.is(Hex.schema("Four", 4, "four bytes"))
    expect(["00112233", "001122", "0011223344"].map((text) => isFour(text))).toEqual([true, false, false])
  })

  it("says how many characters it wants", () => {
    expect(String(Either.merge(decode("00")))).toContain("four bytes: 8 hex characters")
  })
})
