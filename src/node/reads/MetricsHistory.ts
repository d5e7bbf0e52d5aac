/** The node's figures over time: read every second, bounded, and written to disk every five minutes and at the end. */
import { FileSystem } from "@effect/platform"
import { Clock, Context, Duration, Effect, Layer, Option, Schedule } from "effect"
import type { Address } from "../../protocol/identity/Address.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as SteadyClock from "../../turns/SteadyClock.js"
import { Engine } from "../engine/Engine.js"
import { Attendance, type Backing } from "../history/Attendance.js"
import { Figures, type Reading } from "../history/Figures.js"
import * as HistoryFile from "../history/HistoryFile.js"
import { Supervisor } from "../lifecycle/Supervisor.js"
import * as Log from "../log/Log.js"
import { Home } from "../start/Home.js"

const log = Log.for("metrics")

const READ_EVERY = Duration.seconds(1)
const SAVED_EVERY = Duration.minutes(5)

/** None for a node without a directory. */
const fileOf = Effect.map(Home, ({ location }) =>
  location._tag === "Directory" ? Option.some(location.directory.fileOf("history")) : Option.none(),
)

const loaded = (file: Option.Option<string>) =>
  Effect.gen(function* () {
    if (Option.isNone(file)) return HistoryFile.nothing
    const history = yield* HistoryFile.load(file.value)
    if (Option.isSome(history)) return history.value
    yield* log.warn(`${file.value} cannot be read; the charts start empty`)
    return HistoryFile.nothing
  })

const make = Effect.gen(function* () {
  const { view, counters } = yield* Engine
  const supervisor = yield* Supervisor
  const fileSystem = yield* FileSystem.FileSystem
  const file = yield* fileOf
  const kept = yield* loaded(file)

  const reading = (): Reading => {
    const { counts, finality, participation } = counters
    const { staked, delegated, total } = view.read.totals
    return {
      transactions: counts.transactions,
      rounds: counts.commits + participation.leadersSkipped,
      fees: counts.fees,
      finalityMs: Math.round(1_000 * finality.sum),
      finalVertices: finality.cumulative.at(-1) ?? 0,
      supply: total,
      staked: Sats.addBounded(staked, delegated),
      mempool: view.pool.size,
    }
  }

  const backingOf = (validator: Address): Backing => {
    const { count, total } = view.read.backing(view.read.accountOf(validator))
    return { delegators: count, delegated: total }
  }

  const figures = new Figures(reading(), kept.figures)
  const attendance = new Attendance(kept.attendance)
  let readAt = yield* SteadyClock.current
  let time = yield* Clock.currentTimeMillis

  const read = Effect.map(Effect.all([SteadyClock.current, Clock.currentTimeMillis]), ([at, now]) => {
    figures.add(reading(), at - readAt, now)
    attendance.add(counters.participation.members, backingOf, now)
    readAt = at
    time = now
  })

  const save = Option.match(file, {
    onNone: () => Effect.void,
    onSome: (path) =>
      HistoryFile.save(path, { figures: figures.points, attendance: attendance.points }).pipe(
        Effect.provideService(FileSystem.FileSystem, fileSystem),
        Effect.catchAll((error) => log.warn("the figures over time could not be written", { reason: error.message })),
      ),
  })

  yield* Effect.addFinalizer(() => save)
  const reads = Effect.repeat(read, Schedule.spaced(READ_EVERY))
  yield* supervisor.restarted("figures over time", Effect.zipRight(reads, Effect.never))
  const saves = Effect.repeat(Effect.delay(save, SAVED_EVERY), Schedule.forever)
  yield* supervisor.restarted("writing figures over time", Effect.zipRight(saves, Effect.never))

  return {
    time: () => time,
    figures: () => figures.points,
    /** All members' rounds over a range, and one member's over time. */
    attendance: attendance satisfies Pick<Attendance, "totals" | "since" | "of">,
  }
})

export class MetricsHistory extends Context.Tag("udg/MetricsHistory")<
  MetricsHistory,
  Effect.Effect.Success<typeof make>
>() {}

export const layer = Layer.scoped(MetricsHistory, make)
