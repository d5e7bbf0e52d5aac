/**
 * A schema as plain code for valid values. The library's parser explains every mistake, and pays for that even if there
 * is none. Whatever is not certainly valid, or not supported, is left to the library, so that this can only be faster.
 */
import { SchemaAST as AST, Either, type Schema } from "effect"

/** No input can contain it. */
export const NOT_SURE: unique symbol = Symbol("not sure")

/** The decoded value, or `NOT_SURE`. */
type Read = (input: unknown) => unknown

interface Direction {
  readonly isDecoding: boolean
  readonly options: AST.ParseOptions
}

type Compiled = Read | undefined

const only =
  (holds: (input: unknown) => boolean): Read =>
  (input) =>
    holds(input) ? input : NOT_SURE

const isRecord = (input: unknown): input is Readonly<Record<PropertyKey, unknown>> =>
  typeof input === "object" && input !== null && !Array.isArray(input)

const then =
  (first: Read, second: Read): Read =>
  (input) => {
    const value = first(input)
    return value === NOT_SURE ? NOT_SURE : second(value)
  }

const filtered =
  (ast: AST.Refinement, from: Read, options: AST.ParseOptions): Read =>
  (input) => {
    const value = from(input)
    return value !== NOT_SURE && ast.filter(value, options, ast)._tag === "None" ? value : NOT_SURE
  }

const withoutFilters = (ast: AST.AST): AST.AST => (AST.isRefinement(ast) ? withoutFilters(ast.from) : ast)

const refinement = (ast: AST.Refinement, direction: Direction): Compiled => {
  if (direction.isDecoding) {
    const from = compile(ast.from, direction)
    return from && filtered(ast, from, direction.options)
  }
  const judge = compile(AST.typeAST(ast), { ...direction, isDecoding: true })
  const write = compile(withoutFilters(ast.from), direction)
  return judge && write && then(judge, write)
}

const transformation = (ast: AST.Transformation, direction: Direction): Compiled => {
  const { isDecoding, options } = direction
  const kind = ast.transformation
  if (!AST.isFinalTransformation(kind)) return undefined
  const first = compile(isDecoding ? ast.from : ast.to, direction)
  const second = compile(isDecoding ? ast.to : ast.from, direction)
  const change = isDecoding ? kind.decode : kind.encode
  const changed = (value: unknown, input: unknown): unknown => {
    const result: unknown = change(value, options, ast, input)
    return Either.isEither(result) && Either.isRight(result) ? result.right : NOT_SURE
  }
  if (first === undefined || second === undefined) return undefined
  return (input) => {
    const value = first(input)
    const other = value === NOT_SURE ? NOT_SURE : changed(value, input)
    return other === NOT_SURE ? NOT_SURE : second(other)
  }
}

interface Property {
  readonly name: PropertyKey
  readonly isOptional: boolean
  readonly read: Read
}

const record = (ast: AST.TypeLiteral, direction: Direction): Compiled => {
  if (ast.indexSignatures.length > 0) return undefined
  // As in the library, a struct without fields takes every value.
  if (ast.propertySignatures.length === 0) return only((input) => input !== null && input !== undefined)
  const properties: Array<Property> = []
  for (const { name, isOptional, type } of ast.propertySignatures) {
    const read = compile(type, direction)
    if (read === undefined) return undefined
    properties.push({ name, isOptional, read })
  }
  const refusesUnknown = direction.options.onExcessProperty === "error"
  return (input) => {
    if (!isRecord(input)) return NOT_SURE
    const output: Record<PropertyKey, unknown> = {}
    let found = 0
    for (const { name, isOptional, read } of properties) {
      // biome-ignore lint/plugin: whether a key is there does not depend on their order
      if (Object.hasOwn(input, name)) found++
      else if (isOptional) continue
      else return NOT_SURE
      const value = read(input[name])
      if (value === NOT_SURE) return NOT_SURE
      output[name] = value
    }
    // biome-ignore lint/plugin: how many keys there are does not depend on their order
    return refusesUnknown && Reflect.ownKeys(input).length !== found ? NOT_SURE : output
  }
}

const list = (ast: AST.TupleType, direction: Direction): Compiled => {
  const [rest, ...more] = ast.rest
  if (ast.elements.length > 0 || rest === undefined || more.length > 0) return undefined
  const read = compile(rest.type, direction)
  if (read === undefined) return undefined
  return (input) => {
    if (!Array.isArray(input)) return NOT_SURE
    const output: Array<unknown> = []
    for (const one of input) {
      const value = read(one)
      if (value === NOT_SURE) return NOT_SURE
      output.push(value)
    }
    return output
  }
}

/** The first matching member, as in the library; found by a distinguishing field, if there is one. */
const union = (ast: AST.Union, direction: Direction): Compiled => {
  const members: Array<Read> = []
  for (const type of ast.types) {
    const read = compile(type, direction)
    if (read === undefined) return undefined
    members.push(read)
  }
  const any: Read = (input) => {
    for (const read of members) {
      const value = read(input)
      if (value !== NOT_SURE) return value
    }
    return NOT_SURE
  }
  const tag = tagOf(ast)
  if (tag === undefined) return any
  const byTag = new Map(tag.values.map((value, i) => [value, members[i] ?? any]))
  return (input) => (isRecord(input) ? (byTag.get(input[tag.name])?.(input) ?? NOT_SURE) : NOT_SURE)
}

/** A field that every member requires, each with a different text. */
const tagOf = ({
  types,
}: AST.Union): { readonly name: PropertyKey; readonly values: ReadonlyArray<unknown> } | undefined => {
  const [first] = types
  if (first === undefined || !AST.isTypeLiteral(first)) return undefined
  for (const { name } of first.propertySignatures) {
    const values = types.map((type) => literalAt(type, name))
    if (values.every((value) => value !== undefined) && new Set(values).size === values.length) return { name, values }
  }
  return undefined
}

const literalAt = (ast: AST.AST, name: PropertyKey): string | undefined => {
  if (!AST.isTypeLiteral(ast)) return undefined
  const field = ast.propertySignatures.find((one) => one.name === name)
  if (field === undefined || field.isOptional || !AST.isLiteral(field.type)) return undefined
  return typeof field.type.literal === "string" ? field.type.literal : undefined
}

const compile = (ast: AST.AST, direction: Direction): Compiled => {
  switch (ast._tag) {
    case "StringKeyword":
      return only((input) => typeof input === "string")
    case "NumberKeyword":
      return only((input) => typeof input === "number")
    case "BooleanKeyword":
      return only((input) => typeof input === "boolean")
    case "Literal":
      return only((input) => input === ast.literal)
    case "UndefinedKeyword":
      return only((input) => input === undefined)
    case "UnknownKeyword":
    case "AnyKeyword":
      return (input) => input
    case "Refinement":
      return refinement(ast, direction)
    case "Transformation":
      return transformation(ast, direction)
    case "TypeLiteral":
      return record(ast, direction)
    case "TupleType":
      return list(ast, direction)
    case "Union":
      return union(ast, direction)
    default:
      return undefined
  }
}

type Of<A> = (input: unknown) => A | typeof NOT_SURE

const notSure = (): typeof NOT_SURE => NOT_SURE

// No type can follow from a schema's type to its AST; tests compare the results of both.

export const decoder = <A, I>(schema: Schema.Schema<A, I>, options: AST.ParseOptions): Of<A> =>
  (compile(schema.ast, { isDecoding: true, options }) as Of<A> | undefined) ?? notSure

export const encoder = <A, I>(schema: Schema.Schema<A, I>, options: AST.ParseOptions): Of<I> =>
  (compile(schema.ast, { isDecoding: false, options }) as Of<I> | undefined) ?? notSure
