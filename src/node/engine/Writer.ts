/** The one fiber that writes. It performs writes in the order in which they come, and publishes each once it is written. */
import { Clock, Deferred, Duration, Effect, type Scope } from "effect"
import * as Natural from "../../protocol/numbers/Natural.js"
import type { Output } from "../../replica/output/Output.js"
import type { Write } from "../../replica/output/Write.js"
import type { Storage } from "../../storage/Storage.js"
import * as EventLoop from "../../turns/EventLoop.js"
import { Inbox } from "../../turns/Inbox.js"
import type { Ending } from "../lifecycle/Ending.js"
import type { Supervisor } from "../lifecycle/Supervisor.js"
import * as Disk from "./Disk.js"
import { isPublished, type NodeEvent } from "./NodeEvent.js"

export type Task =
  | Extract<Output, { readonly _tag: "Write" }>
  /** Published once every task before it is done. */
  | { readonly _tag: "Publish"; readonly event: NodeEvent }
  | { readonly _tag: "End"; readonly ending: Ending }

export interface Listener {
  /** These tasks come next, and none of their writes is in the files. */
  readonly taking?: (tasks: ReadonlyArray<Task>) => Effect.Effect<void, Ending>
  /** This synced write and all before it are on disk and survive a power cut. */
  readonly written: (id: number) => Effect.Effect<void>
  /** If the event is a write, it and all before it are in the files, and survive a crash of the process. */
  readonly published: (event: NodeEvent) => Effect.Effect<void>
}

/** Taken together if somebody wants to know of it before they are written. */
const TAKEN_AT_ONCE = 512

/** How long a stop waits for the disk: with the time for answers and peers, it takes at most five seconds. */
const FLUSH_LIMIT = Duration.millis(2_500)

/** Runs until the scope ends, and then until all tasks handed over by then are done. */
export const start = (
  storage: typeof Storage.Service,
  supervisor: typeof Supervisor.Service,
  { taking, written, published }: Listener,
): Effect.Effect<(task: Task) => void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const tasks = new Inbox<Task>()
    const drained = yield* Deferred.make<void>()
    let isStopping = false

    const keep = (writes: ReadonlyArray<Write>) =>
      Effect.flatMap(Clock.currentTimeMillis, (at) =>
        Effect.forEach(
          Disk.batched(writes),
          (batch) => Effect.zipRight(Disk.keep(storage, batch, Natural.timestamp(at)), EventLoop.turn),
          { discard: true },
        ),
      )

    const perform = (taken: ReadonlyArray<Task>) =>
      Effect.gen(function* () {
        let run: Array<Write> = []
        for (const task of taken) {
          if (task._tag === "Write") run.push(task.write)
          if (task._tag === "Write" && !task.isSynced && !isPublished(task.write)) continue
          yield* keep(run)
          run = []
          switch (task._tag) {
            case "Write":
              if (task.isSynced) yield* written(task.id)
              if (isPublished(task.write)) yield* published(task.write)
              break
            case "Publish":
              yield* published(task.event)
              break
            case "End":
              yield* supervisor.end(task.ending)
          }
        }
        yield* keep(run)
      })

    const run = Effect.gen(function* () {
      for (;;) {
        if (tasks.isEmpty) {
          if (isStopping) return yield* Effect.zipRight(Deferred.succeed(drained, undefined), Effect.never)
          yield* tasks.arrival
        }
        const taken = tasks.take(taking === undefined ? Number.MAX_SAFE_INTEGER : TAKEN_AT_ONCE)
        if (taking !== undefined) yield* taking(taken)
        yield* perform(taken)
      }
    }).pipe(Effect.onError(() => Deferred.succeed(drained, undefined)))

    yield* supervisor.critical("storage writer", run)
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        isStopping = true
        tasks.wake()
        // Finalizers are uninterruptible by default, and a timeout waits for the effect it interrupts.
        return Effect.ignore(Effect.timeout(Effect.interruptible(Deferred.await(drained)), FLUSH_LIMIT))
      }),
    )
    return (task) => tasks.push(task)
  })
