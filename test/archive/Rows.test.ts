import { Effect, Redacted } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { toHex } from "#crypto"
import * as Postgres from "../../src/archive/Postgres.js"
import { type Columns, type Row, Rows } from "../../src/archive/Rows.js"
import * as Server from "./Server.js"

const MAX = Number.MAX_SAFE_INTEGER

describe.skipIf(!Server.isThere && process.env["CI"] === undefined)("rows", { timeout: 60_000 }, () => {
  let server: Server.Server
  let database: string

  beforeAll(async () => {
    server = await Server.make()
    database = await server.create("rows")
    await Server.query(database, "create type posting_kind as enum ('genesis', 'reward')")
  })
  afterAll(() => server.remove())

  const write = <C extends Columns>(rows: Rows<C>) =>
    Effect.runPromise(
      Effect.scoped(Effect.flatMap(Postgres.open(Redacted.make(database)), (opened) => rows.write(opened))),
    )

  /** A table of one column with these cells, as PostgreSQL prints them. */
  const printed = async <C extends Columns>(type: string, columns: C, cells: ReadonlyArray<Row<C>>) => {
    await Server.query(database, "drop table if exists cells")
    await Server.query(database, `create table cells (id serial, cell ${type})`)
    const rows = new Rows("cells", columns)
    for (const cell of cells) rows.add(cell)
    await write(rows)
    return (await Server.query(database, "select cell::text from cells order by id")).map(([text]) => text)
  }

  const numbers = async (type: "bigint" | "integer" | "smallint" | "numeric", cells: ReadonlyArray<number>) =>
    expect(
      await printed(
        type,
        { cell: type },
        cells.map((cell) => ({ cell })),
      ),
    ).toEqual(cells.map(String))

  it("hold every integer of their columns exactly", async () => {
    const wide = [0, 1, -1, 255, 256, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, -(2 ** 32), -(2 ** 32) - 1, MAX, -MAX]
    await numbers("bigint", wide)
    await numbers("numeric", wide)
    await numbers("integer", [0, -1, 2 ** 31 - 1, -(2 ** 31)])
    await numbers("smallint", [0, -1, 32_767, -32_768])
  })

  it("refuse a number that is not a valid amount", () => {
    for (const cell of [0.5, Number.NaN, 2 ** 53])
      expect(() => new Rows("cells", { cell: "bigint" }).add({ cell })).toThrow(`expected an integer, got ${cell}`)
  })

  it("hold texts and bytes of any length, and null", async () => {
    // The first has more bytes than characters, and more than the initial buffer holds.
    const texts = [
      "☃".repeat(2_000),
      "",
      "Transfer",
      "naïve ☃ 🦊",
      'a "quoted", {braced} \\ text',
      "NULL",
      "x".repeat(5_000),
    ]
    expect(
      await printed("text", { cell: "text" }, [...texts.map((cell) => ({ cell })), { cell: null }, { cell: "\ud800" }]),
    ).toEqual([...texts, null, "\ufffd"])
    const bytes = [0, 1, 20, 32, 3_000].map((length) => Uint8Array.from({ length }, (_, i) => i % 256))
    const hex = bytes.map((cell) => `\\x${toHex(cell)}`)
    expect(await printed("bytea", { cell: "bytea" }, [...bytes.map((cell) => ({ cell })), { cell: null }])).toEqual([
      ...hex,
      null,
    ])
    expect(
      await printed(
        "bytea",
        { cell: "hex" },
        bytes.map((cell) => ({ cell: toHex(cell) })),
      ),
    ).toEqual(hex)
  })

  it("hold times to the millisecond, also before PostgreSQL's epoch, booleans, and kinds of postings", async () => {
    const moments = [-1, 0, Date.UTC(2000, 0, 1) - 1, Date.UTC(2026, 10, 26, 6, 10, 0, 1), Date.UTC(9999, 11, 31)]
    const cells = moments.map((cell) => ({ cell }))
    expect((await printed("timestamptz", { cell: "instant" }, cells)).map((text) => Date.parse(String(text)))).toEqual(
      moments,
    )
    expect(await printed("boolean", { cell: "boolean" }, [{ cell: true }, { cell: false }])).toEqual(["true", "false"])
    expect(await printed("posting_kind", { cell: "postingKind" }, [{ cell: "reward" }])).toEqual(["reward"])
  })

  it("hold thousands of each kind", async () => {
    const count = 3_000
    const all = Array.from({ length: count }, (_, i) => i)
    const of = async <C extends Columns>(type: string, columns: C, row: (i: number) => Row<C>) =>
      (await printed(type, columns, all.map(row))).map(String)
    for (const type of ["bigint", "integer", "smallint", "numeric"] as const)
      expect(await of(type, { cell: type }, (cell) => ({ cell }))).toEqual(all.map(String))
    expect(await of("text", { cell: "text" }, (i) => ({ cell: `text ${i}` }))).toEqual(all.map((i) => `text ${i}`))
    const hex = all.map((i) => toHex(Uint8Array.of(i >> 8, i & 255)))
    expect(await of("bytea", { cell: "hex" }, (i) => ({ cell: hex[i] ?? "" }))).toEqual(hex.map((one) => `\\x${one}`))
    expect(await of("bytea", { cell: "bytea" }, (i) => ({ cell: Uint8Array.of(i >> 8, i & 255) }))).toEqual(
      hex.map((one) => `\\x${one}`),
    )
    expect(await of("boolean", { cell: "boolean" }, (i) => ({ cell: i % 3 === 0 }))).toEqual(
      all.map((i) => String(i % 3 === 0)),
    )
    expect((await of("timestamptz", { cell: "instant" }, (cell) => ({ cell }))).map(Date.parse)).toEqual(all)
  })

  it("write each cell into its named column, and replace existing rows on request", async () => {
    await Server.query(database, "create table named (a bigint primary key, b text, c bigint)")
    const columns = { c: "bigint", a: "bigint", b: "text" } as const
    const first = new Rows("named", columns)
    first.add({ a: 1, b: "one", c: 10 })
    first.add({ a: 2, b: null, c: null })
    await write(first)
    const second = new Rows("named", columns, "on conflict (a) do update set b = excluded.b, c = named.c + excluded.c")
    second.add({ a: 1, b: "uno", c: 5 })
    await write(second)
    await write(new Rows("named", columns))
    expect(await Server.query(database, "select * from named order by a")).toEqual([
      ["1", "uno", "15"],
      ["2", null, null],
    ])
  })
})
