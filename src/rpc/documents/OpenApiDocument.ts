/** The interface as an OpenAPI 3.1 document, made from its definition and access rules. */
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

/** The page of error codes, as served by a node. */
export const ERRORS = "/docs/errors.md"

/** A server that a copy of the document describes. */
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

/** By operation id, the access rules that callers must know. */
const accessById = (): ReadonlyMap<string, ReadonlyArray<string>> =>
  new Map(Definition.all(Api).map((definition) => [`${definition.group}.${definition.name}`, accessOf(definition)]))

const referenced = (schema: unknown): ReadonlyArray<string> => {
  if (typeof schema !== "object" || schema === null) return []
  if ("$ref" in schema && typeof schema.$ref === "string") return [schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1)]
  return "anyOf" in schema && Array.isArray(schema.anyOf) ? schema.anyOf.flatMap(referenced) : []
}

/** A status with several codes lists them all, each with its condition. */
const describeFailures = (operation: Operation, schemas: Document["components"]["schemas"]): void => {
  for (const [status, response] of Object.entries(operation.responses)) {
    if (Number(status) < 400) continue
    const names = referenced(response.content?.["application/json"]?.schema)
    response.description = names.map((name) => `${name}: ${schemas[name]?.description ?? ""}`).join(" ")
  }
}

/** Links each failure to its remedy. */
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

/**
 * Effect titles an unnamed schema after its check, such as `maxLength(100)`, which client generators take for a name.
 */
const dropTitles = (schema: unknown): void => {
  if (typeof schema !== "object" || schema === null) return
  if ("title" in schema && typeof schema.title === "string" && !/^[A-Z]\w*$/.test(schema.title)) delete schema.title
  for (const [key, inner] of Object.entries(schema)) if (key !== "examples") dropTitles(inner)
}

/** `servers`: the addresses at which this document's node answers; defaults to the document's own. */
export const make = (version: string, servers: ReadonlyArray<Where> = []): Document => {
  // A copy, since `fromApi` caches its result.
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
