import { HttpApi } from "@effect/platform"
import { Validator } from "@seriousme/openapi-schema-validator"
import { Ajv2020 } from "ajv/dist/2020.js"
import { describe, expect, it } from "vitest"
import { Api } from "../../src/rpc/api/Api.js"
import * as OpenApiDocument from "../../src/rpc/documents/OpenApiDocument.js"
import * as Reference from "../../src/rpc/documents/Reference.js"

const document = OpenApiDocument.make("1.2.3", [{ url: "http://127.0.0.1:10333", description: "this node" }])

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
)

/** Every schema in the document that has examples, by its location. */
const exampled = (value: unknown, where: string): ReadonlyArray<readonly [string, object]> => {
  if (typeof value !== "object" || value === null) return []
  const own = "examples" in value ? [[where, value] as const] : []
  return [...own, ...Object.entries(value).flatMap(([key, inner]) => exampled(inner, `${where}/${key}`))]
}

describe("the OpenAPI document", () => {
  it("is valid OpenAPI 3.1 according to an independent validator", async () => {
    const result = await new Validator().validate(structuredClone(document) as unknown as Record<string, unknown>)
    expect(result).toEqual({ valid: true })
    expect(document.openapi).toBe("3.1.0")
  })

  it("has a summary, responses and the common failures for every endpoint", () => {
    let endpoints = 0
    HttpApi.reflect(Api, { onGroup: () => {}, onEndpoint: () => void endpoints++ })
    expect(operations).toHaveLength(endpoints)
    for (const { path, operation } of operations) {
      expect(operation.summary, path).toMatch(/\w/)
      const statuses = Object.keys(operation.responses)
      expect(statuses, path).toEqual(expect.arrayContaining(["200", "429", "500", "503"]))
      if (operation.parameters.length > 0) expect(statuses, path).toContain("400")
      if (operation.requestBody !== undefined) {
        expect(statuses, path).toEqual(expect.arrayContaining(["400", "408", "413", "415"]))
      }
    }
  })

  it("marks ten endpoints as absent on a mainnet, each with the alternative", () => {
    const gated = operations.filter(({ operation }) => "410" in operation.responses)
    expect(gated.map(({ path }) => path).sort()).toEqual(
      "/delegate /faucet /keygen /proposal /set-commission /stake /tx /undelegate /unstake /vote".split(" "),
    )
    for (const { operation } of gated) expect(operation.description).toMatch(/410 on a mainnet: .*\/tx\/submit/)
  })

  it("does not contain the library's own error", () => {
    expect(JSON.stringify(document)).not.toContain("HttpApiDecodeError")
  })

  it("states the range of every number and the form of every text in paths and queries", () => {
    const { schemas } = document.components
    const parameters = operations.flatMap(({ operation }) => operation.parameters)
    for (const { name, schema } of parameters) {
      // A reference with its own description is in `allOf`.
      const [, reference = ""] = /"#\/components\/schemas\/(\w+)"/.exec(JSON.stringify(schema)) ?? []
      const resolved = { ...schema, ...schemas[reference] }
      const isBounded = "type" in resolved && (resolved.type === "integer" ? "maximum" in resolved : true)
      const hasForm =
        "pattern" in resolved ||
        "maxLength" in resolved ||
        "enum" in resolved ||
        "const" in resolved ||
        "minimum" in resolved
      expect([name, isBounded, hasForm]).toEqual([name, true, true])
    }
    const schemaOf = (wanted: string) => parameters.find(({ name }) => name === wanted)?.schema
    expect(schemaOf("limit")).toMatchObject({ minimum: 1, maximum: 100 })
    expect(schemaOf("rounds")).toMatchObject({ minimum: 1, maximum: 120 })
  })

  it.each(
    ["AccountText", "AddressText"].flatMap((name) => [
      [name, "9f3c1a2b4d5e6f708192a3b4c5d6e7f8091a2b3c", true],
      [name, "9F3C1A2B4D5E6F708192A3B4C5D6E7F8091A2B3C", true],
      [name, "tudg1nu7p526dtehhpqvj5w6vt4h8lqy352eud263hw", true],
      [name, "TUDG1NU7P526DTEHHPQVJ5W6VT4H8LQY352EUD263HW", true],
      [name, "tudg1nu7p526dtehhpqvj5w6vt4h8lqy352eud263h", false],
      [name, "tudg1Nu7p526dtehhpqvj5w6vt4h8lqy352eud263hw", false],
      [name, "9f3c1a2b", false],
      [name, "@alice", name === "AccountText"],
      [name, "@-x", false],
    ]),
  )("%s has a pattern that takes %s: %s", (name, text, isTaken) => {
    const schema: object = document.components.schemas[String(name)] ?? {}
    expect(new RegExp("pattern" in schema ? String(schema.pattern) : "never").test(String(text))).toBe(isTaken)
  })

  it("has no title or description that the library derived from a check", () => {
    const made = /"title":"(?:[^"]*\(|[a-z]+")|item\(s\)|character\(s\)/.exec(JSON.stringify(document))
    expect(made?.[0]).toBeUndefined()
  })

  it("gives client generators the names and forms they need", () => {
    const wrong: Array<string> = []
    const visit = (schema: unknown, where: string, isNamed: boolean): void => {
      if (typeof schema !== "object" || schema === null) return
      const { type, format, properties, $id, discriminator }: Readonly<Record<string, unknown>> = { ...schema }
      const types = [type].flat()
      if (types.includes("integer") && format !== "int64") wrong.push(`${where} is of 32 bits in Go`)
      if (types.includes("number") && format !== "double") wrong.push(`${where} is of 32 bits in Go`)
      if (properties !== undefined && !isNamed) wrong.push(`${where} has no name`)
      if ($id !== undefined) wrong.push(`${where} is written as only Effect does`)
      const text = JSON.stringify(schema)
      const isOfFailures = /^\{"anyOf":\[(?:\{"\$ref":"[^"]*"\},?)+\]/.test(text) && where.includes("/responses/4")
      if (isOfFailures && discriminator === undefined) wrong.push(`${where} is tried out`)
      for (const [key, inner] of Object.entries(schema)) if (key !== "examples") visit(inner, `${where}/${key}`, false)
    }
    for (const [name, schema] of Object.entries(document.components.schemas)) visit(schema, name, true)
    visit(document.paths, "", false)
    expect(wrong).toEqual([])
    const { Transaction }: Readonly<Record<string, object>> = document.components.schemas
    expect(Transaction).toMatchObject({
      oneOf: expect.arrayContaining([{ $ref: "#/components/schemas/VoteTx" }]),
      discriminator: { propertyName: "type", mapping: { VoteTx: "#/components/schemas/VoteTx" } },
    })
  })

  it("describes every field of every body", () => {
    const bare: Array<string> = []
    const visit = (schema: unknown, where: string): void => {
      if (typeof schema !== "object" || schema === null) return
      if ("properties" in schema && typeof schema.properties === "object" && schema.properties !== null) {
        for (const [name, field] of Object.entries(schema.properties)) {
          const isPlain = typeof field === "object" && field !== null && "type" in field && field.type !== "object"
          const isOneOf = typeof field === "object" && field !== null && ("enum" in field || "const" in field)
          if (isPlain && field.type !== "array" && !isOneOf && !("description" in field)) {
            bare.push(`${where}.${name}`)
          }
        }
      }
      for (const [key, inner] of Object.entries(schema)) if (key !== "examples") visit(inner, `${where}/${key}`)
    }
    // The protocol's documentation describes signed transactions and parameters.
    const types = JSON.stringify(document.components.schemas["TransactionType"])
    const isOfProtocol = (name: string) =>
      types.includes(`"${name}"`) || /^GovernanceConfig$|^NetworkInfo|^ParameterChangeProposal/.test(name)
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      if (!isOfProtocol(name)) visit(schema, name)
    }
    expect(bare).toEqual([])
  })
})

describe("its examples", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema({ $id: "udg", components: document.components })

  const all = exampled(document.components.schemas, "")

  it("cover every success and every request", () => {
    const names = new Set(all.map(([where]) => where.split("/")[1]))
    for (const { path, operation } of operations) {
      const success = JSON.stringify(operation.responses[200]?.content?.["application/json"]?.schema ?? {})
      const reference = /"#\/components\/schemas\/(\w+)"/.exec(success)?.[1]
      if (reference !== undefined) expect(names, path).toContain(reference)
    }
    expect(all.length).toBeGreaterThan(25)
  })

  it.each(all)("%s conform to their schema", (_where, schema) => {
    const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"udg#/components'))
    const validate = ajv.compile(absolute)
    for (const example of absolute.examples) expect(validate(example), JSON.stringify(validate.errors)).toBe(true)
  })

  it("would be refused with a field missing, misspelt or of another type", () => {
    const validate = ajv.compile({ $ref: "udg#/components/schemas/NodeStatus" })
    const [example] = document.components.schemas["NodeStatus"]?.examples ?? []
    expect(validate(example)).toBe(true)
    expect(validate({ ...(example as object), peers: "4" })).toBe(false)
    expect(validate({ ...(example as object), more: 1 })).toBe(false)
    expect(validate({})).toBe(false)
  })
})

describe("the reference page", () => {
  const page = Reference.page(document)

  it("shows every operation and schema", () => {
    for (const { operation } of operations) expect(page).toContain(`id="${operation.operationId}"`)
    for (const name of Object.keys(document.components.schemas)) expect(page).toContain(`id="schema-${name}"`)
    const links = [...page.matchAll(/href="#([^"]+)"/g)].map((match) => match[1])
    for (const link of links) expect(page).toContain(`id="${link}"`)
  })

  it("is complete without its script and loads nothing from elsewhere", () => {
    const [, script = "", rest] = /<script>([\s\S]*)<\/script>([\s\S]*)/.exec(page) ?? []
    expect(rest).toBe("</body></html>")
    const whole = page.replace(`<script>${script}</script>`, "")
    expect(whole).not.toMatch(/<script|<img|\son\w+=|url\(|@import/i)
    expect(whole.match(/<link[^>]*>/g)).toEqual([
      expect.stringMatching(/^<link rel="icon" href="data:image\/svg\+xml,/),
    ])
    expect(whole).not.toMatch(/undefined|`/)
    expect(page.length).toBeLessThan(262_144)
  })
})
