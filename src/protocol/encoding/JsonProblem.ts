/**
 * What stands against a JSON input, in one line for the person who sent it: which field, what was expected, what came.
 * Nothing long and nothing secret is repeated.
 */
import type { ParseResult } from "effect"
import { SchemaAST as AST, Option } from "effect"

/** `field` is the path to what is wrong, as one would write it in JavaScript. */
export interface JsonProblem {
  readonly field: string
  readonly reason: string
}

const LONGEST_SHOWN = 40
const LONGEST_PATH = 200
const SECRET = /secret|private|seed|password/i
const WORD = /^[\w-]{1,40}$/

interface Complaint {
  readonly path: ReadonlyArray<PropertyKey>
  /** A whole clause: `an integer from 0 to 9 expected, got "5"`. */
  readonly text: string
}

const name = (key: PropertyKey): string => {
  const text = String(key)
  return WORD.test(text) ? text : "(a long or unprintable name)"
}

/** The path as text; `whole` where it is empty. */
const show = (path: ReadonlyArray<PropertyKey>, whole: string): string => {
  const text = path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`
    return text === "" ? name(key) : `${text}.${name(key)}`
  }, "")
  return (text.length > LONGEST_PATH ? `${text.slice(0, LONGEST_PATH)}…` : text) || whole
}

const isSecret = (path: ReadonlyArray<PropertyKey>): boolean => path.some((key) => SECRET.test(String(key)))

const got = (path: ReadonlyArray<PropertyKey>, actual: unknown): string => {
  if (isSecret(path)) return ""
  if (actual === undefined) return ""
  if (Array.isArray(actual)) return ", got an array"
  if (typeof actual === "string") {
    return actual.length > LONGEST_SHOWN ? `, got ${actual.length} characters` : `, got ${JSON.stringify(actual)}`
  }
  return typeof actual === "object" && actual !== null ? ", got an object" : `, got ${String(actual)}`
}

/** A problem of the text itself, before any schema looked at it. */
export const at = (path: ReadonlyArray<PropertyKey>, whole: string, reason: string): JsonProblem => ({
  field: show(path, whole),
  reason,
})

/** A number as it was written, which no longer shows once it is parsed. */
export const atNumber = (
  path: ReadonlyArray<PropertyKey>,
  whole: string,
  expected: string,
  token: string,
): JsonProblem => {
  const came = token.length > LONGEST_SHOWN ? `a number of ${token.length} characters` : token
  return at(path, whole, `${expected} expected${isSecret(path) ? "" : `, got ${came}`}`)
}

const annotated = (ast: AST.Annotated): string | undefined =>
  Option.getOrUndefined(Option.orElse(AST.getDescriptionAnnotation(ast), () => AST.getIdentifierAnnotation(ast)))

/** The message that a schema carries for people, its own or the one of what it refines. */
const messageOf = (ast: AST.AST): string | undefined => {
  const message = Option.getOrUndefined(AST.getMessageAnnotation(ast))
  // Our messages are constant texts; the issue that Effect would pass is not needed to make them.
  if (message !== undefined) {
    const text = (message as () => unknown)()
    if (typeof text === "string") return text
  }
  if (AST.isRefinement(ast)) return messageOf(ast.from)
  return AST.isTransformation(ast) ? messageOf(ast.from) : undefined
}

const literalsOf = (ast: AST.AST): ReadonlyArray<string> | undefined => {
  if (AST.isLiteral(ast)) return [JSON.stringify(ast.literal)]
  if (!AST.isUnion(ast)) return undefined
  const members = ast.types.map(literalsOf)
  return members.every((member) => member !== undefined) ? members.flatMap((member) => member ?? []) : undefined
}

/** What a schema takes, in a few words. */
const describe = (ast: AST.AST): string => {
  const message = messageOf(ast)
  if (message !== undefined) return message
  const literals = literalsOf(ast)
  if (literals !== undefined) return literals.length === 1 ? `${literals[0]}` : `one of ${literals.join(", ")}`
  switch (ast._tag) {
    case "StringKeyword":
      return "a string"
    case "NumberKeyword":
      return "a number"
    case "BooleanKeyword":
      return "true or false"
    case "TupleType":
      return "an array"
    case "TypeLiteral":
      return "an object"
    case "Union":
      return annotated(ast) ?? ast.types.map(describe).join(" or ")
    case "Transformation":
    case "Refinement":
      return describe(ast.from)
    default:
      return annotated(ast) ?? "another value"
  }
}

const fieldsOf = (ast: AST.AST): ReadonlyArray<string> => {
  if (AST.isTypeLiteral(ast)) return ast.propertySignatures.map((signature) => String(signature.name))
  return AST.isTransformation(ast) || AST.isRefinement(ast) ? fieldsOf(ast.from) : []
}

const keysOf = (path: ParseResult.Path): ReadonlyArray<PropertyKey> =>
  Array.isArray(path) ? path : [path as PropertyKey]

const issuesOf = (
  issues: ParseResult.SingleOrNonEmpty<ParseResult.ParseIssue>,
): ReadonlyArray<ParseResult.ParseIssue> => (Array.isArray(issues) ? issues : [issues as ParseResult.ParseIssue])

/**
 * In a union every member has its own complaint. The one that got furthest into the input is the member that was
 * meant; where none got in, the union itself says what it takes.
 */
const ofUnion = (issue: ParseResult.Composite, path: ReadonlyArray<PropertyKey>): Complaint => {
  const complaints = issuesOf(issue.issues).map((inner) => complaintOf(inner, path, undefined))
  const furthest = complaints.reduce<Complaint | undefined>(
    (best, each) => (each.path.length > (best ?? { path }).path.length ? each : best),
    undefined,
  )
  return furthest ?? { path, text: `${describe(issue.ast)} expected${got(path, issue.actual)}` }
}

const complaintOf = (
  issue: ParseResult.ParseIssue,
  path: ReadonlyArray<PropertyKey>,
  expected: string | undefined,
): Complaint => {
  switch (issue._tag) {
    case "Pointer": {
      const inside = [...path, ...keysOf(issue.path)]
      const inner = issue.issue
      if (inner._tag === "Missing") {
        const type = inner.ast instanceof AST.Type ? inner.ast.type : inner.ast
        return { path: inside, text: `missing, ${describe(type)} expected` }
      }
      return complaintOf(inner, inside, undefined)
    }
    case "Missing":
      return { path, text: "missing" }
    case "Unexpected":
      return { path, text: "no such field" }
    case "Forbidden":
    case "Type":
      return { path, text: `${expected ?? describe(issue.ast)} expected${got(path, issue.actual)}` }
    case "Refinement":
      return issue.kind === "From"
        ? complaintOf(issue.issue, path, expected ?? messageOf(issue.ast))
        : { path, text: `${expected ?? describe(issue.ast)} expected${got(path, issue.actual)}` }
    case "Transformation":
      return complaintOf(issue.issue, path, expected)
    case "Composite": {
      if (AST.isUnion(issue.ast)) return ofUnion(issue, path)
      const [first] = issuesOf(issue.issues)
      if (first === undefined) return { path, text: `${describe(issue.ast)} expected` }
      const complaint = complaintOf(first, path, undefined)
      const known = complaint.text === "no such field" ? fieldsOf(issue.ast) : []
      return known.length === 0 ? complaint : { ...complaint, text: `no such field; known are ${known.join(", ")}` }
    }
  }
}

/** What a schema found; `whole` names the input where no field of it is to blame. */
export const fromIssue = (issue: ParseResult.ParseIssue, whole: string): JsonProblem => {
  const { path, text } = complaintOf(issue, [], undefined)
  return at(path, whole, text)
}
