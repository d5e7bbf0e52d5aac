/** `kill -9` during a migration: a real process with real files, killed before each statement in turn. */
import { spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs"
import { dirname } from "node:path"
import { it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { afterAll, beforeAll, describe, expect } from "vitest"
import * as NodeSchema from "../../src/storage/schema/Node.js"
import * as Bundle from "../support/Bundle.js"
import type { Fault } from "../support/Planting.js"
import * as Rest from "../support/Rest.js"
import { directory, first, second, transactionsOf, VERSION, withFourthVersion } from "./FourthVersion.js"
import * as world from "./world.js"

const NEWEST = NodeSchema.migrations.length
const KILL = 'process.kill(process.pid, "SIGKILL")'

/** UDG_KILL_AT names the statement of the writer thread, or the step of the copy, at which the process dies. */
const kills: Fault = {
  name: "killed",
  changes: [
    {
      file: "src/storage/sqlite/WriterProgram.ts",
      of: "File.perform",
      call: "this.#statement",
      by: `(number) => {
        const left = Number(Reflect.get(globalThis, "statementsLeft") ?? process.env["UDG_KILL_AT"])
        if (left === 0) ${KILL}
        Reflect.set(globalThis, "statementsLeft", left - 1)
        return this.#statement(number)
      }`,
    },
    {
      file: "src/storage/Backup.ts",
      of: "beforeMigration",
      call: "Database.copy",
      by: `(from, to) => {
        const whenBegun = \`until [ -s "\${to}" ]; do :; done; kill -9 \${process.pid}\`
        if (process.env["UDG_KILL_AT"] === "copying") process.getBuiltinModule("node:child_process").spawn("sh", ["-c", whenBegun])
        return Database.copy(from, to)
      }`,
    },
    {
      file: "src/storage/Backup.ts",
      of: "beforeMigration",
      call: "AtomicFile.place",
      by: `(from, to) => {
        if (process.env["UDG_KILL_AT"] === "copied") ${KILL}
        return AtomicFile.place(from, to)
      }`,
    },
  ],
}

let program = ""
beforeAll(async () => {
  const outfile = `storage-migrate-${process.pid}/migrate.mjs`
  program = await Bundle.make({ entry: "test/storage/processes/migrate.ts", outfile, fault: kills })
})
afterAll(() => rmSync(dirname(program), { recursive: true, force: true }))

const versionOf = (file: string) =>
  Effect.map(world.sqlite(file, "pragma user_version"), ([row = []]) => Number(row[0]))

/** Whether the process was killed; otherwise it must have ended normally. */
const isKilled = (path: string, at: string): boolean => {
  const { signal, status } = spawnSync(process.execPath, [program, path], {
    stdio: "inherit",
    env: { ...process.env, UDG_KILL_AT: at },
  })
  if (signal === null) expect(status).toBe(0)
  return signal === "SIGKILL"
}

/** Opens the directory with this program and checks that all data is there. */
const everything = (path: string) =>
  Effect.gen(function* () {
    const found = yield* world.within(path, function* (storage) {
      const transactions = transactionsOf(first, second)
      const places = yield* Effect.forEach(transactions, ({ id }) => storage.transactions.byId(id))
      expect(places.map(Option.map(({ transaction }) => transaction))).toEqual(transactions.map(Option.some))
      return yield* storage.vertices.byHash(second.header.hash)
    })
    expect(Option.map(found, ({ bytes }) => bytes)).toEqual(Option.some(second.encoded))
    const file = `${path}/udg.db`
    expect(yield* versionOf(file)).toBe(NEWEST)
    expect(yield* world.sqlite(file, "pragma integrity_check")).toEqual([["ok"]])
  })

/** Puts the copy in place of the database, like an operator who downgrades. */
const restoreCopy = (path: string, other: string): void => {
  mkdirSync(other, { mode: 0o700 })
  renameSync(`${path}/udg.db.schema-${VERSION}`, `${other}/udg.db`)
}

/** The version at which the kill left the database. Fails if data is lost. */
const survives = (origin: string, at: string) =>
  Effect.gen(function* () {
    const folder = yield* world.temporaryDirectory
    const [path, other] = [`${folder}/killed`, `${folder}/back`]
    cpSync(origin, path, { recursive: true })
    if (!isKilled(path, at)) return Option.none<number>()
    const version = yield* versionOf(`${path}/udg.db`)
    const isCopied = existsSync(`${path}/udg.db.schema-${VERSION}`)
    if (version > VERSION) expect(isCopied).toBe(true)
    yield* everything(path)
    restoreCopy(path, other)
    expect(yield* versionOf(`${other}/udg.db`)).toBe(VERSION)
    yield* everything(other)
    return Option.some(version)
  }).pipe(Effect.scoped)

/** The versions after kills before these statements, up to the first kill that comes too late. */
const afterKills = (statements: Iterable<number>) =>
  Effect.gen(function* () {
    const origin = yield* directory
    const versions: Array<number> = []
    for (const at of statements) {
      const version = yield* survives(origin, String(at))
      if (Option.isNone(version)) break
      versions.push(version.value)
    }
    return versions
  }).pipe(Effect.provide(world.platform))

function* all() {
  for (let n = 0; ; n++) yield n
}

describe(
  Rest.of(
    "processes that are killed",
    "a killed migration loses nothing, continues at the next start, and leaves a usable copy,",
  ),
  () => {
    withFourthVersion("killed while it copies, and with a whole copy that has no name yet", function* (origin) {
      yield* world.sqlite(
        `${origin}/udg.db`,
        `insert into account_history (address, sequence)
          with recursive numbers (n) as (select 1000 union all select n + 1 from numbers where n < 200000)
          select randomblob(32), n from numbers returning sequence`,
      )
      for (const at of ["copying", "copied"]) expect(yield* survives(origin, at)).toEqual(Option.some(VERSION))
    })

    it.scopedLive("killed in the middle", () =>
      Effect.map(afterKills([15, 30]), (versions) => expect(versions).toEqual([VERSION, VERSION + 1])),
    )

    it.scopedLive(
      "killed before each statement",
      () =>
        Effect.map(afterKills(all()), (versions) => {
          expect(versions).toEqual([...versions].sort())
          const each = Array.from({ length: NEWEST - VERSION + 1 }, (_, n) => VERSION + n)
          expect(new Set(versions)).toEqual(new Set(each))
        }),
      900_000,
    )
  },
)
