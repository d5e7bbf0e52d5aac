/** Whether the node is late with its own work, so that requests have to wait. */
import { Context, Effect, Layer } from "effect"
import * as RoundClock from "../../consensus/RoundClock.js"
import * as SteadyClock from "../../turns/SteadyClock.js"
import { Engine } from "../engine/Engine.js"
import { Home } from "../start/Home.js"

/** A round is late half an interval, but at least this long, after the longest idle wait. */
const LEAST_LATENESS_MS = 50
/**
 * A round later than this many intervals is late for a reason other than requests, unless there is work here: no round
 * comes before the checkpoint that closes an epoch.
 */
const OVERDUE_INTERVALS = 10

export class Pressure extends Context.Tag("udg/Pressure")<Pressure, { readonly isPressed: () => boolean }>() {}

const make = Effect.gen(function* () {
  const { pulse, view } = yield* Engine
  const clock = yield* Effect.clock
  const { roundIntervalMs } = (yield* Home).genesis.protocol
  const lateMs = RoundClock.longestIdleMs(roundIntervalMs) + Math.max(LEAST_LATENESS_MS, roundIntervalMs / 2)
  const overdueMs = Math.max(2 * lateMs, OVERDUE_INTERVALS * roundIntervalMs)
  return Pressure.of({
    isPressed: () => {
      const sinceMs = SteadyClock.unsafeCurrent(clock) - pulse().advancedAt
      return sinceMs > lateMs && (sinceMs < overdueMs || view.hasWork)
    },
  })
})

export const layer = Layer.effect(Pressure, make)
