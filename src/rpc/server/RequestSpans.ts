/** Takes every answer for a trace, if provided: a server without it pays nothing. */
import { Context, Effect, Option } from "effect"
import type { Answered } from "../../edge/server/Responder.js"

export class RequestSpans extends Context.Tag("udg/RequestSpans")<RequestSpans, (answered: Answered) => void>() {}

/** Also passes every answer on. */
export const over = (next: (answered: Answered) => void): Effect.Effect<(answered: Answered) => void> =>
  Effect.map(
    Effect.serviceOption(RequestSpans),
    Option.match({
      onNone: () => next,
      onSome: (take) => (answered: Answered) => {
        next(answered)
        take(answered)
      },
    }),
  )
