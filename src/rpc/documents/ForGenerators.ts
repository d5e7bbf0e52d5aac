/**
 * Reshapes schemas for client generators without changing their meaning. Without this, a Go client has 32-bit numbers
 * and tries a union's types one after the other.
 */

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

const replace = (schema: object, fields: Fields): void => {
  for (const key of Object.keys(schema)) Reflect.deleteProperty(schema, key)
  Object.assign(schema, fields)
}

/** Effect's forms for any value and any object. */
const ANYTHING: ReadonlyMap<unknown, Fields> = new Map<unknown, Fields>([
  ["/schemas/unknown", {}],
  ["/schemas/%7B%7D", { type: "object" }],
])

const FORMATS: ReadonlyMap<unknown, string> = new Map([
  ["integer", "int64"],
  ["number", "double"],
])

const isNull = (schema: unknown): boolean => isObject(schema) && "type" in schema && schema.type === "null"

/** One type with null beside it, instead of a union with null. */
const shapeNullable = (schema: object): void => {
  if (!("anyOf" in schema) || !Array.isArray(schema.anyOf) || schema.anyOf.length !== 2) return
  const { anyOf, ...around } = schema
  const [inner, other]: ReadonlyArray<unknown> = anyOf
  if (!isObject(inner) || !("type" in inner) || "enum" in inner || "properties" in inner || !isNull(other)) return
  replace(schema, { ...inner, ...around, type: [inner.type, "null"] })
}

const shapeValue = (schema: object): void => {
  if ("$id" in schema) replace(schema, ANYTHING.get(schema.$id) ?? { ...schema })
  if ("enum" in schema && Array.isArray(schema.enum) && schema.enum.length === 1) {
    const { enum: values, ...rest } = schema
    const [value]: ReadonlyArray<unknown> = values
    replace(schema, { ...rest, ...(Number.isInteger(value) ? { type: "integer" } : {}), const: value })
  }
  const format = "type" in schema ? FORMATS.get(schema.type) : undefined
  if (format !== undefined) Object.assign(schema, { format })
}

interface Body {
  readonly content: Readonly<Record<string, { readonly schema?: unknown } | undefined>>
}

const PREFIX = "#/components/schemas/"

const constantsOf = (schemas: Fields, reference: unknown): ReadonlyMap<string, string> => {
  const target = typeof reference === "string" ? schemas[reference.slice(PREFIX.length)] : undefined
  const properties = isObject(target) && "properties" in target ? target.properties : undefined
  if (!isObject(properties)) return new Map()
  const constants = Object.entries(properties).flatMap(([name, value]: [string, unknown]) =>
    isObject(value) && "const" in value && typeof value.const === "string" ? [[name, value.const] as const] : [],
  )
  return new Map(constants)
}

/** A union of named schemas distinguished by one property. */
const shapeUnion = (schema: object, schemas: Fields): void => {
  if (!("anyOf" in schema) || !Array.isArray(schema.anyOf)) return
  const { anyOf, ...around } = schema
  const members = anyOf.map((member: unknown) => {
    const reference = isObject(member) && "$ref" in member ? member.$ref : undefined
    return { reference, constants: constantsOf(schemas, reference) }
  })
  const propertyName = [...(members[0]?.constants.keys() ?? [])].find((name) => {
    const values = members.map(({ constants }) => constants.get(name))
    return !values.includes(undefined) && new Set(values).size === values.length
  })
  if (propertyName === undefined) return
  const mapping = Object.fromEntries(
    members.map(({ reference, constants }) => [constants.get(propertyName), reference] as const),
  )
  replace(schema, { ...around, oneOf: anyOf, discriminator: { propertyName, mapping } })
}

/** `vertices` has many of `vertex`. */
const singular = (name: string): string =>
  name.replace(/(?:(vert|Vert)ices|(\w)ies|([^s])s)$/, (_, vertex, y, s) => {
    if (vertex !== undefined) return `${vertex}ex`
    return y === undefined ? s : `${y}y`
  })

const capitalised = (name: string): string =>
  name.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Names every nested object, since generators give unnamed ones strange names or none. */
const shapeInner = (schemas: Record<string, unknown>): void => {
  const name = (inner: unknown, called: string): void => {
    if (!isObject(inner)) return
    if ("items" in inner) name(inner.items, singular(called))
    if ("anyOf" in inner && Array.isArray(inner.anyOf)) for (const member of inner.anyOf) name(member, called)
    if (!("properties" in inner)) return
    if (called in schemas) throw new Error(`two schemas would be named ${called}`)
    const copy = { ...inner }
    schemas[called] = copy
    replace(inner, { $ref: `${PREFIX}${called}` })
    within(copy, called)
  }
  const within = (schema: object, parent: string): void => {
    const properties = "properties" in schema && isObject(schema.properties) ? Object.entries(schema.properties) : []
    for (const [field, value] of properties) name(value, `${parent}${capitalised(field)}`)
    if ("items" in schema) name(schema.items, singular(parent))
  }
  for (const [parent, schema] of Object.entries(schemas)) if (isObject(schema)) within(schema, parent)
}

/** Names a body of several kinds: in Go, an unnamed one would be written as an empty object. */
const shapeBodies = (paths: object, schemas: Record<string, unknown>): void => {
  for (const operation of Object.values(paths).flatMap((item: object) => Object.values(item))) {
    const { operationId, requestBody }: { readonly operationId: string; readonly requestBody?: Body } = operation
    const schema = requestBody?.content["application/json"]?.schema
    if (!isObject(schema) || !("anyOf" in schema)) continue
    const called = `${capitalised(operationId)}Body`
    schemas[called] = { ...schema }
    replace(schema, { $ref: `${PREFIX}${called}` })
  }
}

const visit = (value: unknown, shape: (schema: object) => void): void => {
  if (!isObject(value)) return
  for (const [key, inner] of Object.entries(value)) if (key !== "examples" && key !== "properties") visit(inner, shape)
  // A property may be named like a keyword.
  const properties = "properties" in value && isObject(value.properties) ? Object.values(value.properties) : []
  for (const property of properties) visit(property, shape)
  shape(value)
}

export const shape = (document: {
  readonly components: { readonly schemas: Record<string, unknown> }
  readonly paths: object
}): void => {
  const all = [document.components.schemas, document.paths]
  for (const part of all)
    visit(part, (schema) => {
      shapeValue(schema)
      shapeNullable(schema)
    })
  shapeBodies(document.paths, document.components.schemas)
  shapeInner(document.components.schemas)
  for (const part of all) visit(part, (schema) => shapeUnion(schema, document.components.schemas))
}
