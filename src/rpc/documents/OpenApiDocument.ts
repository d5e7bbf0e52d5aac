/** The interface as an OpenAPI 3.1 document, made from its definition and its access rules. */
import { OpenApi } from "@effect/platform"
import * as Rules from "../../edge/definition/Rules.js"
import * as Definition from "../../effect3/http/Definition.js"
import * as Words from "../../protocol/numbers/Words.js"
import * as Access from "../api/Access.js"
import { Api } from "../api/Api.js"
import * as Failure from "../api/Failure.js"
import * as ForGenerators from "./ForGenerators.js"

export type Document = OpenApi.OpenAPISpec

type Operation = OpenApi.OpenAPISpecOperation

/** The page of error codes, as a node serves it. */
export const ERRORS = "/docs/errors.md"

/** Where a copy of the document describes a server. */
export interface Where {
  readonly url: string
  readonly description: string
}

const accessOf = ({ annotation }: Definition.Definition): ReadonlyArray<string> => {
  const limit = annotation(Rules.RateLimit)
  const instead = annotation(Access.TestnetOnly)
  return [
    ...(limit
      ? [`At most ${Words.counted(limit.requests, "request")} in ${limit.windowSeconds} seconds from one client.`]
      : []),
    ...(instead === undefined ? [] : [`Answered with 410 on a mainnet: ${instead}.`]),
  ]
}

/** Ids of the operations with what a caller must know about access. */
const accessById = (): ReadonlyMap<string, ReadonlyArray<string>> =>
  new Map(Definition.all(Api).map((definition) => [`${definition.group}.${definition.name}`, accessOf(definition)]))

const referenced = (schema: unknown): ReadonlyArray<string> => {
  if (typeof schema !== "object" || schema === null) return []
  if ("$ref" in schema && typeof schema.$ref === "string") return [schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1)]
  return "anyOf" in schema && Array.isArray(schema.anyOf) ? schema.anyOf.flatMap(referenced) : []
}

/** A status with several codes names them all, each with when it is answered. */
const describeFailures = (operation: Operation, schemas: Document["components"]["schemas"]): void => {
  for (const [status, response] of Object.entries(operation.responses)) {
    if (Number(status) < 400) continue
    const names = referenced(response.content?.["application/json"]?.schema)
    response.description = names.map((name) => `${name}: ${schemas[name]?.description ?? ""}`).join(" ")
  }
}

/** Leads from each failure to what its reader can do about it. */
const linkFailures = (schemas: Document["components"]["schemas"]): void => {
  for (const { identifier } of Definition.failures(Failure.schema)) {
    Object.assign(schemas[identifier] ?? {}, { externalDocs: { url: `${ERRORS}#${identifier.toLowerCase()}` } })
  }
}

const describeParameters = (operation: Operation, schemas: Document["components"]["schemas"]): void => {
  for (const parameter of operation.parameters) {
    const [name] = referenced(parameter.schema)
    const description = name === undefined ? parameter.schema.description : schemas[name]?.description
    if (parameter.description === undefined && description !== undefined) parameter.description = description
  }
}

/** Effect titles a schema that has no name after its check, `maxLength(100)`. Generators of clients take a title for a name. */
const dropTitles = (schema: unknown): void => {
  if (typeof schema !== "object" || schema === null) return
  if ("title" in schema && typeof schema.title === "string" && !/^[A-Z]\w*$/.test(schema.title)) delete schema.title
  for (const [key, inner] of Object.entries(schema)) if (key !== "examples") dropTitles(inner)
}

/** `servers` are the addresses under which this document's node answers; without one it is the document's own. */
export const make = (version: string, servers: ReadonlyArray<Where> = []): Document => {
  // `fromApi` keeps what it made for the next caller, so the additions go into a copy.
  const document = structuredClone(OpenApi.fromApi(Api))
  const access = accessById()
  const { schemas } = document.components
  dropTitles(schemas)
  linkFailures(schemas)
  for (const item of Object.values(document.paths)) {
    for (const operation of Object.values(item)) {
      const words = [operation.description, ...(access.get(operation.operationId) ?? [])]
      const description = words.filter((word) => word !== undefined).join(" ")
      if (description !== "") operation.description = description
      describeFailures(operation, schemas)
      describeParameters(operation, schemas)
      dropTitles(operation)
    }
  }
  ForGenerators.shape(document)
  return {
    ...document,
    info: { ...document.info, version },
    servers: servers.length === 0 ? [{ url: "/", description: "this node" }] : servers.map((where) => ({ ...where })),
  }
}
