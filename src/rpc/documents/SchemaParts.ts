/** Reads parts of schemas in the OpenAPI document. */
import type { OpenApiJsonSchema } from "@effect/platform"

export type JsonSchema = OpenApiJsonSchema.JsonSchema

const nameOf = (ref: string): string => ref.slice(ref.lastIndexOf("/") + 1)

/** The name of a referenced schema, even if the reference is wrapped with its own description. */
export const referenceOf = (schema: object): string | undefined => {
  if ("$ref" in schema && typeof schema.$ref === "string") return nameOf(schema.$ref)
  if (!("allOf" in schema) || !Array.isArray(schema.allOf)) return undefined
  const [first] = schema.allOf
  return typeof first === "object" && first !== null ? referenceOf(first) : undefined
}

/** The members of a union. */
export const membersOf = (schema: object): ReadonlyArray<JsonSchema> | undefined => {
  if ("oneOf" in schema && Array.isArray(schema.oneOf)) return schema.oneOf
  return "anyOf" in schema && Array.isArray(schema.anyOf) ? schema.anyOf : undefined
}

export const valuesOf = (schema: object): ReadonlyArray<unknown> | undefined => {
  if ("const" in schema) return [schema.const]
  return "enum" in schema && Array.isArray(schema.enum) ? schema.enum : undefined
}

export const itemsOf = (schema: JsonSchema): JsonSchema | undefined =>
  "type" in schema && schema.type === "array" && schema.items !== undefined && !Array.isArray(schema.items)
    ? schema.items
    : undefined

export const documentedAt = (schema: object): string | undefined =>
  "externalDocs" in schema &&
  typeof schema.externalDocs === "object" &&
  schema.externalDocs !== null &&
  "url" in schema.externalDocs &&
  typeof schema.externalDocs.url === "string"
    ? schema.externalDocs.url
    : undefined

/** The types in the words of JSON Schema. */
export const typesOf = (schema: object): ReadonlyArray<string> =>
  "type" in schema ? [schema.type].flat().filter((type) => typeof type === "string") : []
