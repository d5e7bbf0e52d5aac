/** The disk failing under a read: nothing the asker could act on, so it becomes the 500 that a bug is, its cause logged. */
import { Effect } from "effect"
import * as Lookup from "../../node/reads/Lookup.js"

export const asDefect = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, Exclude<E, Lookup.Unreadable>, R> =>
  Effect.catchAll(effect, (error) =>
    Lookup.isUnreadable(error) ? Effect.die(error) : Effect.fail(error as Exclude<E, Lookup.Unreadable>),
  )
