/**
 * The statements of docs/operations/archive.md, and those of gateways, on tables so large that a full scan would be
 * slow.
 */
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { Effect, Redacted } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { sha256, toHex } from "#crypto"
import * as Migration from "../../src/archive/Migration.js"
import * as Postgres from "../../src/archive/Postgres.js"
import { PARTITION_COMMITS, PARTITIONED } from "../../src/archive/Schema.js"
import * as ArchiveHandlers from "../../src/gateway/ArchiveHandlers.js"
import * as Checkpoints from "../../src/gateway/Checkpoints.js"
import * as FinalizedDag from "../../src/gateway/FinalizedDag.js"
import * as FinalizedTransactions from "../../src/gateway/FinalizedTransactions.js"
import * as RecordCache from "../../src/gateway/RecordCache.js"
import * as Search from "../../src/gateway/Search.js"
import * as TransactionList from "../../src/gateway/TransactionList.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Filter } from "../../src/rpc/handlers/Transactions.js"
import * as Rest from "../support/Rest.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"
import * as Server from "./Server.js"

const page = readFileSync("docs/operations/archive.md", "utf8")

const statements = [...page.matchAll(/^([^\n]+):\n\n```sql\n([\s\S]*?)```/gm)].map(([, what = "", sql = ""]) => [
  what,
  sql,
])

/**
 * Rows of each large table. A plan that reads this many rows counts as a scan. With UDG_ARCHIVE_ROWS=10000000 the test
 * prints how long each statement takes.
 */
const ROWS = Number(process.env["UDG_ARCHIVE_ROWS"] ?? 40_000)
const LAST = 2 * PARTITION_COMMITS - 1
const ACCOUNTS = Math.ceil(ROWS / 20)
const MINUTES = Math.ceil(ROWS / 40_000)

const fill = (rows: number): ReadonlyArray<string> => {
  // Spread over two partitions.
  const index = `(i * ${LAST}::bigint / ${rows})`
  const hash = "sha256(int8send(i))"
  const address = `substr(sha256(int8send(i % ${ACCOUNTS})), 1, 20)`
  const from = `from generate_series(1, ${rows}) i`
  const commits = `from (select distinct ${index} as i from generate_series(0, ${rows}) i) c`
  return [
    "insert into network values (true, '', '')",
    `insert into position values (true, ${LAST}, '', '', ${rows})`,
    `insert into commits select i, i / 240, i, ${hash}, ${hash}, ${hash}, to_timestamp(1.7e9 + i), ${hash}, 0, 1, 1 ${commits}`,
    `insert into vertices select i, 0, ${hash}, i / 240, i, substr(${hash}, 1, 20), to_timestamp(1.7e9 + i), 0, 1, '' ${commits}`,
    `insert into transactions select ${index}, i, ${hash}, 0, 0, (array['Transfer','StakeTx','VoteTx'])[1 + i % 3],
      ${address}, i, null, i, 1, null, null, null,
      case when i % 5000 = 0 then 'rare' when i % 50 = 0 then 'rent october ' || i else '' end,
      decode(repeat(md5(i::text), 11), 'hex'), i + 1 ${from}`,
    `insert into account_history select ${address}, ${index}, i ${from}`,
    `insert into account_postings select ${address}, ${index}, 'reward', i, 1, null, now(), now(), i ${from}`,
    `insert into account_states select ${address}, ${index}, i, 0, '' ${from} on conflict do nothing`,
    // A thousand accounts have the same balance.
    `insert into accounts select substr(sha256(int8send(i)), 1, 20), ${index}, i / 1000, 0, '', i % 10 = 0,
      case when i % 10 = 0 then 'n' || i end, null, case when i % 10 = 0 then substr(sha256(int8send(i / 10 % 100)), 1, 20) end ${from}`,
    `insert into epochs select i, '', repeat('x', 1000)::bytea from generate_series(1, ${LAST} / 240) i`,
    `insert into records select 10, int8send(i), ${index}, '' ${from}`,
    `insert into record_states select 10, int8send(i), ${index}, null ${from}`,
    `insert into checkpoints select i * 50, i / 5, ${hash}, i % 5 = 0, '' from generate_series(1, ${ROWS}) i`,
    `insert into hours select i, 1, 1, 1, 0, 0, 0 from generate_series(1, 90000) i`,
    "analyze",
  ]
}

/** Scans of whole tables that grow. `position` has one row. */
const scansOf = (plan: string): ReadonlyArray<string> =>
  [...plan.matchAll(/Seq Scan on (\w+)/g)].map(([, table = ""]) => table).filter((table) => table !== "position")

/** The indexes that a plan reads, each once, named after the index of the partitioned table. */
const indexesOf = (plan: string): string =>
  [
    ...new Set(
      [...plan.matchAll(/(?:using|Bitmap Index Scan on) (\w+)/g)].map(([, index = ""]) => index.replace(/_\d+_/, "_")),
    ),
  ].join()

/** PostgreSQL's planning and execution time in milliseconds. */
const timeOf = (plan: string): number =>
  [...plan.matchAll(/(?:Planning|Execution) Time: ([\d.]+) ms/g)].reduce((sum, [, ms]) => sum + Number(ms), 0)

/** An account with twenty rows in the large tables, and a transaction with the same hash. */
const KNOWN = sha256(Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 7))
const address = KNOWN.subarray(0, 20)
const NEWEST = Number.MAX_SAFE_INTEGER

/** A statement of the page, with this account and transaction in place of its placeholders. */
const ofKnown = (sql: string): string =>
  sql.replace(/'\\x0+ff'/g, (literal) => `'\\x${toHex(KNOWN).slice(0, literal.length - 4)}'`)

/** A gateway's statements with their arguments. */
const asked: ReadonlyArray<readonly [what: string, text: string, values: ReadonlyArray<Postgres.Value>]> = [
  ["balances after changes", ArchiveHandlers.CHANGES, [address, NEWEST, 101]],
  ["balances in steps", ArchiveHandlers.STEPS, [address, NEWEST, 101, Math.ceil(LAST / 101)]],
  ["the richest", ArchiveHandlers.RICHEST, [NEWEST, new Uint8Array(), 101]],
  ["accounts as rich as others", ArchiveHandlers.RICHEST, [Math.floor(ROWS / 2_000), address, 101]],
  ["statistics by hour", ArchiveHandlers.HOURS, [60_000, 500]],
  ["statistics by day", ArchiveHandlers.DAYS, [60_000, 500]],
  ["a transaction", FinalizedTransactions.BY_HASH, [KNOWN]],
  ["a history", FinalizedTransactions.HISTORY, [address, NEWEST, 101]],
  ["names that begin so", Search.NAMES, ["ali", "ali~", 5]],
  ["accounts that begin with digits", Search.ADDRESSES, [address.subarray(0, 2), address, 5]],
  ["transactions that begin with digits", Search.TRANSACTIONS, [KNOWN.subarray(0, 2), KNOWN, 5]],
  ["vertices that begin with digits", Search.VERTICES, [KNOWN.subarray(0, 2), KNOWN, 5]],
  ["a round", FinalizedDag.ROUND, [1_000]],
  ["checkpoints", FinalizedDag.LISTED, [NEWEST, 51]],
  ["checkpoints that closed an epoch", FinalizedDag.CLOSING, [NEWEST, 51]],
  ["whether a round made a checkpoint", Checkpoints.COMMIT_OF, [1_000]],
  ["records that changed", RecordCache.CHANGED_RECORDS, [LAST - 3, [2, 3]]],
  ["accounts that changed", RecordCache.CHANGED_ACCOUNTS, [LAST - 3]],
  ["which records are gone", RecordCache.GONE, [LAST - 3, [2, 3]]],
  ["whether an account is", RecordCache.EMPTIED, [LAST - 3]],
  ["postings", FinalizedTransactions.POSTINGS, [address, NEWEST, "reward", 0, 101]],
]

const FIRST_TIME = 1_700_000_000_000
const middle = FIRST_TIME + 500 * LAST

const filters: ReadonlyArray<readonly [what: string, filter: Filter, found: number]> = [
  ["all", {}, 101],
  ["of a type", { type: "StakeTx" }, 101],
  ["of a type that nothing has", { type: "UnstakeTx" }, 0],
  ["of a time", { from: Natural.timestamp(middle), until: Natural.timestamp(middle + 3_600_000) }, 101],
  ["of a type and a time", { type: "VoteTx", until: Natural.timestamp(middle) }, 101],
  ["with a common word", { words: "rent" }, 101],
  ["with a rare word", { words: "rare" }, Math.min(101, ROWS / 5_000)],
  ["with a word that nothing has", { words: "nothing" }, 0],
  ["with two words of which one is rare", { words: `october ${ROWS - 50}` }, 1],
  ["with common words that are never together", { words: "rent rare" }, 0],
  ["with a common word of a type", { words: "rent", type: "VoteTx" }, 101],
  ["with a common word of a time", { words: "rent", until: Natural.timestamp(middle) }, 101],
]

/** Random keys go into indexes larger than PostgreSQL's default buffers. */
const MEASURED_SETTINGS = ["shared_buffers=2GB", "max_wal_size=16GB", "full_page_writes=off", "autovacuum=off"]
const IS_MEASURED = process.env["UDG_ARCHIVE_ROWS"] !== undefined

const ANSWERS = Rest.of("PostgreSQL and a hundred thousand rows", "a question to an archive")

describe.skipIf(!Server.isThere && process.env["CI"] === undefined)(ANSWERS, () => {
  let server: Server.Server
  let database = ""

  beforeAll(async () => {
    server = await Server.make(IS_MEASURED ? MEASURED_SETTINGS : [])
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
  }, 120_000 * MINUTES)
  afterAll(() => server.remove())

  /** Returns the rows, and fails if the plan scans a large table. */
  const explained = async (what: string, text: string, values: ReadonlyArray<Postgres.Value> = []) => {
    const explain = async () => (await Server.query(database, `explain (analyze) ${text}`, values)).flat().join("\n")
    const plan = await explain()
    expect(scansOf(plan), plan).toEqual([])
    const rows = await Server.query(database, text, values)
    if (IS_MEASURED) {
      // The first run reads from the disk, the second from memory.
      const times = [plan, await explain()].map((plan) => `${timeOf(plan).toFixed(1)} ms`)
      process.stdout.write(`${what}: ${rows.length} rows, ${times.join(", again ")}, ${indexesOf(plan)}\n`)
    }
    return rows
  }

  it.each(statements)("reads no large table entirely: %s", async (what, sql) => {
    await explained(what, ofKnown(sql))
  })

  it.each(asked)("reads no large table entirely for a gateway: %s", async (...question) => {
    await explained(...question)
  })

  it.each(filters)("reads no large table entirely for a gateway: transactions %s", async (what, filter, count) => {
    const sql: Postgres.Statements = {
      rows: (text, values) => Effect.promise(() => explained(`transactions ${what}`, text, values)),
    }
    const found = await Effect.runPromise(
      TransactionList.latest(sql, FinalizedTransactions.withFound, filter, null, 101),
    )
    const sequences = found.map(([sequence]) => Number(sequence))
    expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => b - a))
    expect(sequences.length).toBe(count)
  })

  it("orders an account's earnings in the same commits by kind, like a node and its cursors", async () => {
    const until = LAST - 1
    for (const kind of ["reward", "fees", "council"])
      await Server.query(
        database,
        `insert into account_postings values ($1, $2, '${kind}', 0, 1, null, now(), now(), 1)`,
        [address, until],
      )
    const kindsBefore = async (kind: string) => {
      const rows = await Server.query(database, FinalizedTransactions.POSTINGS, [address, until, kind, 1, 101])
      return rows.filter(([found]) => Number(found) === until).map(([, kind]) => kind)
    }
    expect(await kindsBefore("council")).toEqual(["council", "fees", "reward"])
    expect(await kindsBefore("fees")).toEqual(["fees", "reward"])
  })

  it.runIf(IS_MEASURED)("can be dumped and restored", { timeout: 120_000 * MINUTES }, async () => {
    const folder = TemporaryFolder.forTest("dump")
    const timed = async (act: () => Promise<void>): Promise<string> => {
      const began = performance.now()
      await act()
      return `${((performance.now() - began) / 1_000).toFixed(0)} s`
    }
    const [[megabytes] = []] = await Server.query(database, "select pg_database_size(current_database()) / 1048576")
    const dumped = join(folder, "dump")
    const dumpedIn = await timed(() => Server.dump(database, dumped))
    const files = readdirSync(dumped).reduce((sum, file) => sum + statSync(join(dumped, file)).size, 0)
    const restored = await server.create("restored")
    const restoredIn = await timed(() => Server.restore(dumped, restored))
    const rows = (url: string) =>
      Promise.all(PARTITIONED.map((table) => Server.query(url, `select count(*) from ${table}`)))
    expect(await rows(restored)).toEqual(await rows(database))
    process.stdout.write(
      `${ROWS} transactions, ${megabytes} MB: dumped in ${dumpedIn} into ${(files / 1_048_576).toFixed(0)} MB, restored in ${restoredIn}\n`,
    )
  })

  it("is on the page with a result", async () => {
    expect(statements.length).toBe(7)
    const history = statements.find(([what]) => what?.includes("history"))?.[1] ?? ""
    const rows = await Server.query(database, ofKnown(history).replace("200000", String(ROWS)))
    expect(rows.length).toBe(20)
    expect(rows[0]?.[0]).toBe("Transfer")
  })
})
