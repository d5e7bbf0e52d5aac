import { Either, Schema } from "effect"
import { describe, expect, it } from "vitest"
import * as Json from "../../src/protocol/encoding/Json.js"

const Pet = Schema.Struct({
  name: Schema.String,
  owners: Schema.optionalWith(Schema.Array(Schema.Struct({ age: Schema.Number })), { exact: true }),
  kind: Schema.Union(
    Schema.Struct({ Cat: Schema.Struct({ lives: Schema.Number }) }),
    Schema.Struct({ Dog: Schema.Struct({ tricks: Schema.Number }) }),
  ),
})
const decode = Json.decoder(Pet, "pet")
const fieldOf = (input: unknown): string =>
  Either.match(decode(input), { onLeft: ({ field }) => field, onRight: () => "" })
const kind = { Cat: { lives: 9 } }

describe("JSON that does not fit its schema", () => {
  it.each<[string, unknown]>([
    ["pet", "no object"],
    ["pet", null],
    ["name", { kind }],
    ["name", { name: 5, kind }],
    ["colour", { name: "a", kind, colour: "red" }],
    ["__proto__", JSON.parse('{"name":"a","kind":{"Cat":{"lives":9}},"__proto__":{"name":"b"}}')],
    ["owners[1].age", { name: "a", kind, owners: [{ age: 1 }, { age: "2" }] }],
    ["kind.Cat.lives", { name: "a", kind: { Cat: { lives: "9" } } }],
    ["kind.Dog.tricks", { name: "a", kind: { Dog: { tricks: "many" } } }],
    ["kind.Dog.bark", { name: "a", kind: { Dog: { tricks: 1, bark: 2 } } }],
  ])("is blamed on %s", (field, input) => {
    expect(fieldOf(input)).toBe(field)
  })

  it.each([{}, { Bird: {} }, { Cat: { lives: 9 }, Dog: { tricks: 1 } }, 5, null])(
    "is refused with all known kinds: %j",
    (kind) => {
      const problem = Either.getLeft(decode({ name: "a", kind }))
      expect(problem).toMatchObject({
        value: { field: "kind", reason: expect.stringMatching(/^expected an object with one of the fields Cat, Dog/) },
      })
    },
  )

  it("is refused even if its type cannot be stated", () => {
    const Message = Schema.Union(
      Schema.Struct({ type: Schema.Literal("ping") }),
      Schema.Struct({ type: Schema.Literal("pong") }),
    )
    expect(Json.decoder(Message, "message")({ type: { toString: 1 } })).toStrictEqual(
      Either.left({ field: "message", reason: "a field holds an object or a list instead of a text" }),
    )
  })

  it("can have unknown fields only if they are ignored", () => {
    const input = { name: "a", kind, colour: "red" }
    expect(Either.isLeft(Json.decoder(Pet, "pet")(input))).toBe(true)
    expect(Json.decoder(Pet, "pet", "ignore")(input)).toStrictEqual(Either.right({ name: "a", kind }))
  })

  it("causes no error when it fits", () => {
    expect(decode({ name: "a", kind })).toStrictEqual(Either.right({ name: "a", kind }))
  })
})
