/** The statements of docs/operations/archive.md against tables so large that reading one in whole would be slow. */
import { readFileSync } from "node:fs"
import { Effect, Redacted } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Migration from "../../src/archive/Migration.js"
import * as Postgres from "../../src/archive/Postgres.js"
import { PARTITION_COMMITS, PARTITIONED } from "../../src/archive/Schema.js"
import * as Server from "./Server.js"

const page = readFileSync("docs/operations/archive.md", "utf8")

const statements = [...page.matchAll(/^([^\n]+):\n\n```sql\n([\s\S]*?)```/gm)].map(([, what = "", sql = ""]) => [
  what,
  sql,
])

/** Of each large table; a query that has to read this many would be planned as a scan. */
const ROWS = Number(process.env["UDG_ARCHIVE_ROWS"] ?? 40_000)

const fill = (rows: number): ReadonlyArray<string> => {
  const index = `(i * ${2 * PARTITION_COMMITS - 1}::bigint / ${rows})`
  const hash = "sha256(int8send(i))"
  const address = `substr(sha256(int8send(i % ${Math.ceil(rows / 20)})), 1, 20)`
  const from = `from generate_series(1, ${rows}) i`
  return [
    `insert into commits select ${index}, i / 240, i, ${hash}, ${hash}, ${hash}, to_timestamp(1.7e9 + i), ${hash}, 0, 1, 1 ${from}`,
    `insert into transactions select ${index}, i, ${hash}, 0, 0, (array['Transfer','StakeTx','VoteTx'])[1 + i % 3],
      ${address}, i, null, i, 1, null, null, null, case when i % 50 = 0 then 'rent october ' || i else '' end, '', i + 1 ${from}`,
    `insert into account_history select ${address}, ${index}, i ${from}`,
    `insert into account_postings select ${address}, ${index}, 'reward', i, 1, null, now(), now(), i ${from}`,
    `insert into account_states select ${address}, ${index}, i, 0, '' ${from} on conflict do nothing`,
    `insert into accounts select substr(sha256(int8send(i)), 1, 20), 0, i, 0, '', i % 10 = 0,
      case when i % 10 = 0 then 'n' || i end, null, case when i % 10 = 0 then substr(sha256(int8send(i % 100)), 1, 20) end ${from}`,
    "analyze",
  ]
}

describe.skipIf(!Server.isThere && process.env["CI"] === undefined)("a question to an archive", () => {
  let server: Server.Server
  let database = ""

  beforeAll(async () => {
    server = await Server.make()
    database = await server.create("plans")
    const migrate = Effect.scoped(Effect.flatMap(Postgres.open(Redacted.make(database)), Migration.run))
    // Twice, as at every start.
    await Effect.runPromise(Effect.zipRight(migrate, migrate))
    for (const table of PARTITIONED)
      for (const n of [0, 1])
        await Server.query(
          database,
          `create table ${table}_${n} partition of ${table}
            for values from (${n * PARTITION_COMMITS}) to (${(n + 1) * PARTITION_COMMITS})`,
        )
    for (const statement of fill(ROWS)) await Server.query(database, statement)
  }, 120_000)
  afterAll(() => server.remove())

  it.each(statements)("reads no large table in whole: %s", async (_, sql) => {
    const plan = (await Server.query(database, `explain (analyze) ${sql}`)).flat().join("\n")
    expect(plan).not.toContain("Seq Scan")
  })

  it("is on the page with an answer", async () => {
    expect(statements.length).toBe(10)
    const history = statements.find(([what]) => what?.includes("history"))?.[1] ?? ""
    const address = "substr(sha256(int8send(7)), 1, 20)"
    const rows = await Server.query(database, history.replace(/'\\x[0]+ff'/, address).replace("200000", "999999"))
    expect(rows.length).toBe(Math.min(50, 20))
    expect(rows[0]?.[0]).toBe("Transfer")
  })
})
