/** Reading JSON by its schema: the value, or the one field that is wrong and what was expected of it. */
import { Either, Schema } from "effect"
import * as CompiledSchema from "./CompiledSchema.js"
import * as JsonProblem from "./JsonProblem.js"

/**
 * A decoder that takes no unknown field, unless told to ignore them, and never throws. `whole` names the value when no
 * single field of it is to blame.
 */
export const decoder = <A, I>(
  schema: Schema.Schema<A, I>,
  whole: string,
  unknownFields: "error" | "ignore" = "error",
) => {
  const options = { onExcessProperty: unknownFields }
  const read = CompiledSchema.decoder(schema, options)
  const decode = Schema.decodeUnknownEither(schema, options)
  return (input: unknown): Either.Either<A, JsonProblem.JsonProblem> => {
    try {
      const value = read(input)
      if (value !== CompiledSchema.NOT_SURE) return Either.right(value)
      return Either.mapLeft(decode(input), ({ issue }) => JsonProblem.fromIssue(issue, whole))
    } catch {
      // A union chooses its member by the discriminator as a string, and there are values that make none: lists within
      // lists by the thousand, an object whose own `toString` is no function.
      return Either.left(JsonProblem.at([], whole, "a field holds an object or a list where a text must stand"))
    }
  }
}

/** The JSON of a value; throws where the value is none of the schema's, which is a bug. */
export const encoder = <A, I>(schema: Schema.Schema<A, I>) => {
  const write = CompiledSchema.encoder(schema, {})
  const encode = Schema.encodeUnknownSync(schema)
  return (value: unknown): I => {
    const json = write(value)
    return json === CompiledSchema.NOT_SURE ? encode(value) : json
  }
}
