// `npm run client`: generates src/client/wire/Forms.ts and Interface.ts, the HTTP interface as plain data and types for
// the client, from its definition. With --check, writes nothing and fails if a file is outdated.
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { resolve } from "node:path"
import * as Definition from "../src/effect3/http/Definition.js"
import * as Outline from "../src/effect3/http/Outline.js"
import * as Parameters from "../src/protocol/numbers/Parameters.js"
import { TransactionJson } from "../src/protocol/transaction/TransactionJson.js"
import { Api } from "../src/rpc/api/Api.js"
import { Event } from "../src/rpc/api/Events.js"
import * as Failure from "../src/rpc/api/Failure.js"
import * as Types from "./client/Types.js"

const source = resolve(import.meta.dirname, "../src/client")

/** Equal forms are written once, under a name. */
const uses = new Map<string, number>()
const count = (value: unknown): void => {
  if (typeof value !== "object" || value === null) return
  const key = JSON.stringify(value)
  uses.set(key, (uses.get(key) ?? 0) + 1)
  if (uses.get(key) === 1) Object.values(value).forEach(count)
}

const names = new Map<string, string>()
const shared: Array<string> = []

const isForm = (value: object): boolean => "kind" in value

const inner = (value: object): string => {
  if (Array.isArray(value)) return `[${value.map(print).join(",")}]`
  return `{${Object.entries(value)
    .map(([name, field]) => `${/^\w+$/.test(name) ? name : JSON.stringify(name)}:${print(field)}`)
    .join(",")}}`
}

const print = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const key = JSON.stringify(value)
  if (!isForm(value) || (uses.get(key) ?? 0) < 2) return inner(value)
  const known = names.get(key)
  if (known !== undefined) return known
  const text = inner(value)
  const name = `f${names.size}`
  names.set(key, name)
  shared.push(`const ${name}: Form = ${text}\n`)
  return name
}

// `events` returns a stream, which Events.ts reads.
const endpoints = Definition.all(Api)
  .filter(({ group }) => group !== "events")
  .map((definition) => ({ ...definition, outline: Outline.ofEndpoint(definition) }))
const failures = new Map(
  Definition.failures(Failure.schema).map(({ identifier, schema }) => [identifier, Outline.of(schema)]),
)
const [event, transaction] = [Outline.of(Event), Outline.of(TransactionJson)]
for (const { outline } of endpoints) count(outline)
for (const outline of failures.values()) count(outline)
count(event)
count(transaction)

const groupTexts = [...new Set(endpoints.map(({ group }) => group))].map((group) => {
  const members = endpoints.filter((endpoint) => endpoint.group === group)
  return `  ${group}: {\n${members.map(({ name, outline }) => `    ${name}: ${print(outline)},\n`).join("")}  },\n`
})
const failureTexts = [...failures].map(([code, outline]) => `  ${code}: ${print(outline)},\n`)
const { min_fee_sats, name_fee_sats, account_fee_sats } = Parameters.toJson(Parameters.standard(1))
const [eventText, transactionText] = [print(event), print(transaction)]

const text = `/** Written by scripts/client.ts from the definition of the HTTP interface: \`npm run client\`. */
import type { Endpoint, Form } from "../../effect3/http/Outline.js"

type Named<A> = Readonly<Record<string, A>>

${shared.join("")}
/** By group and name. */
export const endpoints: Named<Named<Endpoint>> = {
${groupTexts.join("")}}

/** By the code on the wire. */
export const failures: Named<Form> = {
${failureTexts.join("")}}

export const event: Form = ${eventText}

export const transaction: Form = ${transactionText}

/** The fees of a network with standard parameters. */
export const usualPrices = { min_fee_sats: ${min_fee_sats}, name_fee_sats: ${name_fee_sats}, account_fee_sats: ${account_fee_sats} }
`

const printer = new Types.Printer()
const methods = Types.methods(printer, endpoints)
const failureTypes = [...failures.keys()].map((code) => `  | ${code}`)
for (const { schema } of Definition.failures(Failure.schema)) printer.type(Types.instanceOf(schema.ast), "given")
printer.type(Event.ast, "given")

const types = `/** Written by scripts/client.ts from the definition of the HTTP interface: \`npm run client\`. */
import type * as Kinds from "../../protocol/numbers/Kinds.js"

${printer.declarations}
/** Everything that a node answers instead of what was asked for, told apart by \`_tag\`. */
export type Failure =
${failureTypes.join("\n")}

${methods}`

const written = [
  ["wire/Forms.ts", text],
  ["wire/Interface.ts", types],
] as const
for (const [name, content] of written) {
  const path = resolve(source, name)
  if (!process.argv.includes("--check")) writeFileSync(path, content)
  else if (!existsSync(path) || readFileSync(path, "utf8") !== content) {
    console.error(`client: src/client/${name} is not what the definition says; run npm run client`)
    process.exitCode = 1
  }
}
