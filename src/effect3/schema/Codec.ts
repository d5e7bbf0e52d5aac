/** Encodes and decodes with a schema, as plain code where the result is certain, otherwise with the library. */
import { Either, Schema } from "effect"
import * as CompiledSchema from "./CompiledSchema.js"
import * as Complaint from "./Complaint.js"

export const decoder = <A, I>(schema: Schema.Schema<A, I>, unknownFields: "error" | "ignore") => {
  const options = { onExcessProperty: unknownFields }
  const read = CompiledSchema.decoder(schema, options)
  const decode = Schema.decodeUnknownEither(schema, options)
  return (input: unknown): Either.Either<A, Complaint.Complaint> => {
    const value = read(input)
    if (value !== CompiledSchema.NOT_SURE) return Either.right(value)
    return Either.mapLeft(decode(input), ({ issue }) => Complaint.of(issue))
  }
}

/** Throws for a value outside of the schema, which is a bug. */
export const encoder = <A, I>(schema: Schema.Schema<A, I>) => {
  const write = CompiledSchema.encoder(schema, {})
  const encode = Schema.encodeUnknownSync(schema)
  return (value: unknown): I => {
    const encoded = write(value)
    return encoded === CompiledSchema.NOT_SURE ? encode(value) : encoded
  }
}
