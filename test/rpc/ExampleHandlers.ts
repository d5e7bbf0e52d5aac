/** Handlers that answer every endpoint with the example from its own definition: a whole server without a node. */
import { HttpApi } from "@effect/platform"
import { SchemaAST as AST, Effect, Layer, Option, Stream } from "effect"
import { Api } from "../../src/rpc/api/Api.js"
import * as Documents from "../../src/rpc/handlers/Documents.js"
import { type GroupName, group, type Of } from "../../src/rpc/handlers/Group.js"

export type Overrides = { readonly [Name in GroupName]?: Partial<Of<Name>> }

const exampleOf = (ast: AST.AST): Option.Option<unknown> =>
  Option.orElse(
    Option.map(AST.getExamplesAnnotation(ast), ([first]) => first),
    () => (AST.isUnion(ast) ? Option.firstSomeOf(ast.types.map(exampleOf)) : Option.none()),
  )

/** Every handler by group and endpoint. */
export const make = (overrides: Overrides = {}): { readonly [Name in GroupName]: Of<Name> } => {
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
  const own: Overrides = {
    documents: Documents.reads("0.0.0"),
    events: { stream: () => Effect.succeed(Stream.never) },
  }
  for (const more of [own, overrides]) {
    for (const [name, handlers] of Object.entries(more)) groups[name] = { ...groups[name], ...handlers }
  }
  // Built endpoint by endpoint from the definitions from which the types are derived.
  return groups as never
}

/** Adds handlers without knowing their types. */
interface Adding {
  readonly handle: (name: string, handler: unknown) => Adding
}

/** The groups for a server. */
export const layer = (overrides: Overrides = {}) => {
  const all = make(overrides)
  const layerOf = <Name extends GroupName>(name: Name) =>
    group(name, (handlers) => {
      let adding = handlers as unknown as Adding
      for (const [endpoint, handler] of Object.entries(all[name])) adding = adding.handle(endpoint, handler)
      return adding as never
    })
  return Layer.mergeAll(
    layerOf("core"),
    layerOf("transactions"),
    layerOf("archive"),
    layerOf("staking"),
    layerOf("delegation"),
    layerOf("governance"),
    layerOf("dag"),
    layerOf("checkpoints"),
    layerOf("monitoring"),
    layerOf("events"),
    layerOf("documents"),
  )
}
