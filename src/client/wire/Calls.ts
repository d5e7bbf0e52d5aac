/** Turns a method's arguments into a request, and the answer into a value or a typed failure. */
import { Option } from "effect"
import type { Endpoint, Form } from "../../effect3/http/Outline.js"
import * as JsonProblem from "../../protocol/encoding/JsonProblem.js"
import * as Keys from "../../protocol/identity/Keys.js"
import type { Answer, Request } from "./Exchange.js"
import { InvalidInput, RequestRefused, UnexpectedAnswer } from "./Failures.js"
import * as Forms from "./Forms.js"
import type { Failure } from "./Interface.js"
import * as Reader from "./Reader.js"

const keyOf = (value: unknown): Keys.SecretKey | undefined =>
  typeof value === "string" ? Option.getOrUndefined(Keys.SecretKey.fromHex(value)) : undefined

const sending: Reader.Manner = {
  unknownFields: "error",
  secret: (value) => (Keys.SecretKey.isSecretKey(value) ? value : keyOf(value))?.toSecretHex(),
}

/** Later nodes may send fields that this client does not know. */
const receiving: Reader.Manner = { unknownFields: "ignore", secret: keyOf }

/** A value for the node. Fails naming the first field that the node would refuse. */
export const input = (form: Form, value: unknown, whole: string): unknown => {
  const reading = Reader.by(form, value, sending)
  if ("value" in reading) return reading.value
  throw new InvalidInput(JsonProblem.message(JsonProblem.ofComplaint(reading.complaint, whole)))
}

/** A value from the node. */
export const output = (form: Form, value: unknown, status: number): unknown => {
  const reading = Reader.by(form, value, receiving)
  if ("value" in reading) return reading.value
  throw new UnexpectedAnswer(status, JsonProblem.message(JsonProblem.ofComplaint(reading.complaint, "answer")))
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

const fieldsOf = (form: Form | undefined, value: unknown, whole: string): Readonly<Record<string, unknown>> => {
  const fields = form === undefined ? {} : input(form, value ?? {}, whole)
  return isFields(fields) ? fields : {}
}

/** The arguments of any method; its own type allows only those of the endpoint. */
export interface Arguments {
  readonly path?: unknown
  readonly urlParams?: unknown
  readonly payload?: unknown
}

export const request = (base: string, { method, path, params, query, body }: Endpoint, given: Arguments): Request => {
  const names = fieldsOf(params, given.path, "path")
  const place = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(names[name])))
  const search = new URLSearchParams(
    Object.entries(fieldsOf(query, given.urlParams, "urlParams")).map(([name, value]) => [name, String(value)]),
  )
  const url = `${base}${place}${search.size === 0 ? "" : `?${search}`}`
  return { method, url, ...(body && { body: JSON.stringify(input(body, given.payload, "payload")) }) }
}

const LONGEST_SHOWN = 100

const parsed = ({ status, text }: Answer): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw new UnexpectedAnswer(status, `not JSON: ${JSON.stringify(text.slice(0, LONGEST_SHOWN))}`)
  }
}

/** For fields that a form has read: the forms and this type come from the same definition. */
const isFailure = (fields: { readonly _tag?: unknown }): fields is Failure =>
  typeof fields._tag === "string" && Object.hasOwn(Forms.failures, fields._tag)

/** The refusal in an answer that is not the endpoint's. */
const refusal = (answer: Answer): RequestRefused => {
  const json = parsed(answer)
  const code = isFields(json) ? json["code"] : undefined
  const form = typeof code === "string" && Object.hasOwn(Forms.failures, code) ? Forms.failures[code] : undefined
  const fields = form && output(form, json, answer.status)
  const { code: _tag, error: message, ...more } = isFields(fields) ? fields : {}
  const failure = { _tag, message, ...more }
  if (!isFailure(failure)) throw new UnexpectedAnswer(answer.status, "an error with no code, or an unknown one")
  return new RequestRefused(failure)
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300

export const answer = ({ answer: form }: Endpoint, received: Answer): unknown => {
  if (!isSuccess(received.status)) throw refusal(received)
  return form === undefined ? received.text : output(form, parsed(received), received.status)
}

/** Fails with the reason of a refusal, where a stream was requested. */
export const refused = (received: Answer): never => {
  throw isSuccess(received.status) ? new UnexpectedAnswer(received.status, "not a stream") : refusal(received)
}
