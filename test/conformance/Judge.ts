/**
 * Checks what holds for any response: the headers, the content type, valid JSON, and the node's own OpenAPI document,
 * which must allow this body with this status at this endpoint.
 */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import type * as OpenApiDocument from "../../src/rpc/documents/OpenApiDocument.js"
import type * as TestServer from "../rpc/TestServer.js"

export interface Question {
  readonly method: string
  /** The path as defined, `/balance/:address`; undefined for an unknown path. */
  readonly route: string | undefined
  readonly answer: TestServer.RawAnswer
}

const always: ReadonlyArray<readonly [string, RegExp]> = [
  ["access-control-allow-origin", /^\*$/],
  ["access-control-allow-methods", /^GET, HEAD, POST, OPTIONS$/],
  ["access-control-allow-headers", /^Content-Type, Last-Event-ID, Traceparent, Tracestate, Udg-Commit$/],
  ["access-control-expose-headers", /Retry-After.*RateLimit.*Allow/],
  ["x-content-type-options", /^nosniff$/],
  ["cache-control", /^no-store$/],
]

const aboutHeaders = ({ method, answer: { headers, status } }: Question): ReadonlyArray<string> => [
  ...always.flatMap(([name, pattern]) =>
    pattern.test(headers.get(name) ?? "") ? [] : [`${name}: ${headers.get(name) ?? "missing"}`],
  ),
  ...((headers.get("access-control-max-age") === "3600") === (method === "OPTIONS")
    ? []
    : [`access-control-max-age at ${method}: ${headers.get("access-control-max-age") ?? "missing"}`]),
  ...((status === 429 || status === 503) === /^\d+$/.test(headers.get("retry-after") ?? "")
    ? []
    : [`retry-after at ${status}: ${headers.get("retry-after") ?? "missing"}`]),
  ...((status === 405) === headers.has("allow") || method === "OPTIONS" ? [] : [`allow at ${status}`]),
]

const isJson = ({ headers }: TestServer.RawAnswer): boolean => headers.get("content-type") === "application/json"

/** `/balance/:address` in OpenAPI's notation. */
const templateOf = (route: string): string => route.replace(/:(\w+)/g, "{$1}")

export class Judge {
  readonly #document: OpenApiDocument.Document
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false })
  readonly #validators = new Map<string, ValidateFunction>()

  constructor(document: OpenApiDocument.Document) {
    this.#document = document
    this.#ajv.addSchema({ $id: "udg", components: document.components })
  }

  #schemaOf(route: string, { method, answer: { status } }: Question): object | undefined {
    const operations = Object.entries(this.#document.paths).find(([path]) => path === templateOf(route))?.[1]
    const operation = Object.entries(operations ?? {}).find(([name]) => name === method.toLowerCase())?.[1]
    const response = Object.entries(operation?.responses ?? {}).find(([key]) => key === String(status))?.[1]
    return response?.content?.["application/json"]?.schema
  }

  #validator(key: string, schema: object): ValidateFunction {
    const known = this.#validators.get(key)
    if (known !== undefined) return known
    const absolute: object = JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"udg#/components'))
    const validator = this.#ajv.compile(absolute)
    this.#validators.set(key, validator)
    return validator
  }

  #aboutBody(question: Question): ReadonlyArray<string> {
    const { method, route, answer } = question
    if (method === "OPTIONS" || method === "HEAD") return answer.body === "" ? [] : [`a body at ${method}`]
    if (!isJson(answer)) return answer.status < 400 ? [] : [`a refusal as ${answer.headers.get("content-type")}`]
    // The document describes endpoints only, not how other requests are refused.
    if (route === undefined || answer.status === 405) return []
    const key = `${method} ${route} ${answer.status}`
    const schema = this.#schemaOf(route, question)
    if (schema === undefined) return [`${key} is not in the document: ${answer.body.slice(0, 200)}`]
    const validate = this.#validator(key, schema)
    return validate(JSON.parse(answer.body))
      ? []
      : [`${key}: ${this.#ajv.errorsText(validate.errors)} in ${answer.body}`]
  }

  complaints(question: Question): ReadonlyArray<string> {
    return [...aboutHeaders(question), ...this.#aboutBody(question)]
  }
}
