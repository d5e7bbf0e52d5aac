/** The engine's periodic checks: the supply on disk, its progress, and the clock. */
import { Duration, Effect, Option, Schedule } from "effect"
import type { Replica } from "../../replica/Replica.js"
import { Storage } from "../../storage/Storage.js"
import * as SteadyClock from "../../turns/SteadyClock.js"
import { Supervisor } from "../lifecycle/Supervisor.js"
import * as CatchUp from "./CatchUp.js"
import * as Recovery from "./Recovery.js"
import { SupplyWatch } from "./SupplyWatch.js"
import type * as Writer from "./Writer.js"

const LOOKED_EVERY = Duration.seconds(2)

/** Recounts the stored supply periodically against that of the writes. */
export const countingSupply = (replica: Replica, perform: (task: Writer.Task) => void) =>
  Effect.gen(function* () {
    const storage = yield* Storage
    const supervisor = yield* Supervisor
    const supply = new SupplyWatch()
    supply.executed(replica.read.head.index, replica.read.totals.total)
    const write = (task: Writer.Task) => {
      if (task._tag === "Write" && task.write._tag === "Executed") {
        supply.executed(task.write.execution.commit.index, task.write.execution.totals.total)
      }
      perform(task)
    }
    if (Option.isSome(storage.supply)) {
      const ended = Effect.map(supply.run(storage.supply.value), (ending) => write({ _tag: "End", ending }))
      yield* supervisor.restarted("supply count", Effect.zipRight(ended, Effect.never))
    }
    return write
  })

/** Checks every few seconds whether this node is behind, what it waits for, and whether its clock is right. */
export const watching = (replica: Replica, roundIntervalMs: number) =>
  Effect.gen(function* () {
    const catchUp = new CatchUp.CatchUp()
    const look = Effect.flatMap(SteadyClock.current, (at) => {
      const { opening, dag, reachedRound } = replica.core.epoch
      return catchUp.look({ epoch: opening.record.epoch, round: dag.quorumRound, reachedRound }, at)
    })
    yield* Effect.forkScoped(Effect.repeat(look, Schedule.spaced(LOOKED_EVERY)))
    const watch = new Recovery.Watch(roundIntervalMs, (key) => replica.read.accountOf(key))
    const watched = Effect.flatMap(Effect.all([SteadyClock.current, SteadyClock.wallAhead]), ([at, wallAheadMs]) => {
      const { clockAheadMs, pauses } = replica
      return watch.look({ recovery: replica.recovery(at), clockAheadMs, wallAheadMs, pauses }, at)
    })
    yield* Effect.forkScoped(Effect.repeat(watched, Schedule.spaced(LOOKED_EVERY)))
    return { catchUp, watch }
  })
