/** Lets sockets and timers run during a long piece of work; `Effect.yieldNow` lets only other fibers run. */
import { Effect } from "effect"

/** An interrupted wait leaves an idle callback behind; cancelling it would cost more each time. */
export const turn: Effect.Effect<void> = Effect.async<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})
