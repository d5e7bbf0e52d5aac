/** Why a schema refused a value: the first mistake, worded for the sender. */
import type { ParseResult } from "effect"
import { SchemaAST as AST, Option } from "effect"

type Path = ReadonlyArray<PropertyKey>

/** `path` leads to the mistake; `expected` describes what the schema takes, as in `an integer from 0 to 9`. */
export type Complaint =
  | { readonly _tag: "Missing"; readonly path: Path; readonly expected?: string }
  /** An unknown field; `known` are the schema's fields. */
  | { readonly _tag: "Unknown"; readonly path: Path; readonly known: ReadonlyArray<string> }
  | { readonly _tag: "Wrong"; readonly path: Path; readonly expected: string; readonly actual: unknown }

const annotated = (ast: AST.Annotated): string | undefined =>
  Option.getOrUndefined(Option.orElse(AST.getDescriptionAnnotation(ast), () => AST.getIdentifierAnnotation(ast)))

/** The message of a schema, or of the schema that it refines. */
const messageOf = (ast: AST.AST): string | undefined => {
  const message = Option.getOrUndefined(AST.getMessageAnnotation(ast))
  // Our messages are constant and do not need the issue that Effect would pass.
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

/** Each member's field, if every member of the union is an object with a single field that names it. */
const tagsOf = (ast: AST.Union): ReadonlyArray<string> | undefined => {
  const tags = ast.types.map((type) => (AST.isTypeLiteral(type) ? type.propertySignatures.map(({ name }) => name) : []))
  return tags.every(({ length }) => length === 1) ? tags.flat().map(String) : undefined
}

const describeUnion = (ast: AST.Union): string => {
  const tags = tagsOf(ast)
  if (tags !== undefined) return `an object with one of the fields ${tags.join(", ")}`
  return annotated(ast) ?? ast.types.map(describe).join(" or ")
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
      return describeUnion(ast)
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

const keysOf = (path: ParseResult.Path): Path => (Array.isArray(path) ? path : [path as PropertyKey])

const issuesOf = (
  issues: ParseResult.SingleOrNonEmpty<ParseResult.ParseIssue>,
): ReadonlyArray<ParseResult.ParseIssue> => (Array.isArray(issues) ? issues : [issues as ParseResult.ParseIssue])

const wrong = (path: Path, expected: string, actual: unknown): Complaint => ({ _tag: "Wrong", path, expected, actual })

/** Whether the value does not attempt this member: it lacks the member's field, or has another one. */
const isElsewhere = (complaint: Complaint, path: Path): boolean =>
  complaint._tag !== "Wrong" && complaint.path.length === path.length + 1

/** The member that got furthest was meant. If none matched, the union itself describes what it takes. */
const ofUnion = (issue: ParseResult.Composite, path: Path): Complaint => {
  const all = issuesOf(issue.issues).map((inner) => complaintOf(inner, path, undefined))
  const isByField = AST.isUnion(issue.ast) && issue.ast.types.length > 1 && tagsOf(issue.ast) !== undefined
  const complaints = isByField ? all.filter((complaint) => !isElsewhere(complaint, path)) : all
  const furthest = complaints.reduce<Complaint | undefined>(
    (best, each) => (each.path.length > (best ?? { path }).path.length ? each : best),
    undefined,
  )
  return furthest ?? wrong(path, describe(issue.ast), issue.actual)
}

const complaintOf = (issue: ParseResult.ParseIssue, path: Path, expected: string | undefined): Complaint => {
  switch (issue._tag) {
    case "Pointer": {
      const inside = [...path, ...keysOf(issue.path)]
      const inner = issue.issue
      if (inner._tag !== "Missing") return complaintOf(inner, inside, undefined)
      const type = inner.ast instanceof AST.Type ? inner.ast.type : inner.ast
      return { _tag: "Missing", path: inside, expected: describe(type) }
    }
    case "Missing":
      return { _tag: "Missing", path }
    case "Unexpected":
      return { _tag: "Unknown", path, known: [] }
    case "Forbidden":
    case "Type":
      return wrong(path, expected ?? describe(issue.ast), issue.actual)
    case "Refinement":
      return issue.kind === "From"
        ? complaintOf(issue.issue, path, expected ?? messageOf(issue.ast))
        : wrong(path, expected ?? describe(issue.ast), issue.actual)
    case "Transformation":
      return complaintOf(issue.issue, path, expected)
    case "Composite": {
      if (AST.isUnion(issue.ast)) return ofUnion(issue, path)
      const [first] = issuesOf(issue.issues)
      if (first === undefined) return wrong(path, describe(issue.ast), undefined)
      const complaint = complaintOf(first, path, undefined)
      const isUnknown = complaint._tag === "Unknown" && complaint.known.length === 0
      return isUnknown ? { ...complaint, known: fieldsOf(issue.ast) } : complaint
    }
  }
}

export const of = (issue: ParseResult.ParseIssue): Complaint => complaintOf(issue, [], undefined)
