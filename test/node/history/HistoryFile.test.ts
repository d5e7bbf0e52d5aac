import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Option } from "effect"
import { expect } from "vitest"
import { Attendance } from "../../../src/node/history/Attendance.js"
import { Figures } from "../../../src/node/history/Figures.js"
import * as HistoryFile from "../../../src/node/history/HistoryFile.js"
import { MetricsHistory } from "../../../src/node/reads/MetricsHistory.js"
import * as Sats from "../../../src/protocol/numbers/Sats.js"
import { addressOf } from "../CountersOf.js"
import { withDirectory, withPlatform } from "../withDirectory.js"
import * as world from "../world.js"

const MIDNIGHT = 1_767_225_600_000

const some = (): HistoryFile.History => {
  const { at: _, ms: __, ...nothing } = HistoryFile.pointOf([])
  const figures = new Figures(nothing, HistoryFile.nothing.figures)
  const attendance = new Attendance(HistoryFile.nothing.attendance)
  for (let second = 0; second < 90; second++) {
    const now = MIDNIGHT + 1_000 * second
    const backing = () => ({ delegators: second, delegated: Sats.make(1_000 * second) })
    figures.add({ ...nothing, rounds: 2 * second, fees: 7 * second, supply: 2_100_000_000_000_000 }, 1_000, now)
    attendance.add(new Map([[addressOf("ann"), { made: second, missed: 1 }]]), backing, now)
    attendance.add(new Map([[addressOf("ben"), { made: 1, missed: 2 * second }]]), backing, now)
  }
  return { figures: figures.points, attendance: attendance.points }
}

withPlatform("reads back its own content", function* () {
  const path = join(yield* world.temporaryDirectory, "history.json")
  expect(yield* HistoryFile.load(path)).toEqual(Option.some(HistoryFile.nothing))
  const history = some()
  yield* HistoryFile.save(path, history)
  expect(yield* HistoryFile.load(path)).toEqual(Option.some(history))
})

withPlatform("rejects every file that is incomplete or foreign, without throwing", function* () {
  const path = join(yield* world.temporaryDirectory, "history.json")
  const ranges = (rows: unknown) => ({ hour: rows, day: [], year: [] })
  const row = [MIDNIGHT, 1_000, 1, 1, 1, 1, 1, 1, 1, 1]
  const content = (hour: unknown, attendance: unknown = []) =>
    JSON.stringify({ version: 1, figures: ranges(hour), members: [], attendance: ranges(attendance) })
  writeFileSync(path, content([row]))
  expect(Option.isSome(yield* HistoryFile.load(path))).toBe(true)
  const texts = [
    "",
    "{",
    content([row]).slice(0, -3),
    content([row.slice(1)]),
    content([row.with(7, 2_100_000_000_000_001)]),
    content([row.with(2, 0.5)]),
    content([row.with(0, -1)]),
    content([], [[MIDNIGHT, 0, 1]]),
    content([row]).replace('"version":1', '"version":2'),
    "x".repeat(17_000_000),
  ]
  for (const text of texts) {
    writeFileSync(path, text)
    expect(yield* HistoryFile.load(path), text.slice(0, 80)).toEqual(Option.none())
  }
  // A member in no list is omitted, as is a point that does not come after the previous one.
  writeFileSync(path, content([row, row], [[MIDNIGHT, 0, 1, 1]]))
  const loaded = Option.getOrThrow(yield* HistoryFile.load(path))
  expect(loaded.figures.hour.length).toBe(1)
  const empty = { at: MIDNIGHT, members: new Map(), backing: new Map() }
  expect(loaded.attendance.hour).toEqual([empty])
})

withPlatform("reads an earlier version's file, which has no delegations, and omits more than can exist", function* () {
  const path = join(yield* world.temporaryDirectory, "history.json")
  const ann = addressOf("ann")
  const ranges = (hour: unknown) => ({ hour, day: [], year: [] })
  const old = { version: 1, figures: ranges([]), members: [ann], attendance: ranges([[MIDNIGHT, 0, 5, 1]]) }
  const members = new Map([[ann, { made: 5, missed: 1 }]])
  for (const more of [{}, { backing: ranges([[MIDNIGHT, 0, 3, 2_100_000_000_000_001]]) }]) {
    writeFileSync(path, JSON.stringify({ ...old, ...more }))
    const loaded = Option.getOrThrow(yield* HistoryFile.load(path))
    expect(loaded.attendance.hour).toEqual([{ at: MIDNIGHT, members, backing: new Map() }])
  }
})

withDirectory("is kept by a node that stops and starts again", function* (directory) {
  const run = Effect.gen(function* () {
    const { figures, attendance } = yield* MetricsHistory
    const begun = [...figures().hour]
    // In a second of its own: a node that restarts at once continues with the last point of the previous run.
    const isNew = (point = figures().hour.at(-1)) =>
      point !== undefined && point.at > (begun.at(-1)?.at ?? 0) && point.rounds > 0
    while (!isNew() || attendance.totals("hour").size === 0) yield* Effect.sleep("50 millis")
    return { begun, hour: [...figures().hour] }
  })
  const first = yield* Effect.provide(run, world.node(directory))
  expect(first.begun.length).toBeLessThanOrEqual(1)
  const second = yield* Effect.provide(run, world.node(directory))
  // The last point may have grown before the end.
  const complete = first.hour.slice(0, -1)
  expect(second.begun.slice(0, complete.length)).toEqual(complete)
  expect(second.hour.length).toBeGreaterThan(second.begun.length)
})
