/** A long piece of work lets sockets and timers have their turn; `Effect.yieldNow` only lets other fibers. */
import { Effect } from "effect"

/** An interrupted wait leaves an idle callback behind; cancelling it would cost more each time. */
export const turn: Effect.Effect<void> = Effect.async<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})
