import { Effect } from "effect"
import * as OpenApiDocument from "../documents/OpenApiDocument.js"
import * as Reference from "../documents/Reference.js"
import { group, type Of } from "./Group.js"

/** The interface's own description, made at the first request for it. */
export const reads = (version: string): Of<"documents"> => ({
  openapi: () => Effect.sync(() => JSON.stringify(OpenApiDocument.make(version))),
  reference: () => Effect.sync(() => Reference.page(OpenApiDocument.make(version))),
})

export const layer = (version: string) =>
  group("documents", (handlers) => {
    const { openapi, reference } = reads(version)
    return handlers.handle("openapi", openapi).handle("reference", reference)
  })
