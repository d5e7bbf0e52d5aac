import { Either, FastCheck as fc, JSONSchema, Schema } from "effect"
import { describe, expect, it } from "vitest"
import * as Hex from "../../src/protocol/encoding/Hex.js"
import * as arbitrary from "./arbitraries.js"

const four = () => Hex.schema("Four", 4, "four bytes")

describe("hexadecimal", () => {
  it("is read in any case, and kept and written in lower case", () => {
    const decode = Schema.decodeUnknownEither(four())
    const encode = Schema.encodeEither(four())
    fc.assert(
      fc.property(arbitrary.hex(4), (hex) => {
        expect(decode(hex.toUpperCase())).toStrictEqual(Either.right(hex))
        expect(decode(hex)).toStrictEqual(Either.right(hex))
        expect(encode(hex)).toStrictEqual(Either.right(hex))
      }),
    )
  })

  it.each(["", "0011223", "001122334", "0011223g", "0x112233", " 0112233", "0011223\n", 11223344, null])(
    "of four bytes rejects %j",
    (value) => {
      expect(Either.isLeft(Schema.decodeUnknownEither(four())(value))).toBe(true)
    },
  )

  it("of another length is invalid in memory too", () => {
    expect(["00112233", "001122", "0011223344"].map((text) => Schema.is(four())(text))).toEqual([true, false, false])
  })

  it("states the expected number of characters, to people and machines", () => {
    expect(String(Either.merge(Schema.decodeUnknownEither(four())("00")))).toContain("four bytes: 8 hex characters")
    expect(JSONSchema.make(four()).$defs).toEqual({
      Four: { type: "string", description: "four bytes", pattern: "^[0-9a-fA-F]{8}$" },
    })
  })
})
