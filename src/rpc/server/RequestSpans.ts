/** Takes every answer for a trace, if provided: a server without it pays nothing. */
import { Context, Effect, Option } from "effect"
import type { OnAnswer } from "../../edge/server/Responder.js"

export class RequestSpans extends Context.Tag("udg/RequestSpans")<RequestSpans, OnAnswer>() {}

/** Also passes every answer on. */
export const over = (next: OnAnswer): Effect.Effect<OnAnswer> =>
  Effect.map(
    Effect.serviceOption(RequestSpans),
    Option.match({
      onNone: () => next,
      onSome:
        (take): OnAnswer =>
        (...answer) => {
          next(...answer)
          take(...answer)
        },
    }),
  )
