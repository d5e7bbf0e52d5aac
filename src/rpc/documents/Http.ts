import { Effect } from "effect"
import * as Answer from "../Answer.js"
import type * as Handlers from "../Handlers.js"
import * as OpenApiDocument from "../OpenApiDocument.js"
import * as Reference from "../Reference.js"

/** The interface's own description, made when somebody first asks for it. */
export const handlers = (version: string): Handlers.Of<"documents"> => {
  const openapi = Answer.atVersion(version, () => JSON.stringify(OpenApiDocument.make(version)))
  const reference = Answer.atVersion(version, () => Reference.page(OpenApiDocument.make(version)))
  return { openapi: () => Effect.succeed(openapi), reference: () => Effect.succeed(reference) }
}
