import { Effect } from "effect"
import * as OpenApiDocument from "../documents/OpenApiDocument.js"
import * as Reference from "../documents/Reference.js"
import * as Answer from "../server/Answer.js"
import type * as Handlers from "../server/Handlers.js"

/** The interface's own description, made at the first request for it. */
export const handlers = (version: string): Handlers.Of<"documents"> => ({
  openapi: () => Effect.sync(() => Answer.forever(JSON.stringify(OpenApiDocument.make(version)))),
  reference: () => Effect.sync(() => Answer.forever(Reference.page(OpenApiDocument.make(version)))),
})
