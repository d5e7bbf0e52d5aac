/** Effect's own client for the API: every definition through `HttpApiClient`, with the methods of our client. */
import { FetchHttpClient, HttpApi, HttpApiClient } from "@effect/platform"
import { Effect, Schema } from "effect"
import type { PromiseClient } from "../../src/client/Client.js"
import { Api } from "../../src/rpc/api/Api.js"

type Untyped = Readonly<Record<string, Readonly<Record<string, (request: object) => Effect.Effect<unknown, unknown>>>>>

/** Methods with the names and requests of our client, so that the tables can call them. */
export const connect = (baseUrl: string): Promise<PromiseClient> =>
  HttpApiClient.make(Api, { baseUrl }).pipe(
    Effect.map((client) => {
      const groups = Object.entries(client as unknown as Untyped).map(([group, methods]) => {
        const promises = Object.entries(methods).map(([name, method]) => [
          name,
          // `HttpApiClient` requires a part whose fields are all optional.
          (request: object) => Effect.runPromise(method({ urlParams: {}, headers: {}, ...request })),
        ])
        return [group, Object.fromEntries(promises)]
      })
      return Object.fromEntries(groups) as PromiseClient
    }),
    Effect.provide(FetchHttpClient.layer),
    Effect.runPromise,
  )

const failures = new Map<string, Schema.Schema<unknown, unknown>>()
HttpApi.reflect(Api, {
  onGroup: () => {},
  onEndpoint: ({ endpoint: { method, path }, errors }) => {
    for (const [status, { ast }] of errors) {
      if (ast._tag === "Some") failures.set(`${method} ${path} ${status}`, Schema.make(ast.value))
    }
  },
})

/** The error of `HttpApiClient` for a refused request. */
export const failureOf = (method: string, route: string, status: number, body: unknown): unknown => {
  const schema = failures.get(`${method} ${route} ${status}`)
  if (schema === undefined) throw new Error(`${method} ${route} declares no failure with ${status}`)
  return Schema.decodeUnknownSync(schema)(body)
}
