/** A long piece of work lets sockets and timers have their turn; `Effect.yieldNow` only lets other fibers. */
import { Effect } from "effect"

export const turn: Effect.Effect<void> = Effect.async<void>((resume) => {
  const handle = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(handle))
})
