import { HttpApiSchema } from "@effect/platform"
import * as Rules from "../../edge/definition/Rules.js"
import * as Group from "../../effect3/http/Group.js"

export const group = Group.of("documents", "Documents", "Descriptions of this interface.", [
  Group.get("openapi", "/openapi.json", "This interface as an OpenAPI 3.1 document")
    .annotate(Rules.Cached, { until: "restart" })
    .addSuccess(
      HttpApiSchema.Text({ contentType: "application/json" }).annotations({
        description: "an OpenAPI 3.1 document",
        jsonSchema: { type: "object" },
      }),
    ),
  Group.get("reference", "/docs", "This interface as an HTML page")
    .annotate(Rules.Cached, { until: "restart" })
    .addSuccess(
      HttpApiSchema.Text({ contentType: "text/html; charset=utf-8" }).annotations({ description: "an HTML page" }),
    ),
])
