/** Maps a node's answers: its refusals become the gateway's own, and anything else counts as no answer. */
import { Effect, Schema } from "effect"
import { Unanswered } from "../node/reads/Lookup.js"
import * as Failure from "../rpc/api/Failure.js"
import type { Trouble } from "./Nodes.js"

const read = Schema.decodeUnknownSync(Failure.schema)

/** The client has only the fields of failures, not their classes. */
const refusalOf = (trouble: Trouble): Failure.Failure | undefined => {
  if (trouble instanceof Error) return undefined
  const { _tag: code, message: error, ...more } = trouble
  return read({ code, error, ...more })
}

/** Passes on refusals with these codes; anything else means that no node could answer. */
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
