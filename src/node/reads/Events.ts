/** What happens in this node, as it happens. */
import { Context, Effect, Layer } from "effect"
import { Engine } from "../engine/Engine.js"

const make = Effect.map(Engine, ({ events, written, pulse }) => ({
  /** From now on; writes once they are on disk. */
  all: events,
  /** The highest round seen, and the leader round of the last commit on disk. */
  rounds: () => ({ reached: pulse().round, finalized: written().leaderRound }),
}))

export class Events extends Context.Tag("udg/Events")<Events, Effect.Effect.Success<typeof make>>() {}

export const layer = Layer.effect(Events, make)
