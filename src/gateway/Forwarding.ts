/** What a gateway makes of a node's answers: its refusals are the gateway's own, and silence is 503. */
import { Effect } from "effect"
import type * as Client from "../client/Effects.js"
import * as Failure from "../rpc/api/Failure.js"

/** No node could answer. */
export const silent = (message: string) =>
  new Failure.Unavailable({ message: `no node answered: ${message}`, retry_after_seconds: 2 })

/** Passes on the refusals with these codes; anything else means that no node could answer. */
export const forwarded =
  <const Code extends Failure.Code = never>(...codes: ReadonlyArray<Code>) =>
  <A, R>(
    answer: Effect.Effect<A, Client.Trouble | Failure.Unavailable, R>,
  ): Effect.Effect<A, Extract<Failure.Failure, { readonly _tag: Code }> | Failure.Unavailable, R> => {
    const isDeclared = (failure: object): failure is Extract<Failure.Failure, { readonly _tag: Code }> =>
      "_tag" in failure && codes.some((code) => code === failure._tag)
    return Effect.mapError(answer, (trouble) => {
      if (isDeclared(trouble)) return trouble
      return trouble instanceof Failure.Unavailable ? trouble : silent(trouble.message)
    })
  }
