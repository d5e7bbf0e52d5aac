/** Reads JSON by its schema: returns the value, or the invalid field and what was expected there. */
import { Either, type Schema } from "effect"
import * as Codec from "../../effect3/schema/Codec.js"
import * as JsonProblem from "./JsonProblem.js"

/** Never throws. Refuses unknown fields unless told to ignore them. `whole` names the value if no field is at fault. */
export const decoder = <A, I>(
  schema: Schema.Schema<A, I>,
  whole: string,
  unknownFields: "error" | "ignore" = "error",
) => {
  const decode = Codec.decoder(schema, unknownFields)
  return (input: unknown): Either.Either<A, JsonProblem.JsonProblem> => {
    try {
      return Either.mapLeft(decode(input), (complaint) => JsonProblem.ofComplaint(complaint, whole))
    } catch {
      // A union chooses its member by the discriminator as a string, and some values cannot become one: lists nested by
      // the thousand, or an object whose own `toString` is not a function.
      return Either.left(JsonProblem.at([], whole, "a field holds an object or a list instead of a text"))
    }
  }
}

/** The JSON of a value. Throws if the value does not match the schema, which is a bug. */
export const encoder: <A, I>(schema: Schema.Schema<A, I>) => (value: unknown) => I = Codec.encoder
