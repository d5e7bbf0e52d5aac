/** What a gateway makes of a node's answers: its refusals are the gateway's own, and anything else is silence. */
import { Effect, Schema } from "effect"
import { Unanswered } from "../node/reads/Lookup.js"
import * as Failure from "../rpc/api/Failure.js"
import type { Trouble } from "./Nodes.js"

const read = Schema.decodeUnknownSync(Failure.schema)

/** The client has no classes of failures, only their fields. */
const refusalOf = (trouble: Trouble): Failure.Failure | undefined => {
  if (trouble instanceof Error) return undefined
  const { _tag: code, message: error, ...more } = trouble
  return read({ code, error, ...more })
}

/** Passes on the refusals with these codes; anything else means that no node could answer. */
export const forwarded =
  <const Code extends Failure.Code = never>(...codes: ReadonlyArray<Code>) =>
  <A, R>(
    answer: Effect.Effect<A, Trouble, R>,
  ): Effect.Effect<A, Extract<Failure.Failure, { readonly _tag: Code }> | Unanswered, R> => {
    type Declared = Extract<Failure.Failure, { readonly _tag: Code }>
    const isDeclared = (failure: Failure.Failure): failure is Declared => codes.some((code) => code === failure._tag)
    return Effect.mapError(answer, (trouble) => {
      if (trouble instanceof Unanswered) return trouble
      const refusal = refusalOf(trouble)
      if (refusal !== undefined && isDeclared(refusal)) return refusal
      return new Unanswered({ message: `no node answered: ${trouble.message}`, retryAfterSeconds: 2 })
    })
  }
