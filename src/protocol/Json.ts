/** Reading JSON by its schema: the value, or the one field that is wrong and what was expected of it. */
import { Either, ParseResult, Schema } from "effect"

/** `field` is the path to what is wrong, as one would write it in JavaScript. */
export interface Problem {
  readonly field: string
  readonly reason: string
}

const pathOf = (segments: ReadonlyArray<PropertyKey>, whole: string): string =>
  segments.reduce<string>((path, segment) => {
    if (typeof segment === "number") return `${path}[${segment}]`
    return path === "" ? String(segment) : `${path}.${String(segment)}`
  }, "") || whole

/**
 * Where a union of objects fails, every member has its own complaint; the deepest one comes from the member that the
 * input was meant for.
 */
const deepest = (issues: ReadonlyArray<ParseResult.ArrayFormatterIssue>): ParseResult.ArrayFormatterIssue | undefined =>
  issues.reduce<ParseResult.ArrayFormatterIssue | undefined>(
    (best, issue) => (best === undefined || issue.path.length > best.path.length ? issue : best),
    undefined,
  )

/** A decoder that takes no unknown field. `whole` names the value when no single field of it is to blame. */
export const decoder = <A, I>(schema: Schema.Schema<A, I>, whole: string) => {
  const decode = Schema.decodeUnknownEither(schema, { onExcessProperty: "error" })
  return (input: unknown): Either.Either<A, Problem> =>
    Either.mapLeft(decode(input), (error) => {
      const issue = deepest(ParseResult.ArrayFormatter.formatErrorSync(error))
      return { field: pathOf(issue?.path ?? [], whole), reason: issue?.message ?? error.message }
    })
}
