import { HttpApi } from "@effect/platform"
import { SchemaAST as AST, Either, FastCheck as fc, Option, Schema } from "effect"
import { describe, expect, it } from "vitest"
import * as CompiledSchema from "../../src/effect3/schema/CompiledSchema.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import * as JsonForm from "../../src/protocol/transaction/JsonForm.js"
import * as TransactionJson from "../../src/protocol/transaction/TransactionJson.js"
import { Api } from "../../src/rpc/api/Api.js"
import * as arbitrary from "../protocol/arbitraries.js"
import * as Rest from "../support/Rest.js"

const throughText = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** A JSON value with one part replaced, removed or added. */
const spoiled = (value: unknown): fc.Arbitrary<unknown> =>
  typeof value !== "object" || value === null
    ? fc.jsonValue()
    : Array.isArray(value)
      ? fc.oneof(
          fc.jsonValue(),
          ...value.map((one, i) => spoiled(one).map((other) => value.map((old, j) => (i === j ? other : old)))),
        )
      : fc.oneof(
          fc.jsonValue(),
          fc.tuple(fc.string(), fc.jsonValue()).map(([name, more]) => ({ ...value, [name]: more })),
          ...Object.entries(value).flatMap(([name, one]) => [
            spoiled(one).map((other) => ({ ...value, [name]: other })),
            fc.constant(Object.fromEntries(Object.entries(value).filter(([other]) => other !== name))),
          ]),
        )

/** The library throws on a discriminator that cannot become a string; `protocol/encoding/Json` catches that. */
const throws = (decode: () => unknown): boolean => {
  try {
    decode()
    return false
  } catch {
    return true
  }
}

/** Compares the library's result with that of the compiled code, where there is one. */
const agree = (schema: Schema.Schema<unknown>, input: unknown): boolean => {
  let isSure = false
  for (const options of [{ onExcessProperty: "error" as const }, {}]) {
    const decode = Schema.decodeUnknownEither(schema, options)
    const plain = CompiledSchema.decoder(schema, options)(input)
    if (throws(() => decode(input))) expect(plain).toBe(CompiledSchema.NOT_SURE)
    if (plain === CompiledSchema.NOT_SURE) continue
    const library = decode(input)
    isSure = true
    expect(Either.right(plain)).toStrictEqual(library)
    const value = Either.getOrThrow(library)
    const json = CompiledSchema.encoder(schema, {})(value)
    if (json !== CompiledSchema.NOT_SURE) {
      expect(JSON.stringify(json)).toBe(JSON.stringify(Schema.encodeUnknownSync(schema)(value)))
    }
  }
  return isSure
}

/** The schemas of the API that have an example. */
const schemas: Array<readonly [name: string, schema: Schema.Schema<unknown>, example: unknown]> = []
HttpApi.reflect(Api, {
  onGroup: () => {},
  onEndpoint: ({ endpoint }) => {
    const { name, payloadSchema, successSchema } = endpoint
    const bodies: ReadonlyArray<Schema.Schema.All> = Option.toArray(payloadSchema)
    for (const { ast } of [...bodies, successSchema]) {
      const [example] = Option.getOrElse(AST.getExamplesAnnotation(ast), () => [])
      if (example !== undefined) schemas.push([name, Schema.make(ast), example])
    }
  },
})

describe("a schema compiled to code", () => {
  it.each(schemas)("agrees with the library on %s", (_, schema, example) => {
    const json = throughText(Schema.encodeUnknownSync(schema)(example))
    agree(schema, json)
    fc.assert(
      fc.property(spoiled(json), (input) => void agree(schema, input)),
      { numRuns: 100 },
    )
  })

  it("leaves the verdict to the library where the library throws", () => {
    const schema = Schema.make<unknown, unknown, never>(TransactionJson.TransactionJson.ast)
    const input = { type: { toString: 0 } }
    expect(throws(() => Schema.decodeUnknownEither(schema)(input))).toBe(true)
    expect(agree(schema, input)).toBe(false)
  })

  const isSure = (numRuns: number): void => {
    const schema = Schema.make<unknown, unknown, never>(TransactionJson.TransactionJson.ast)
    fc.assert(
      fc.property(
        arbitrary.transaction("udg-test" as NetworkId).map((transaction) => throughText(JsonForm.toJson(transaction))),
        (json) => agree(schema, json),
      ),
      { numRuns: numRuns / 5 },
    )
    fc.assert(
      fc.property(
        arbitrary
          .transaction("udg-test" as NetworkId)
          .chain((transaction) => spoiled(throughText(JsonForm.toJson(transaction)))),
        (json) => void agree(schema, json),
      ),
      { numRuns },
    )
  }

  const SURE = "decides every valid transaction itself, and no invalid one"
  it(SURE, () => isSure(100))
  it(Rest.of("more transactions", SURE), () => isSure(500))
})
