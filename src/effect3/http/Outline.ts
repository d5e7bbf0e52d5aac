/**
 * An HTTP interface's definition as plain data: what each endpoint takes and answers, without Effect. The client uses
 * it to read and check JSON in programs without schemas.
 */
import { SchemaAST as AST, Option, type Schema } from "effect"
import type { AnySchema, Definition } from "./Definition.js"

/** The required form of JSON, and what it is decoded to. `expected` describes it to people. */
export type Form =
  /** Bytes are hexadecimal on the wire. A secret is a key's text, inside an object that never prints. */
  | { readonly kind: "string" | "number" | "boolean" | "unknown" | "bytes" | "secret" }
  | { readonly kind: "literal"; readonly values: ReadonlyArray<string | number | boolean | null> }
  /** Accepted in either case, stored in lower case. */
  | { readonly kind: "hex"; readonly bytes: number; readonly expected: string }
  | { readonly kind: "pattern"; readonly pattern: string; readonly expected: string }
  /** Well-formed Unicode. `min` and `max` count UTF-8 bytes. */
  | { readonly kind: "text"; readonly min: number; readonly max: number; readonly expected: string }
  | { readonly kind: "integer"; readonly min: number; readonly max: number; readonly expected: string }
  | { readonly kind: "list"; readonly of: Form; readonly min?: number; readonly max?: number }
  | {
      readonly kind: "record"
      readonly fields: Readonly<Record<string, Form>>
      /** Names of optional fields. */
      readonly optional?: ReadonlyArray<string>
      /** Other fields are kept as they are. */
      readonly isOpen?: true
    }
  | { readonly kind: "nothing"; readonly expected: string }
  | { readonly kind: "union"; readonly of: ReadonlyArray<Form> }

export interface Endpoint {
  readonly method: string
  readonly path: string
  readonly params?: Form
  readonly query?: Form
  readonly body?: Form
  /** None for a text answer. */
  readonly answer?: Form
}

/** An annotation's JSON Schema, as far as forms distinguish it. */
interface Rules {
  readonly type?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly maxProperties?: number
}

const rulesOf = (ast: AST.Refinement): Rules => Option.getOrElse(AST.getJSONSchemaAnnotation(ast), () => ({}))

const expectedOf = (ast: AST.Annotated): string => {
  const message = Option.getOrUndefined(AST.getMessageAnnotation(ast))
  // Our messages are constant and do not need the issue that Effect would pass.
  const text = message === undefined ? undefined : (message as () => unknown)()
  return typeof text === "string" ? text : Option.getOrElse(AST.getDescriptionAnnotation(ast), () => "another value")
}

const nameOf = (ast: AST.Annotated): string | undefined => Option.getOrUndefined(AST.getIdentifierAnnotation(ast))

const HEX = /^\^\[0-9a-fA-F\]\{(\d+)\}\$$/

const unknownForm = (ast: AST.AST): never => {
  throw new TypeError(`the client has no form for ${ast}`)
}

const refinement = (ast: AST.Refinement): Form => {
  if (nameOf(ast) === "SecretKey") return { kind: "secret" }
  // Only the node knows its network's prefix and names, so it reports invalid accounts.
  if (nameOf(ast) === "AccountText") return { kind: "text", min: 1, max: 100, expected: expectedOf(ast) }
  const { type, pattern, minimum, maximum, minLength, maxLength, minItems, maxItems, maxProperties } = rulesOf(ast)
  const expected = expectedOf(ast)
  const digits = pattern === undefined ? null : HEX.exec(pattern)
  if (digits !== null) return { kind: "hex", bytes: Number(digits[1]) / 2, expected }
  if (pattern !== undefined) return { kind: "pattern", pattern, expected }
  if (maxProperties === 0) return { kind: "nothing", expected }
  if (type === "integer" && minimum !== undefined && maximum !== undefined) {
    return { kind: "integer", min: minimum, max: maximum, expected }
  }
  if (maxLength !== undefined) return { kind: "text", min: minLength ?? 0, max: maxLength, expected }
  const from = form(ast.from)
  if (from.kind !== "list") return from
  return {
    ...from,
    ...(minItems === undefined ? {} : { min: minItems }),
    ...(maxItems === undefined ? {} : { max: maxItems }),
  }
}

const record = ({ propertySignatures, indexSignatures }: AST.TypeLiteral): Form => {
  const optional = propertySignatures.flatMap(({ name, isOptional }) => (isOptional ? [String(name)] : []))
  return {
    kind: "record",
    fields: Object.fromEntries(propertySignatures.map(({ name, type }) => [String(name), form(type)])),
    ...(optional.length === 0 ? {} : { optional }),
    ...(indexSignatures.length === 0 ? {} : { isOpen: true }),
  }
}

const union = (ast: AST.Union): Form => {
  // Optional fields can be undefined for Effect; JSON has no such value.
  const types = ast.types.filter((type) => !AST.isUndefinedKeyword(type))
  const members = types.map(form).flatMap((member) => (member.kind === "union" ? member.of : [member]))
  const [only] = members
  if (only !== undefined && members.length === 1) return only
  const values = members.map((member) => (member.kind === "literal" ? member.values : undefined))
  return values.every((each) => each !== undefined)
    ? { kind: "literal", values: values.flat() }
    : { kind: "union", of: members }
}

const form = (ast: AST.AST): Form => {
  switch (ast._tag) {
    case "StringKeyword":
      return { kind: "string" }
    case "NumberKeyword":
      return { kind: "number" }
    case "BooleanKeyword":
      return { kind: "boolean" }
    case "UnknownKeyword":
      return { kind: "unknown" }
    case "Literal":
      return typeof ast.literal === "bigint" ? unknownForm(ast) : { kind: "literal", values: [ast.literal] }
    case "Refinement":
      return refinement(ast)
    case "Transformation":
      // The form on the wire. Only hexadecimal, bytes and secrets decode to something else.
      return nameOf(ast.to) === "Uint8ArrayFromHex" ? { kind: "bytes" } : form(ast.from)
    case "TypeLiteral":
      return record(ast)
    case "TupleType":
      return ast.rest[0] === undefined ? unknownForm(ast) : { kind: "list", of: form(ast.rest[0].type) }
    case "Union":
      return union(ast)
    default:
      return unknownForm(ast)
  }
}

const isNumberInText = (ast: AST.AST): ast is AST.Transformation =>
  AST.isTransformation(ast) && AST.isRefinement(ast.from) && rulesOf(ast.from).type === "integer"

/** A number in a URL is a number for people and its digits on the wire. */
const urlField = (ast: AST.AST): Form => (isNumberInText(ast) ? form(ast.to) : form(ast))

const urlForm = (schema: AnySchema): Form => {
  const { ast } = schema
  if (!AST.isTypeLiteral(ast)) return unknownForm(ast)
  const outline = record(ast)
  if (outline.kind !== "record") return outline
  const fields = ast.propertySignatures.map(({ name, type }) => [String(name), urlField(type)] as const)
  return { ...outline, fields: Object.fromEntries(fields) }
}

/** A value's form on the wire. */
export const of = (schema: Schema.Schema.All): Form => form(schema.ast)

export const ofEndpoint = ({ method, path, params, query, body, success }: Definition): Endpoint => ({
  method,
  path,
  ...(params === undefined ? {} : { params: urlForm(params) }),
  ...(query === undefined ? {} : { query: urlForm(query) }),
  ...(body === undefined ? {} : { body: of(body) }),
  ...(success.isText ? {} : { answer: of(success.schema) }),
})
