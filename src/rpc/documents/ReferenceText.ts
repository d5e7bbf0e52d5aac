/**
 * The API reference as Markdown, for coding assistants and other plain-text readers, made from the OpenAPI document.
 */
import type { Document } from "./OpenApiDocument.js"
import { itemsOf, type JsonSchema, membersOf, referenceOf, typesOf, valuesOf } from "./SchemaParts.js"

type Operation = NonNullable<Document["paths"][string]["get"]>

const DEEPEST = 4

/** A schema's type in a few words. */
const typeOf = (schema: JsonSchema): string => {
  const reference = referenceOf(schema)
  if (reference !== undefined) return reference
  const members = membersOf(schema)
  if (members !== undefined) return members.map(typeOf).join(" or ")
  const values = valuesOf(schema)
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(" or ")
  const items = itemsOf(schema)
  if (items !== undefined) return `array of ${typeOf(items)}`
  const types = typesOf(schema)
  return types.length === 0 ? "any" : types.join(" or ")
}

const fieldsOf = (schema: JsonSchema, depth = 0): ReadonlyArray<string> => {
  if (depth > DEEPEST || (depth > 0 && referenceOf(schema) !== undefined)) return []
  if ("properties" in schema) {
    const { required, properties } = schema
    return Object.entries(properties).flatMap(([name, field]) => {
      const type = `${typeOf(field)}${required.includes(name) ? "" : ", optional"}`
      const line = `${"  ".repeat(depth)}- \`${name}\` (${type}) ${field.description ?? ""}`.trimEnd()
      return [line, ...fieldsOf(field, depth + 1)]
    })
  }
  const items = itemsOf(schema)
  if (items !== undefined) return fieldsOf(items, depth)
  return (membersOf(schema) ?? []).flatMap((member) => fieldsOf(member, depth))
}

const operationOf = (method: string, path: string, operation: Operation): string => {
  const body = operation.requestBody?.content["application/json"]?.schema
  const answers = Object.entries(operation.responses).map(([status, { content }]) => {
    const [[type, entry] = []] = Object.entries(content ?? {})
    const schema = entry?.schema === undefined ? "" : ` ${typeOf(entry.schema)}`
    return `- ${status}:${schema}${type === undefined || type === "application/json" ? "" : ` (${type})`}`
  })
  return [
    `### ${method.toUpperCase()} ${path}`,
    [operation.summary, operation.description].filter((words) => words !== undefined).join(". "),
    operation.parameters
      .map(({ name, in: place, required, schema, description }) => {
        const how = `in ${place}${required ? "" : ", optional"}, ${typeOf(schema)}`
        return `- \`${name}\` (${how}) ${description ?? ""}`.trimEnd()
      })
      .join("\n"),
    body === undefined ? "" : `Body: ${typeOf(body)}`,
    `Answers:\n\n${answers.join("\n")}`,
  ]
    .filter((part) => part !== "")
    .join("\n\n")
}

const schemaOf = ([name, schema]: readonly [string, JsonSchema]): string => {
  const [example] = schema.examples ?? []
  const fields = fieldsOf(schema).join("\n")
  return [
    `### ${name}`,
    schema.description ?? "",
    fields === "" ? `Type: ${typeOf(schema)}` : fields,
    example === undefined ? "" : `\`\`\`json\n${JSON.stringify(example)}\n\`\`\``,
  ]
    .filter((part) => part !== "")
    .join("\n\n")
}

export const text = ({ info, tags, paths, components }: Document): string => {
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method, path, operation })),
  )
  const groups = tags.flatMap(({ name, description }) => [
    `## ${name}`,
    description ?? "",
    ...operations
      .filter(({ operation }) => operation.tags.includes(name))
      .map(({ method, path, operation }) => operationOf(method, path, operation)),
  ])
  const parts = [
    `# ${info.title} API ${info.version}`,
    info.description ?? "",
    ...groups,
    "## Schemas",
    ...Object.entries(components.schemas).map(schemaOf),
  ]
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`
}
