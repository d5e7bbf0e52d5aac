import { it } from "@effect/vitest"
import { Effect } from "effect"
import { describe, expect } from "vitest"
import * as NodeSchema from "../../src/storage/schema/Node.js"
import * as SignedSchema from "../../src/storage/schema/Signed.js"
import * as SignerSchema from "../../src/storage/schema/Signer.js"
import * as Database from "../../src/storage/sqlite/Database.js"
import type { Migration } from "../../src/storage/sqlite/Migration.js"
import { textOf } from "../docs/Pages.js"
import { withDirectory, withPlatform } from "./withStorage.js"
import * as world from "./world.js"

const history: ReadonlyArray<Migration> = [
  { version: 1, statements: "create table things (name text not null) strict;\ninsert into things values ('one');\n" },
  { version: 2, statements: "alter table things add column size integer;\n" },
  { version: 3, statements: "update things set size = 3;\n" },
]

const opened = (file: string, migrations: ReadonlyArray<Migration>) =>
  Effect.scoped(
    Effect.flatMap(world.open({ file, durability: "process", migrations }), (database) =>
      database.read((sql) =>
        Effect.all([
          sql`pragma user_version`.values,
          sql.text(`select ${migrations.length > 1 ? "name, size" : "name"} from things`).values,
        ]),
      ),
    ),
  )

describe("the schema", () => {
  withDirectory("goes from every version to the newest, each step once", function* (path) {
    const file = `${path}/a.db`
    expect(yield* opened(file, history.slice(0, 1))).toEqual([[[1]], [["one"]]])
    expect(yield* opened(file, history)).toEqual([[[3]], [["one", 3]]])
    expect(yield* opened(file, history)).toEqual([[[3]], [["one", 3]]])
    expect(yield* opened(`${path}/b.db`, history)).toEqual([[[3]], [["one", 3]]])
  })

  withPlatform("stays at the version before a step that fails, without any part of that step", function* () {
    const file = `${yield* world.temporaryDirectory}/a.db`
    const broken = { version: 2, statements: "delete from things;\nupdate absent set name = '';\n" }
    const refused = yield* Effect.flip(opened(file, [...history.slice(0, 1), broken]))
    expect(refused.message).toContain("no such table: absent")
    expect(yield* opened(file, history.slice(0, 1))).toEqual([[[1]], [["one"]]])
  })

  it.effect("describes the purpose of every table", () =>
    Effect.gen(function* () {
      for (const { migrations } of [NodeSchema, SignedSchema, SignerSchema]) {
        expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, n) => n + 1))
        const database = yield* Database.openInMemory(migrations)
        const tables = yield* database.read(
          (sql) => sql`select sql from sqlite_schema where type = 'table' and name not like 'sqlite_%'`.values,
        )
        expect(tables.length).toBeGreaterThan(2)
        for (const [text] of tables) {
          expect(text).toMatch(/^create table "?\w+"? \(\n {2}-- [A-Z].{20,}/i)
          const [, name] = /^create table "?(\w+)/i.exec(String(text)) ?? []
          expect(textOf("docs/storage.md")).toMatch(new RegExp(`^\\|.*\`${name}\``, "m"))
        }
      }
    }).pipe(Effect.scoped),
  )

  withDirectory(
    "has the columns operators rely on: accounts by address in hex, with an integer balance",
    function* (path) {
      yield* world.inDirectory(path, (storage) =>
        storage.append([
          { _tag: "Commit", batch: world.batch(0, { changes: [world.account(1, 2_100_000_000_000_000)] }) },
        ]),
      )
      expect(yield* world.sqlite(`${path}/udg.db`, "select address, balance, typeof(balance) from accounts")).toEqual([
        [world.address(1), 2_100_000_000_000_000, "integer"],
      ])
      const columns = yield* world.sqlite(`${path}/udg.db`, "select name, pk from pragma_table_info('accounts')")
      expect(columns).toEqual([
        ["address", 1],
        ["balance", 0],
        ["nonce", 0],
        ["extras", 0],
      ])
    },
  )
})
