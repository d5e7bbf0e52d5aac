import { it } from "@effect/vitest"
import { Effect, Exit, Fiber, Option } from "effect"
import { describe, expect } from "vitest"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sql from "../../src/storage/sqlite/Sql.js"
import * as CommitBatch from "../../src/storage/tables/CommitBatch.js"
import * as EventLoop from "../../src/turns/EventLoop.js"
import { withStorage } from "./withStorage.js"
import * as world from "./world.js"

const commits = [
  world.commit(0, { epoch: 0, leaderRound: 0 }),
  world.commit(1, { epoch: 1, leaderRound: 3 }),
  world.commit(2, { epoch: 1, leaderRound: 4 }),
  world.commit(3, { epoch: 2, leaderRound: 9 }),
]

describe("the commits", () => {
  withStorage("are absent at first, and then found by index, by epoch and as the last", function* (storage) {
    expect(yield* storage.commits.last).toEqual(Option.none())
    for (const commit of commits) yield* storage.append([{ _tag: "Commit", batch: world.batch(0, { commit }) }])
    expect(yield* storage.commits.last).toEqual(Option.some(commits[3]))
    expect(yield* storage.commits.at(Natural.commitIndex(2))).toEqual(Option.some(commits[2]))
    expect(yield* storage.commits.at(Natural.commitIndex(4))).toEqual(Option.none())
    expect(yield* storage.commits.from(Natural.commitIndex(1), 2)).toEqual(commits.slice(1, 3))
    expect(yield* storage.commits.ofEpoch(Natural.epoch(1))).toEqual(commits.slice(1, 3))
  })

  withStorage("are found by round and epoch, however many are missing in between", function* (storage) {
    const since = (round: number, epoch: number) =>
      Effect.map(storage.commits.firstSince(Natural.round(round), Natural.epoch(epoch)), Option.getOrNull)
    expect(yield* since(0, 0)).toBe(null)
    const indexes = [0, 1, 2, 10, 11, 40]
    for (const index of indexes) {
      const commit = world.commit(index, { epoch: index < 11 ? 1 : 3, leaderRound: index * 2 })
      yield* storage.append([{ _tag: "Commit", batch: world.batch(0, { commit }) }])
    }
    for (const round of [0, 1, 2, 4, 5, 20, 21, 22, 23, 80, 81])
      expect(yield* since(round, 9)).toBe(indexes.find((index) => index * 2 >= round) ?? null)
    expect(yield* since(99, 1)).toBe(0)
    expect(yield* since(99, 2)).toBe(11)
    expect(yield* since(21, 3)).toBe(11)
    expect(yield* since(4, 3)).toBe(2)
    expect(yield* since(99, 4)).toBe(null)
  })

  withStorage("are written once: the second of an index changes nothing", function* (storage) {
    yield* storage.append([{ _tag: "Commit", batch: world.batch(1, { changes: [world.account(1, 1)] }) }])
    const again = yield* Effect.exit(
      storage.append([
        { _tag: "Commit", batch: world.batch(1, { changes: [world.account(1, 2), world.account(2, 2)] }) },
      ]),
    )
    expect(Exit.isFailure(again)).toBe(true)
    const balances: Array<number> = []
    yield* storage.accounts.load((page) => balances.push(...page.map(({ balance }) => balance)))
    expect(balances).toEqual([1])
  })

  withStorage("do not order a vertex that is missing or already ordered", function* (storage) {
    const vertex = world.vertex({ round: 1 })
    const ordering = world.batch(1, { changes: [world.account(1, 1)], vertices: [world.ordered(vertex)] })
    expect(Exit.isFailure(yield* Effect.exit(storage.append([{ _tag: "Commit", batch: ordering }])))).toBe(true)
    expect(yield* storage.commits.last).toEqual(Option.none())
    expect(yield* storage.accounts.count).toBe(0)
    yield* storage.append(world.inserted([vertex]))
    yield* storage.append([{ _tag: "Commit", batch: ordering }])
    const twice = world.batch(2, { vertices: [world.ordered(vertex)] })
    expect(Exit.isFailure(yield* Effect.exit(storage.append([{ _tag: "Commit", batch: twice }])))).toBe(true)
    expect(Option.map(yield* storage.commits.last, ({ index }) => index)).toEqual(Option.some(1))
  })

  withStorage("are dropped when they are old and none of their transactions is still recorded", function* (storage) {
    const paid = world.vertex({ round: 3, transactions: [world.transfer(1, 2, 0)] })
    yield* storage.append(world.inserted([paid]))
    for (let index = 0; index < 9; index++) {
      const vertices = index === 3 ? [world.ordered(paid)] : []
      const epoch = index < 7 ? 1 : 2
      const commit = world.commit(index, { epoch, leaderRound: 1 + index })
      yield* storage.append([{ _tag: "Commit", batch: world.batch(index, { commit, vertices }) }])
    }
    const kept = Effect.map(storage.commits.from(Natural.commitIndex(0), 100), (commits) =>
      commits.map(({ index }) => Number(index)),
    )
    const prune = (beforeRound: number, beforeEpoch: number) =>
      storage.commits.prune({
        beforeRound: Natural.round(beforeRound),
        beforeEpoch: Natural.epoch(beforeEpoch),
        limit: 2,
      })
    expect(yield* prune(6, 2)).toBe(true)
    expect(yield* kept).toEqual([0, 3, 4, 5, 6, 7, 8])
    expect(yield* prune(6, 2)).toBe(true)
    expect(yield* kept).toEqual([0, 3, 5, 6, 7, 8])
    expect(yield* prune(6, 2)).toBe(false)
    expect(yield* prune(100, 2)).toBe(true)
    expect(yield* prune(100, 2)).toBe(false)
    expect(yield* kept).toEqual([0, 3, 7, 8])
    expect(Option.isSome(yield* storage.transactions.byId(world.transfer(1, 2, 0).id))).toBe(true)
  })

  withStorage("yield to others while a large one is written", function* (storage) {
    let turns = 0
    let ticking = true
    const tick = (): void => {
      turns++
      if (ticking) setImmediate(tick)
    }
    const changes = Array.from({ length: 20_000 }, (_, n) => world.account(n, n + 1))
    setImmediate(tick)
    yield* storage.append([{ _tag: "Commit", batch: world.batch(0, { changes }) }])
    ticking = false
    expect(turns).toBeGreaterThanOrEqual(36)
  })

  it.live("are read in parts, and yield to others between them", () =>
    Effect.gen(function* () {
      const vertex = world.vertex({
        round: 1,
        transactions: Array.from({ length: 5_000 }, (_, n) => world.transfer(1, 2, n)),
      })
      const batch = world.batch(1, {
        changes: Array.from({ length: 20_000 }, (_, n) => world.account(n, n + 1)),
        vertices: [world.ordered(vertex)],
      })
      let values = 0
      let most = 0
      let ticking = true
      const tick = (): void => {
        most = Math.max(most, values)
        values = 0
        if (ticking) setImmediate(tick)
      }
      setImmediate(tick)
      yield* CommitBatch.write(
        Sql.over({
          add: (_, given) => {
            values += given.length
          },
          ask: (text) => Effect.succeed(text.includes("count(*)") ? [[1]] : [[0, 0]]),
        }),
        batch,
      )
      ticking = false
      expect(most).toBeGreaterThan(4_000)
      expect(Math.max(most, values)).toBeLessThan(20_000)
    }),
  )

  withStorage("are never seen in part, also where reads and writes share one connection", function* (storage) {
    const changes = Array.from({ length: 20_000 }, (_, n) => world.account(n, n + 1))
    const counts: Array<number> = []
    const writing = yield* Effect.fork(storage.append([{ _tag: "Commit", batch: world.batch(0, { changes }) }]))
    while (Option.isNone(yield* Fiber.poll(writing))) {
      counts.push(yield* storage.accounts.count)
      yield* EventLoop.turn
    }
    counts.push(yield* storage.accounts.count)
    expect(counts.filter((count) => count !== 0 && count !== 20_000)).toEqual([])
    expect(counts.at(-1)).toBe(20_000)
  })
})
