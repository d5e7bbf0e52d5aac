/** Lets go of old vertices a few at a time, and of own ones that nothing asks for any more. */
import { Duration, Effect, Layer } from "effect"
import * as Counter from "../protocol/Counter.js"
import { Storage } from "../storage/Storage.js"
import type { StorageError } from "../storage/StorageError.js"
import { Configuration } from "./Configuration.js"
import { Engine } from "./Engine.js"
import * as Loading from "./Loading.js"
import * as Log from "./Log.js"
import { Supervisor } from "./Supervisor.js"

const log = Log.for("storage")

/** Older vertices go, but never those of the running epoch and the one before. */
export const KEPT_ROUNDS = 10_000
/** About ten milliseconds' worth: nothing else is written meanwhile. */
const AT_ONCE = 200
/** The same of small rows that lie side by side. */
const SMALL_AT_ONCE = 2_000
const PAUSE = Duration.millis(50)
const EVERY = Duration.seconds(30)

const vertices = Effect.gen(function* () {
  const engine = yield* Engine
  const storage = yield* Storage
  const { round } = engine.pulse()
  const epoch = yield* engine.look(({ core }) => core.epoch.opening.record.epoch)
  const request = {
    beforeRound: Counter.round(Math.max(0, round - KEPT_ROUNDS)),
    beforeEpoch: Counter.epoch(Math.max(0, epoch - 1)),
    limit: AT_ONCE,
  }
  let pruned = 0
  for (;;) {
    const gone = yield* storage.vertices.prune(request)
    engine.counters.pruned(gone)
    pruned += gone
    if (gone < AT_ONCE) break
    yield* Effect.sleep(PAUSE)
  }
  if (pruned > 0) yield* log.info("old vertices pruned", { vertices: pruned, before: request.beforeRound })
})

/** The way back to closes that nobody is served from any more. */
const closedStates = Effect.gen(function* () {
  const engine = yield* Engine
  const storage = yield* Storage
  const running = yield* engine.look(({ read }) => read.epoch.epoch)
  const oldest = Counter.epoch(Math.max(0, running - Loading.KEPT_CLOSES))
  while ((yield* storage.closedStates.prune(oldest, SMALL_AT_ONCE)) === SMALL_AT_ONCE) yield* Effect.sleep(PAUSE)
})

const own = Effect.gen(function* () {
  const engine = yield* Engine
  const storage = yield* Storage
  const epoch = yield* engine.look(({ core }) => core.epoch.opening.record.epoch)
  yield* storage.signed.prune(Counter.epoch(Math.max(0, epoch - 1)))
})

/** One round of it. */
export const once: Effect.Effect<void, StorageError, Engine | Storage | Configuration> = Effect.gen(function* () {
  const { archive } = yield* Configuration
  yield* own
  yield* closedStates
  if (!archive) yield* vertices
})

export const layer: Layer.Layer<never, never, Engine | Storage | Configuration | Supervisor> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const context = yield* Effect.context<Engine | Storage | Configuration>()
    const supervisor = yield* Supervisor
    yield* supervisor.restarted(
      "pruning",
      Effect.provide(Effect.forever(Effect.zipRight(Effect.sleep(EVERY), once)), context),
    )
  }),
)
