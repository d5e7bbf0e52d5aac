import { createHash } from "node:crypto"
import { closeSync, openSync, readFileSync, truncateSync, writeFileSync, writeSync } from "node:fs"
import { it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { describe, expect } from "vitest"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import { DataDirectory } from "../../src/storage/files/DataDirectory.js"
import * as Storage from "../../src/storage/Storage.js"
import * as Rest from "../support/Rest.js"
import { loadOf } from "./processes/load.js"
import { given, withPlatform } from "./withStorage.js"
import * as world from "./world.js"

const FILES = ["udg.db", "signed.db"] as const
const PAGE = { "udg.db": 4_096, "signed.db": 1_024 } as const

const fingerprint = (path: string) =>
  FILES.map((file) =>
    createHash("sha256")
      .update(readFileSync(`${path}/${file}`))
      .digest("hex"),
  )

/** A closed directory with two commits. */
const filled = Effect.gen(function* () {
  const path = yield* world.temporaryDirectory
  yield* world.within(path, function* (storage) {
    for (const index of [1, 2]) {
      const { vertices, batch } = loadOf(index)
      yield* storage.append(world.inserted(vertices))
      yield* storage.append([{ _tag: "Commit", batch: batch }])
      for (const vertex of vertices.slice(0, 1)) yield* storage.signed.keep(vertex)
    }
  })
  return path
})

const withFilled = given(filled)

/** The reason for which opening is refused. Both files must stay byte for byte the same. */
const refusal = (path: string, genesis = world.genesis()) =>
  Effect.gen(function* () {
    const before = fingerprint(path)
    const refused = yield* Effect.flip(world.inDirectory(path, () => Effect.void, genesis))
    expect(fingerprint(path)).toEqual(before)
    expect(refused.message).not.toContain("\n")
    return refused
  })

describe("opening is refused, and nothing changed, when", () => {
  withPlatform("a newer program wrote the database", function* () {
    for (const file of FILES) {
      const path = yield* filled
      yield* world.sqlite(`${path}/${file}`, "pragma user_version = 999")
      const refused = yield* refusal(path)
      expect(refused._tag).toBe("NewerSchema")
      expect(refused.message).toContain(`${file} has schema 999, this program knows up to `)
    }
  })

  withFilled("it belongs to another network", function* (path) {
    const other = world.genesis("udg-other" as NetworkId)
    const refused = yield* refusal(path, other)
    expect(refused._tag).toBe("OtherGenesis")
    expect(refused.message).toContain(Genesis.hash(world.genesis()))
    expect(refused.message).toContain(Genesis.hash(other))
  })

  withFilled("it is not a database, or another program's", function* (path) {
    yield* world.sqlite(`${path}/udg.db`, "pragma application_id = 1")
    expect((yield* refusal(path)).message).toContain("another program's database")
    writeFileSync(`${path}/udg.db`, "hello ".repeat(2_000))
    expect((yield* refusal(path))._tag).toBe("DatabaseDamaged")
  })

  // A node used to start on them, and to die of the first commit that needed the missing parts.
  withPlatform("its schema differs from the one of its version", function* () {
    const changes = [
      ["drop table account_history", "its schema has no table account_history"],
      [
        "alter table transaction_packs rename column bytes to other",
        "its schema has no table transaction_packs bytes blob",
      ],
      ["drop index commits_by_epoch", "its schema has no index commits_by_epoch"],
      ["pragma user_version = 0", "the version of its schema is lost"],
    ] as const
    for (const [change, finding] of changes) {
      const path = yield* filled
      yield* world.sqlite(`${path}/udg.db`, change)
      const refused = yield* refusal(path)
      expect(refused._tag).toBe("DatabaseDamaged")
      expect(refused.message.toLowerCase()).toContain(`udg.db is damaged: ${finding}`)
    }
    const path = yield* filled
    yield* world.sqlite(`${path}/udg.db`, "create index of_an_operator on earlier_transactions (type)")
    yield* world.inDirectory(path, (storage) => storage.commits.last)
  })

  // A node used to start without them, and to stop with a stack trace when it needed the vertex.
  withFilled("the bytes of a vertex are missing", function* (path) {
    yield* world.sqlite(`${path}/udg.db`, "delete from vertex_bytes where vertex_id = (select max(id) from vertices)")
    const refused = yield* refusal(path)
    expect(refused._tag).toBe("DatabaseDamaged")
    expect(refused.message).toMatch(/udg\.db is damaged: the bytes of a vertex of round \d+ are missing/)
  })

  withFilled("the transactions of a vertex are missing, recorded or not", function* (path) {
    const vertices = [8, 9].map((round) => world.vertex({ round, transactions: [world.transfer(1, 2, round)] }))
    const [ordered = expect.fail()] = vertices
    yield* world.inDirectory(path, (storage) =>
      Effect.zipRight(
        storage.append(world.inserted(vertices)),
        storage.append([{ _tag: "Commit", batch: world.batch(99, { vertices: [world.ordered(ordered)] }) }]),
      ),
    )
    for (const table of ["vertex_transactions", "transaction_packs"]) {
      yield* world.sqlite(`${path}/udg.db`, `delete from ${table} where rowid = (select max(rowid) from ${table})`)
      const refused = yield* refusal(path)
      expect(refused._tag).toBe("DatabaseDamaged")
      expect(refused.message).toMatch(/udg\.db is damaged: the transactions of a vertex of round \d+ are missing/)
    }
  })

  withFilled("the end of the file is missing", function* (path) {
    truncateSync(`${path}/udg.db`, readFileSync(`${path}/udg.db`).length - PAGE["udg.db"] * 3)
    expect((yield* refusal(path))._tag).toBe("DatabaseDamaged")
  })

  /** Damages up to this many pages of each file. */
  const isRefusedWithAnother = (most: number) =>
    Effect.gen(function* () {
      const path = yield* filled
      const remedies = { "udg.db": "restore a backup", "signed.db": "do not restore a copy" } as const
      for (const file of FILES) {
        const pageBytes = PAGE[file]
        const whole = readFileSync(`${path}/${file}`)
        const pages = whole.length / pageBytes
        // Free pages are never read.
        const used = new Set((yield* world.sqlite(`${path}/${file}`, "select pageno - 1 from dbstat")).flat())
        const step = Math.ceil(pages / most)
        for (let page = 0; page < pages; page += step) {
          if (!used.has(page)) continue
          const noise = Buffer.concat(
            Array.from({ length: pageBytes / 32 }, (_, n) => createHash("sha256").update(`${page} ${n}`).digest()),
          )
          const descriptor = openSync(`${path}/${file}`, "r+")
          writeSync(descriptor, noise, 0, pageBytes, page * pageBytes)
          closeSync(descriptor)
          const refused = yield* refusal(path)
          expect([page, refused._tag]).toEqual([page, "DatabaseDamaged"])
          expect(refused.message).toContain(`${file} is damaged`)
          // A node with an old copy of signed.db would sign twice.
          expect(/restore a backup|do not restore a copy/.exec(refused.message)?.[0]).toBe(remedies[file])
          writeFileSync(`${path}/${file}`, whole)
        }
      }
      yield* world.inDirectory(path, (storage) => storage.commits.last)
    }).pipe(Effect.provide(world.platform))

  it.scopedLive("a page of either file is overwritten", () => isRefusedWithAnother(6))
  it.scopedLive(Rest.of("more pages", "any single page of either file is overwritten"), () => isRefusedWithAnother(40))
})

describe("the genesis of a directory", () => {
  withFilled("is known from its database, and unknown without one", function* (path) {
    const kept = yield* Effect.scoped(Effect.flatMap(DataDirectory.open(path), Storage.genesisOf))
    expect(kept).toEqual(Option.some(world.genesis()))
    const empty = yield* world.temporaryDirectory
    expect(yield* Effect.scoped(Effect.flatMap(DataDirectory.open(empty), Storage.genesisOf))).toEqual(Option.none())
  })
})
