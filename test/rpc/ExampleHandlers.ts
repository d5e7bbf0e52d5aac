/** Handlers that answer every endpoint with the example of its own definition: a whole server without a node behind it. */
import { HttpApi } from "@effect/platform"
import { SchemaAST as AST, Effect, Option, Stream } from "effect"
import { Api } from "../../src/rpc/api/Api.js"
import * as Documents from "../../src/rpc/handlers/Documents.js"
import type * as Handlers from "../../src/rpc/server/Handlers.js"

const exampleOf = (ast: AST.AST): Option.Option<unknown> =>
  Option.orElse(
    Option.map(AST.getExamplesAnnotation(ast), ([first]) => first),
    () => (AST.isUnion(ast) ? Option.firstSomeOf(ast.types.map(exampleOf)) : Option.none()),
  )

export const make = (overrides: { readonly [Name in Handlers.GroupName]?: Partial<Handlers.Of<Name>> } = {}) => {
  const groups: Record<string, Record<string, unknown>> = {}
  HttpApi.reflect(Api, {
    onGroup: ({ group }) => {
      groups[group.identifier] = {}
    },
    onEndpoint: ({ group, endpoint }) => {
      const answer = Effect.succeed(Option.getOrElse(exampleOf(endpoint.successSchema.ast), () => "no example"))
      groups[group.identifier] = { ...groups[group.identifier], [endpoint.name]: () => answer }
    },
  })
  const own: typeof overrides = {
    documents: Documents.handlers("0.0.0"),
    events: { stream: () => Effect.succeed(Stream.never) },
  }
  for (const more of [own, overrides]) {
    for (const [name, handlers] of Object.entries(more)) groups[name] = { ...groups[name], ...handlers }
  }
  // Built from the definitions that `Handlers.All` is derived from, endpoint by endpoint.
  return groups as unknown as Handlers.All
}
