import { Either, FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import * as JsonText from "../../src/protocol/encoding/JsonText.js"

const parse = (text: string) => JsonText.parse(text, "text")

const complaintOf = (text: string): string =>
  Either.match(parse(text), { onLeft: ({ field, reason }) => `${field}: ${reason}`, onRight: () => "taken" })

const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels)

describe("the values of a JSON text", () => {
  const valuesOf = (value: unknown): number =>
    typeof value === "object" && value !== null
      ? Object.values(value).reduce((sum: number, each) => sum + valuesOf(each), 1)
      : 1

  it("number at most a text's commas and brackets, including those in strings, and at least half of them", () => {
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: "medium" }), fc.constantFrom("", " "), (value, space) => {
        const text = JSON.stringify(value, undefined, space)
        const count = valuesOf(value)
        expect(JsonText.excessOf(text, { values: 2 * count })).toBeUndefined()
        expect(count === 1 || JsonText.excessOf(text, { values: Math.floor(count / 2) - 1 })).not.toBe(undefined)
      }),
      { numRuns: 1_000 },
    )
  })

  it.each(['"', '["a', '["a\\\\\\"', '{"a":"', "", "]", '"[[[["', '"\\"[[["'])(
    "do not count beyond a parser's reach in %s",
    (text) => {
      expect(JsonText.excessOf(text, { values: 3 })).toBeUndefined()
    },
  )

  it("are bounded in nesting and in the fields of one object", () => {
    const within = (text: string) => JsonText.excessOf(text, { values: 100, depth: 2, fields: 2 })
    expect(within('{"a":[1,2,3],"b":{"[[[":0}}')).toBeUndefined()
    expect(within('[{"a":[]}]')).toBe("more than 2 levels of nested objects and lists")
    expect(within('[{"a":1,"b":[')).toBe("more than 2 levels of nested objects and lists")
    expect(within('[{"a":1,"b":2},{"a":1,"b":2}]')).toBeUndefined()
    expect(within('[0,1,2,{"a":1,"b":2,"c":3}]')).toBe("an object of more than 2 fields")
    expect(within('{"a":[],"b":2,"c":3}')).toBe("an object of more than 2 fields")
    expect(within("]]]]{}")).toBeUndefined()
  })
})

describe("JSON text from outside", () => {
  it("parses to the value of JSON.parse, with any spacing and escapes", () => {
    const scalar = fc.oneof(fc.string({ unit: "binary" }), fc.maxSafeInteger(), fc.boolean(), fc.constant(null))
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        scalar,
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(fc.string({ unit: "binary" }), tie("value"), { maxKeys: 4 }),
      ),
    }))
    fc.assert(
      fc.property(value, fc.constantFrom("", " ", "\t\r\n"), (value, space) => {
        const text = JSON.stringify(value, undefined, space)
        expect(parse(text)).toStrictEqual(Either.right(JSON.parse(text)))
      }),
      { numRuns: 1_000 },
    )
  })

  it.each(["0", "-1", "9007199254740991", "-9007199254740991", "150000000"])("may hold the number %s", (number) => {
    expect(parse(number)).toStrictEqual(Either.right(Number(number)))
    expect(parse(`{"a": [${number} , ${number}]}`)).toStrictEqual(Either.right({ a: [Number(number), Number(number)] }))
  })

  // JSON.parse rounds each of these, or reads it as an integer that was written differently.
  it.each([
    "150000000.000000001",
    "9007199254740991.4",
    "0.99999999999999999999",
    "9007199254740992",
    "9007199254740993",
    "-9007199254740993",
    "1.0",
    "1e3",
    "1E+3",
    "1000e-3",
    "-0",
    "-0.0",
    "0.5",
    "1e-400",
    "1e400",
  ])("may not hold the number %s", (number) => {
    expect(complaintOf(`{"fee":1,"to":[{"amount":${number}}]}`)).toBe(
      `to[0].amount: expected an integer from -9007199254740991 to 9007199254740991 in digits alone, without fraction and exponent, got ${number}`,
    )
    expect(complaintOf(number)).toContain("text: expected an integer")
  })

  it("does not repeat an endless number, nor one that is named like a secret", () => {
    expect(complaintOf(`[${"9".repeat(60_000)}]`)).toMatch(
      /^\[0\]: expected an integer .{80,110}, got a number of 60000 characters$/,
    )
    expect(complaintOf('{"seed":123456789012345678}')).not.toContain("123456789012345678")
  })

  it.each([
    ['{"amount":1,"amount":2}', "amount"],
    ['{"amount":1,"\\u0061mount":2}', "amount"],
    ['{"a\\\\":1,"a\\\\":2}', "(a long or unprintable name)"],
    ['{"__proto__":1,"__proto__":2}', "__proto__"],
    ['[0,{"a":{"b":1},"c":[{"d":1,"e":{"d":1},"d":2}]}]', "[1].c[0].d"],
  ])("names a field once in an object: %s", (text, field) => {
    expect(complaintOf(text)).toBe(`${field}: appears twice in one object`)
  })

  it("may name a field in as many objects as it likes", () => {
    const text = '[{"a":{"a":[{"a":1},{"a":"a"}]}},{"a":{"a":{}}},{"b":{"a":0},"a":{"b":0}}]'
    expect(parse(text)).toStrictEqual(Either.right(JSON.parse(text)))
  })

  it("has no names in its lists, even after an object there", () => {
    expect(complaintOf('[{},"a",{},"a"]')).toBe("taken")
    expect(complaintOf('[[],"a",1.5]')).toMatch(/^\[2\]: expected an integer/)
  })

  it("is not misled by strings", () => {
    const text = '{"a":"1.5,\\"b\\":{[","b":"\\\\","c":"\\\\\\"","d":["}",1,"]"]}'
    expect(parse(text)).toStrictEqual(Either.right(JSON.parse(text)))
  })

  // A type of 5 000 nested lists used to be a 500: the schema turns it into a string, list by list.
  it.each([33, 5_000, 200_000])("is refused at %i levels, and read at 32", (levels) => {
    expect(complaintOf(nested(levels))).toBe(`${"[0]".repeat(32)}: more than 32 levels of nested objects and lists`)
    expect(complaintOf(`{"type":${nested(levels)}}`)).toContain("nested objects and lists")
    expect(complaintOf(nested(32))).toBe("taken")
  })

  it.each(["", "{", "[1,]", "01", "NaN", "\ufeff{}", '{"a":1}}', "'a'", '"\u0000"'])(
    "is refused when malformed: %j",
    (text) => {
      expect(complaintOf(text)).toBe("text: not valid JSON")
    },
  )
})

describe("a list with separately judged entries", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "1.5",
      "-0",
      "1e3",
      '{"a":1,"a":2}',
      '{"a":[1,{"b":9007199254740993}]}',
      `${nested(33)}`,
      "[]",
      "{}",
    ),
    fc.json({ maxDepth: 3 }),
    fc.string({ unit: "binary" }).map((text) => JSON.stringify(text)),
  )
  const space = fc.constantFrom("", " ", "\n\t")

  it("judges each entry as if it were alone", () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), space, (pieces, space) => {
        const parsed = Either.getOrThrow(
          JsonText.parseOneOrMany(`${space}[${pieces.join(`${space},`)}${space}]`, "text"),
        )
        expect(parsed._tag === "Many" && { length: parsed.length, entries: parsed.entries() }).toStrictEqual({
          length: pieces.length,
          entries: pieces.map(parse),
        })
      }),
      { numRuns: 500 },
    )
  })

  it("accepts a value that is not a list as it accepts any value", () => {
    fc.assert(
      fc.property(
        piece.filter((text) => !text.trim().startsWith("[")),
        (text) => {
          const expected = Either.map(parse(text), (value) => ({ _tag: "One", value }))
          expect(JsonText.parseOneOrMany(text, "text")).toStrictEqual(expected)
        },
      ),
    )
  })

  it("is refused whole when it is not JSON", () => {
    expect(Either.isLeft(JsonText.parseOneOrMany("[1, 2", "text"))).toBe(true)
  })
})
