/** What happens in this node, as it happens. */
import { Context, Effect, Layer } from "effect"
import { Engine } from "../engine/Engine.js"

const make = Effect.map(Engine, ({ events, view, pulse }) => ({
  /** From now on; writes once they are on disk. */
  all: events,
  /** The highest round seen, and the leader round of the last commit. */
  rounds: () => ({ reached: pulse().round, finalized: view.read.head.leaderRound }),
}))

export class Events extends Context.Tag("udg/Events")<Events, Effect.Effect.Success<typeof make>>() {}

export const layer = Layer.effect(Events, make)
