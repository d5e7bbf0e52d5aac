import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"

export const group = HttpApiGroup.make("documents")
  .annotate(OpenApi.Title, "Documents")
  .annotate(OpenApi.Description, "This interface, described.")
  .add(
    HttpApiEndpoint.get("openapi", "/openapi.json")
      .annotate(OpenApi.Summary, "This interface as an OpenAPI 3.1 document")
      .addSuccess(
        HttpApiSchema.Text({ contentType: "application/json" }).annotations({
          description: "an OpenAPI 3.1 document",
          jsonSchema: { type: "object" },
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("reference", "/docs")
      .annotate(OpenApi.Summary, "This interface as a page to read")
      .addSuccess(
        HttpApiSchema.Text({ contentType: "text/html; charset=utf-8" }).annotations({ description: "an HTML page" }),
      ),
  )
