/** Takes every answer for a trace, if somebody provides it: a server without it pays nothing. */
import { Context, Effect, Option } from "effect"
import type { Answered } from "../../edge/server/Responder.js"

export class RequestSpans extends Context.Tag("udg/RequestSpans")<RequestSpans, (answered: Answered) => void>() {}

/** Passes every answer on as well. */
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
