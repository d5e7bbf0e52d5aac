import { Effect } from "effect"
import * as Answer from "../Answer.js"
import type * as Handlers from "../Handlers.js"
import * as OpenApiDocument from "../OpenApiDocument.js"
import * as Reference from "../Reference.js"

/** The interface's own description, made when somebody first asks for it. */
export const handlers = (version: string): Handlers.Of<"documents"> => ({
  openapi: () => Effect.sync(() => Answer.forever(JSON.stringify(OpenApiDocument.make(version)))),
  reference: () => Effect.sync(() => Answer.forever(Reference.page(OpenApiDocument.make(version)))),
})
