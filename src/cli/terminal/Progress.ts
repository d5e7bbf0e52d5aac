/** A progress line, shown only on a terminal. */
import { Clock, Effect, Option } from "effect"
import * as Printable from "./Printable.js"
import { Terminal } from "./Terminal.js"

const EVERY = "1 second"
const CLEAR = "\r\u001b[K"
const USUAL_COLUMNS = 80

/** Shows the line while the work runs, and clears it afterwards or after an interruption. */
export const during = <A, E, R>(what: string, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Terminal> =>
  Effect.gen(function* () {
    const { isWatched, columns, writeError } = yield* Terminal
    if (!isWatched) return yield* work
    const began = yield* Clock.currentTimeMillis
    const draw = Effect.map(Clock.currentTimeMillis, (now) => {
      const room = Option.getOrElse(columns(), () => USUAL_COLUMNS)
      writeError(`${CLEAR}${Printable.cut(`${what} … ${Math.floor((now - began) / 1000)} s`, room - 1)}`)
    })
    const drawing = Effect.forever(Effect.zipRight(draw, Effect.sleep(EVERY)))
    return yield* Effect.raceFirst(work, drawing).pipe(Effect.ensuring(Effect.sync(() => writeError(CLEAR))))
  })
