/** Groups of endpoints with their descriptions in the reference. */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"

export const get = <const Name extends string>(name: Name, path: `/${string}`, summary: string) =>
  HttpApiEndpoint.get(name, path).annotate(OpenApi.Summary, summary)

export const post = <const Name extends string>(name: Name, path: `/${string}`, summary: string) =>
  HttpApiEndpoint.post(name, path).annotate(OpenApi.Summary, summary)

/** The endpoints in the order of the reference. */
export const of = <const Name extends string, Endpoint extends HttpApiEndpoint.HttpApiEndpoint.Any>(
  name: Name,
  title: string,
  about: string,
  endpoints: ReadonlyArray<Endpoint>,
): HttpApiGroup.HttpApiGroup<Name, Endpoint, never> =>
  endpoints.reduce<HttpApiGroup.HttpApiGroup<Name, Endpoint, never>>(
    (group, endpoint) => group.add(endpoint),
    HttpApiGroup.make(name).annotate(OpenApi.Title, title).annotate(OpenApi.Description, about),
  )
