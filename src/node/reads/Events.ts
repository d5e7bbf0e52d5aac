/** The node's live events. */
import { Context, Effect, Layer } from "effect"
import { Engine } from "../engine/Engine.js"

const make = Effect.map(Engine, ({ events, gathered, written, pulse }) => ({
  /** Events from now on. Writes appear once they are on disk. */
  all: events,
  /** Returns when no event is held back because its write may wait. */
  gathered,
  /** The highest round seen, and the leader round of the last commit on disk. */
  rounds: () => ({ reached: pulse().round, finalized: written().leaderRound }),
}))

export class Events extends Context.Tag("udg/Events")<Events, Effect.Effect.Success<typeof make>>() {}

export const layer = Layer.effect(Events, make)
