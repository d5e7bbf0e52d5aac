/**
 * The API reference as one HTML page made from the OpenAPI document. It fetches nothing, not even a font, so it works
 * behind any firewall and under the strictest policy. Its script only adds features.
 */
import * as Field from "../api/Field.js"
import type { Document } from "./OpenApiDocument.js"
import { SCRIPT } from "./ReferenceScript.js"
import { STYLE } from "./ReferenceStyle.js"
import { documentedAt, itemsOf, type JsonSchema, membersOf, referenceOf, typesOf, valuesOf } from "./SchemaParts.js"

/** The explorer's. */
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Cg stroke='%2316837a' stroke-width='2.4'%3E%3Cpath d='M7 8 25 16M7 24 25 16M7 8v16'/%3E%3C/g%3E%3Cg fill='%2316837a'%3E%3Ccircle cx='7' cy='8' r='4'/%3E%3Ccircle cx='7' cy='24' r='4'/%3E%3Ccircle cx='25' cy='16' r='5.5'/%3E%3C/g%3E%3C/svg%3E"

type Schemas = Document["components"]["schemas"]
type Item = Document["paths"][string]
type Operation = NonNullable<Item["get"]>

/** The part of a page for trying an operation. */
type Attempt = (method: string, path: string, operation: Operation, schemas: Schemas) => string

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

const code = (text: string): string => `<code>${escaped(text)}</code>`

/** Prose in which backquotes mark code. */
const prose = (text: string): string => escaped(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>")

const anchor = (name: string): string => `<a href="#schema-${escaped(name)}">${escaped(name)}</a>`

/** A schema's type in a few words. */
const typeOf = (schema: JsonSchema): string => {
  const reference = referenceOf(schema)
  if (reference !== undefined) return anchor(reference)
  const members = membersOf(schema)
  if (members !== undefined) return members.map(typeOf).join(" or ")
  const values = valuesOf(schema)
  if (values !== undefined) return values.map((value) => code(JSON.stringify(value))).join(" or ")
  const items = itemsOf(schema)
  if (items !== undefined) return `array of ${typeOf(items)}`
  const types = typesOf(schema)
  return types.length === 0 ? "any" : types.map(escaped).join(" or ")
}

const fieldsOf = (schema: JsonSchema, level = 0): string => {
  if (level > 4) return ""
  if ("properties" in schema && referenceOf(schema) === undefined) {
    const { required, properties } = schema
    const rows = Object.entries(properties).map(([name, field]) => {
      const optional = required.includes(name) ? "" : " <em>optional</em>"
      return `<li>${code(name)}${optional} <small>${typeOf(field)}</small> ${prose(field.description ?? "")}${fieldsOf(field, level + 1)}</li>`
    })
    return rows.length === 0 ? "" : `<ul>${rows.join("")}</ul>`
  }
  const items = itemsOf(schema)
  if (items !== undefined) return fieldsOf(items, level + 1)
  return (membersOf(schema) ?? []).map((member) => fieldsOf(member, level + 1)).join("")
}

const exampleOf = (schema: JsonSchema | undefined, schemas: Schemas): unknown => {
  if (schema === undefined) return undefined
  const reference = referenceOf(schema)
  const target = reference === undefined ? schema : schemas[reference]
  if (target === undefined) return undefined
  if (target.examples?.[0] !== undefined) return target.examples[0]
  return membersOf(target)
    ?.map((member) => exampleOf(member, schemas))
    .find((found) => found !== undefined)
}

const pre = (value: unknown): string =>
  value === undefined
    ? ""
    : `<pre tabindex="0">${escaped(typeof value === "string" ? value : JSON.stringify(value, null, 2))}</pre>`

/** The initial value of a parameter with this name, until the script finds a better one. */
const EXAMPLES: Readonly<Record<string, string>> = {
  address: Field.example.address,
  hash: Field.example.hash,
  round: "1",
  epoch: "1",
  id: "1",
  addresses: Field.example.address,
}

const input = ({ name, in: place, required }: Operation["parameters"][number]): string => {
  const value = required ? (EXAMPLES[name] ?? "") : ""
  return `<label>${code(name)} <input name="${escaped(name)}" data-in="${place}" value="${escaped(value)}" spellcheck="false"></label>`
}

const isStream = ({ responses }: Operation): boolean =>
  Object.values(responses).some(({ content }) => content !== undefined && "text/event-stream" in content)

const bodyOf = (operation: Operation, schemas: Schemas): string | undefined => {
  const schema = operation.requestBody?.content["application/json"]?.schema
  return schema === undefined ? undefined : JSON.stringify(exampleOf(schema, schemas) ?? {}, null, 2)
}

const curl = (method: string, path: string, body: string | undefined): string => {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => EXAMPLES[name] ?? "1")
  const rest = body === undefined ? "" : ` -X ${method} -H 'Content-Type: application/json' -d '${body}'`
  return `<pre class="curl" tabindex="0">${escaped(`curl 'http://127.0.0.1:10333${filled}'${rest}`)}</pre>`
}

const call: Attempt = (method, path, operation, schemas) =>
  `<h4>With curl</h4>${curl(method, path, bodyOf(operation, schemas))}`

/** The same call for a terminal and from the page. */
const attempt: Attempt = (method, path, operation, schemas) => {
  const body = bodyOf(operation, schemas)
  return [
    `<h4>Try it</h4><div class="try" data-method="${method}" data-path="${escaped(path)}">`,
    ...operation.parameters.map(input),
    body === undefined ? "" : `<label>body <textarea rows="6" spellcheck="false">${escaped(body)}</textarea></label>`,
    isStream(operation) ? "" : '<button type="button" hidden>Send to this node</button>',
    `${curl(method, path, body)}<pre class="answer" tabindex="0" role="status" hidden></pre></div>`,
  ].join("")
}

const parameters = (operation: Operation): string => {
  if (operation.parameters.length === 0) return ""
  const rows = operation.parameters.map(
    ({ name, in: place, required, schema, description }) =>
      `<li>${code(name)} <small>in ${place}${required ? "" : ", optional"}, ${typeOf(schema)}</small> ${prose(description ?? "")}</li>`,
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
    // The link explains the code, so it is not explained here.
    if (schema !== undefined && Number(status) >= 400) return `<dt>${status}</dt><dd>${typeOf(schema)}</dd>`
    const example = exampleOf(schema, schemas)
    const type = schema === undefined ? "" : `<small>${escaped(entry?.[0] ?? "")}, ${typeOf(schema)}</small>`
    return `<dt>${status} ${type}</dt><dd>${prose(description)}${example === undefined ? "" : pre(example)}</dd>`
  })
  return `<h4>Answers</h4><dl>${rows.join("")}</dl>`
}

const operationSection = (
  method: string,
  path: string,
  operation: Operation,
  schemas: Schemas,
  attempt: Attempt,
): string => {
  return [
    `<details id="${escaped(operation.operationId)}"><summary><b>${method}</b> ${code(path)} ${prose(operation.summary ?? "")}</summary>`,
    operation.description === undefined ? "" : `<p>${prose(operation.description)}</p>`,
    parameters(operation),
    requestBody(operation, schemas),
    answers(operation, schemas),
    attempt(method, path, operation, schemas),
    "</details>",
  ].join("")
}

const group = (document: Document, tag: Document["tags"][number], attempt: Attempt): string => {
  const sections = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, operation]) => operation.tags.includes(tag.name))
      .map(([method, operation]) =>
        operationSection(method.toUpperCase(), path, operation, document.components.schemas, attempt),
      ),
  )
  return `<h2 id="${escaped(tag.name)}">${escaped(tag.name)}</h2><p class="about">${prose(tag.description ?? "")}</p>${sections.join("")}`
}

const schemaSection = ([name, schema]: readonly [string, JsonSchema]): string => {
  const more = documentedAt(schema)
  const link = more === undefined ? "" : `<p><a href="${escaped(more)}">What to do</a></p>`
  return `<details id="schema-${escaped(name)}"><summary>${code(name)} ${prose(schema.description ?? "")}</summary><p><small>${typeOf(schema)}</small></p>${fieldsOf(schema)}${link}</details>`
}

const body = (document: Document, attempt: Attempt): string => {
  const { tags, components } = document
  const links = [...tags.map(({ name }) => name), "Schemas"]
  return [
    `<nav class="parts" aria-label="Parts">${links.map((name) => `<a href="#${escaped(name)}">${escaped(name)}</a>`).join("")}</nav>`,
    ...tags.map((tag) => group(document, tag, attempt)),
    `<h2 id="Schemas">Schemas</h2>${Object.entries(components.schemas).map(schemaSection).join("")}`,
  ].join("\n")
}

/** The operations and schemas without a surrounding page and without a node to call. */
export const content = (document: Document): string => body(document, call)

export const page = (document: Document): string => {
  const { info } = document
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width,initial-scale=1">',
    `<title>${escaped(info.title)} API</title><link rel="icon" href="${ICON}"><style>${STYLE}</style></head><body>`,
    '<header><a href="/explorer/">← Explorer</a>',
    '<input id="search" type="search" placeholder="Search the reference…" aria-label="Search the reference" hidden>',
    '<a href="/openapi.json">OpenAPI</a></header><main>',
    `<h1>${escaped(info.title)} API <small>${escaped(info.version)}</small></h1><p class="about">${prose(info.description ?? "")}</p>`,
    body(document, attempt),
    `</main><script>${SCRIPT}</script></body></html>`,
  ].join("\n")
}
