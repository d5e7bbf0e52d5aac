import { Either, FastCheck as fc, Schema } from "effect"
import { describe, expect, it } from "vitest"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import * as Name from "../../src/protocol/identity/Name.js"
import * as arbitrary from "./arbitraries.js"

const fromBytes = (text: string) =>
  Binary.decode(
    "name",
    Binary.encode((writer) => writer.text8(text)),
    Name.read,
  )

describe("a name", () => {
  it("is the same in JSON and in bytes", () => {
    fc.assert(
      fc.property(fc.oneof(arbitrary.name, arbitrary.text(25)), (text) => {
        expect(Either.isRight(fromBytes(text))).toBe(Name.isName(text))
        expect(Either.isRight(Schema.decodeUnknownEither(Name.schema)(text))).toBe(Name.isName(text))
      }),
    )
  })

  it.each(["abc", "a-c", "0-9", "a--b", "a".repeat(20)])("may be %j", (text) => {
    expect(Name.isName(text)).toBe(true)
    expect(fromBytes(text)).toStrictEqual(Either.right(text))
  })

  it.each(["", "ab", "a".repeat(21), "-ab", "ab-", "Abc", "a_c", "a.c", "äbc", "abc\n", "a c"])(
    "may not be %j",
    (text) => {
      expect(Name.isName(text)).toBe(false)
    },
  )

  it("is refused with the allowed characters, and in bytes with the fault", () => {
    const inJson = Either.merge(Schema.decodeUnknownEither(Name.schema)("Abc"))
    expect(String(inJson)).toContain("3 to 20 characters of a-z, 0-9 and -, no - at either end")
    expect(Either.merge(fromBytes("Abc"))).toMatchObject({ message: "name: not a name at byte 4" })
  })
})
