/** A long piece of work lets sockets and timers have their turn; `Effect.yieldNow` only lets other fibers. */
import { Effect } from "effect"

/** One that is interrupted leaves a moment behind in which nothing happens; to take that back would cost more each time. */
export const turn: Effect.Effect<void> = Effect.async<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})
