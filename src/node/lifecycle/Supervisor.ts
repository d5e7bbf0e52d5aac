/**
 * Keeps the node's parts running. If an essential part fails, the node ends; other parts are restarted with growing
 * delays, and the health report shows them until they run.
 */
import { Cause, Context, Deferred, Duration, Effect, Fiber, Layer, Option, Schedule } from "effect"
import * as Log from "../log/Log.js"
import { ApplyingFault, type Ending, InternalFault } from "./Ending.js"

const log = Log.for("supervisor")

export type Status = "running" | "restarting" | "stopped"

export interface Component {
  readonly name: string
  readonly status: Status
  readonly restarts: number
}

const backoff = Schedule.exponential(Duration.seconds(1), 2).pipe(Schedule.union(Schedule.spaced(Duration.seconds(30))))

const died = (component: string, cause: Cause.Cause<unknown>): InternalFault =>
  new InternalFault({ fault: new ApplyingFault({ component, doing: null, cause: Cause.squash(cause) }) })

const make = Effect.gen(function* () {
  const ending = yield* Deferred.make<never, Ending>()
  const components = new Map<string, Component>()

  const note = (name: string, status: Status, isRestart = false) =>
    Effect.sync(() => {
      const restarts = (components.get(name)?.restarts ?? 0) + (isRestart ? 1 : 0)
      components.set(name, { name, status, restarts })
    })

  /** Forked so that closing the scope waits until the part has stopped. */
  const forked = (name: string, run: Effect.Effect<unknown>) =>
    Effect.gen(function* () {
      yield* note(name, "running")
      yield* Effect.acquireRelease(Effect.forkDaemon(Effect.interruptible(run)), (fiber) =>
        Effect.zipRight(Fiber.interrupt(fiber), note(name, "stopped")),
      )
      yield* log.debug("started", { component: name })
    })

  return {
    /** Runs a part until the scope ends. If the part ends earlier for any reason, the node ends. */
    critical: (name: string, run: Effect.Effect<never, Ending>) =>
      forked(
        name,
        Effect.catchAllCause(run, (cause) =>
          Cause.isInterruptedOnly(cause)
            ? Effect.void
            : Deferred.fail(
                ending,
                Option.getOrElse(Cause.failureOption(cause), () => died(name, cause)),
              ),
        ),
      ),

    /** Runs a part until the scope ends, restarting it as necessary. */
    restarted: <E>(name: string, run: Effect.Effect<never, E>) =>
      forked(
        name,
        Effect.zipRight(note(name, "running"), run).pipe(
          Effect.sandbox,
          Effect.tapError((cause) =>
            Effect.zipRight(
              note(name, "restarting", true),
              log.warn("failed and is being restarted", { component: name }, cause),
            ),
          ),
          Effect.retry(backoff),
          Effect.ignore,
        ),
      ),

    /** Ends the node. The first ending counts. */
    end: (reason: Ending) => Effect.asVoid(Deferred.fail(ending, reason)),
    ended: Deferred.await(ending),
    components: Effect.sync((): ReadonlyArray<Component> => [...components.values()]),
  }
})

export class Supervisor extends Context.Tag("udg/Supervisor")<Supervisor, Effect.Effect.Success<typeof make>>() {}

export const layer = Layer.effect(Supervisor, make)
