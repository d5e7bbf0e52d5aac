/**
 * The API reference as one HTML page: made from the OpenAPI document, without a script, a font or anything else that
 * would have to be fetched, so that it reads the same behind any firewall and under the strictest policy.
 */
import type { OpenApiJsonSchema } from "@effect/platform"
import type { Document } from "./OpenApiDocument.js"

type JsonSchema = OpenApiJsonSchema.JsonSchema
type Schemas = Document["components"]["schemas"]
type Item = Document["paths"][string]
type Operation = NonNullable<Item["get"]>

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

const code = (text: string): string => `<code>${escaped(text)}</code>`

const nameOf = (ref: string): string => ref.slice(ref.lastIndexOf("/") + 1)

const anchor = (name: string): string => `<a href="#schema-${escaped(name)}">${escaped(name)}</a>`

/** A schema by reference, also where the reference is wrapped to carry a description of its own. */
const referenceOf = (schema: object): string | undefined => {
  if ("$ref" in schema && typeof schema.$ref === "string") return nameOf(schema.$ref)
  if ("allOf" in schema && Array.isArray(schema.allOf)) {
    const [first] = schema.allOf
    if (typeof first === "object" && first !== null) return referenceOf(first)
  }
  return undefined
}

/** A schema's type in a few words. */
const typeOf = (schema: JsonSchema): string => {
  const reference = referenceOf(schema)
  if (reference !== undefined) return anchor(reference)
  if ("anyOf" in schema) return schema.anyOf.map((member) => typeOf(member as JsonSchema)).join(" or ")
  if ("enum" in schema) return schema.enum.map((value) => code(JSON.stringify(value))).join(" or ")
  if ("type" in schema && schema.type === "array") {
    const { items } = schema
    return items === undefined || Array.isArray(items) ? "array" : `array of ${typeOf(items)}`
  }
  return "type" in schema && typeof schema.type === "string" ? escaped(schema.type) : "any"
}

const fieldsOf = (schema: JsonSchema, level = 0): string => {
  if (level > 4) return ""
  if ("properties" in schema && referenceOf(schema) === undefined) {
    const { required, properties } = schema
    const rows = Object.entries(properties).map(([name, field]) => {
      const optional = required.includes(name) ? "" : " <em>optional</em>"
      return `<li>${code(name)}${optional} <small>${typeOf(field)}</small> ${escaped(field.description ?? "")}${fieldsOf(field, level + 1)}</li>`
    })
    return rows.length === 0 ? "" : `<ul>${rows.join("")}</ul>`
  }
  if ("type" in schema && schema.type === "array") {
    const { items } = schema
    return items === undefined || Array.isArray(items) ? "" : fieldsOf(items, level + 1)
  }
  return "anyOf" in schema ? schema.anyOf.map((member) => fieldsOf(member as JsonSchema, level + 1)).join("") : ""
}

const exampleOf = (schema: JsonSchema | undefined, schemas: Schemas): unknown => {
  if (schema === undefined) return undefined
  const reference = referenceOf(schema)
  const target = reference === undefined ? schema : schemas[reference]
  if (target === undefined) return undefined
  if (target.examples?.[0] !== undefined) return target.examples[0]
  if (!("anyOf" in target)) return undefined
  return target.anyOf.map((member) => exampleOf(member as JsonSchema, schemas)).find((found) => found !== undefined)
}

const pre = (value: unknown): string =>
  value === undefined ? "" : `<pre>${escaped(typeof value === "string" ? value : JSON.stringify(value, null, 2))}</pre>`

/** The same call for a terminal. */
const curl = (method: string, path: string, body: unknown): string => {
  const url = `http://127.0.0.1:10333${path}`
  return method === "GET"
    ? `curl '${url}'`
    : `curl -X ${method} '${url}' -H 'Content-Type: application/json' -d '${JSON.stringify(body ?? {})}'`
}

const parameters = (operation: Operation): string => {
  if (operation.parameters.length === 0) return ""
  const rows = operation.parameters.map(
    ({ name, in: place, required, schema, description }) =>
      `<li>${code(name)} <small>in ${place}${required ? "" : ", optional"}, ${typeOf(schema)}</small> ${escaped(description ?? "")}</li>`,
  )
  return `<h4>Parameters</h4><ul>${rows.join("")}</ul>`
}

const requestBody = (operation: Operation, schemas: Schemas): string => {
  const schema = operation.requestBody?.content["application/json"]?.schema
  if (schema === undefined) return ""
  return `<h4>Body</h4><p>${typeOf(schema)}</p>${pre(exampleOf(schema, schemas))}`
}

const answers = (operation: Operation, schemas: Schemas): string => {
  const rows = Object.entries(operation.responses).map(([status, { description, content }]) => {
    const [entry] = Object.entries(content ?? {})
    const schema = entry?.[1].schema
    const example = Number(status) < 400 ? exampleOf(schema, schemas) : undefined
    const type = schema === undefined ? "" : `<small>${escaped(entry?.[0] ?? "")}, ${typeOf(schema)}</small>`
    return `<dt>${status} ${type}</dt><dd>${escaped(description)}${example === undefined ? "" : pre(example)}</dd>`
  })
  return `<h4>Answers</h4><dl>${rows.join("")}</dl>`
}

const operationSection = (method: string, path: string, operation: Operation, schemas: Schemas): string => {
  const body = exampleOf(operation.requestBody?.content["application/json"]?.schema, schemas)
  return [
    `<details id="${escaped(operation.operationId)}"><summary><b>${method}</b> ${code(path)} ${escaped(operation.summary ?? "")}</summary>`,
    operation.description === undefined ? "" : `<p>${escaped(operation.description)}</p>`,
    parameters(operation),
    requestBody(operation, schemas),
    answers(operation, schemas),
    pre(curl(method, path, body)),
    "</details>",
  ].join("")
}

const group = (document: Document, tag: Document["tags"][number]): string => {
  const sections = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, operation]) => operation.tags.includes(tag.name))
      .map(([method, operation]) =>
        operationSection(method.toUpperCase(), path, operation, document.components.schemas),
      ),
  )
  return `<h2 id="${escaped(tag.name)}">${escaped(tag.name)}</h2><p>${escaped(tag.description ?? "")}</p>${sections.join("")}`
}

const schemaSection = ([name, schema]: readonly [string, JsonSchema]): string =>
  `<details id="schema-${escaped(name)}"><summary>${code(name)} ${escaped(schema.description ?? "")}</summary><p><small>${typeOf(schema)}</small></p>${fieldsOf(schema)}</details>`

/** The page's only style, so that a policy can name it by its hash. */
export const STYLE = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem 1rem 4rem}
nav a{margin-right:.8em}code,pre{font:.86em ui-monospace,monospace}pre{overflow:auto;padding:.7em;border-radius:.4em;background:#8881}
details{border-top:1px solid #8884;padding:.4em 0}summary{cursor:pointer}details[open]>summary{margin-bottom:.4em}
h4{margin:.8em 0 .2em}ul{margin:.2em 0;padding-left:1.2em}dd{margin:0 0 .6em 1.2em}small{opacity:.75}`

/** The page of a document. */
export const page = (document: Document): string => {
  const { info, tags, components } = document
  const links = [...tags.map(({ name }) => name), "Schemas"]
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width,initial-scale=1">',
    `<title>${escaped(info.title)} API</title><style>${STYLE}</style></head><body>`,
    `<h1>${escaped(info.title)} ${escaped(info.version)}</h1><p>${escaped(info.description ?? "")}</p>`,
    `<p>The same for machines: <a href="/openapi.json">openapi.json</a></p>`,
    `<nav>${links.map((name) => `<a href="#${escaped(name)}">${escaped(name)}</a>`).join("")}</nav>`,
    ...tags.map((tag) => group(document, tag)),
    `<h2 id="Schemas">Schemas</h2>${Object.entries(components.schemas).map(schemaSection).join("")}`,
    "</body></html>",
  ].join("\n")
}
