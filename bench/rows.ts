/**
 * What a row of an index costs when there are many: looking up transactions by their hash, and accounts' histories. Tables of
 * ten million rows, grown in no order, to which commits of a thousand transactions add theirs. Runs for some minutes, and
 * only when asked for by name; `UDG_ROWS` says how many rows.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { randomBytes } from "#crypto"
import { Sqlite } from "../src/storage/sqlite/Driver.js"
import type { Figure, Suite } from "./Harness.js"

const ROWS = Number(process.env["UDG_ROWS"] ?? 10_000_000)
/** Sorted, so that the rows before come quickly; as many as leave pages as full as rows in no order do. */
const PORTIONS = 10
const COMMITS = 100
const TRANSFERS = 1_000
const ACCOUNTS = 100_000

type Database = InstanceType<typeof Sqlite>
type Row = readonly [key: number | Uint8Array, sequence: number]

interface Table {
  readonly name: string
  readonly create: string
  /** The key of a transaction or of an account in the row of the number n, in SQL. */
  readonly key: string
  /** Rows of the transactions from this sequence on. */
  readonly rows: (sequence: number) => ReadonlyArray<Row>
  readonly perTransfer: number
  readonly isSorted?: true
  /** Rows wait in a small table until there are so many, and go to the large one together, sorted. */
  readonly deferred?: number
}

const WITHOUT_ROWID = "primary key (key, sequence)) strict, without rowid"
const byNumber = `create table rows (key integer not null, sequence integer not null, ${WITHOUT_ROWID}`
const byBytes = `create table rows (key blob not null, sequence integer not null, ${WITHOUT_ROWID}`

const random48 = (): number => Buffer.from(randomBytes(6)).readUIntBE(0, 6)
const HASH_48 = "random() & 0xffffffffffff"

/** Like an address: the same for the same number. */
const addressOf = (n: number): Uint8Array => {
  const bytes = Buffer.alloc(20)
  bytes.writeUInt32BE(Math.imul(n, 0x9e3779b1) >>> 0)
  return bytes
}
const numberOf = (n: number): number => (Math.imul(n, 0x9e3779b1) >>> 0) * 0x1_0000 + (n & 0xffff)
const anyAccount = (): number => Math.floor(Math.random() * ACCOUNTS)
const ACCOUNT = `abs(random()) % ${ACCOUNTS}`
const MIXED = `((${ACCOUNT}) * 2654435761 & 0xffffffff)`

const transactions =
  (keyOf: () => number | Uint8Array): Table["rows"] =>
  (sequence) =>
    Array.from({ length: TRANSFERS }, (_, n) => [keyOf(), sequence + n] as const)

const histories =
  (keyOf: (account: number) => number | Uint8Array): Table["rows"] =>
  (sequence) =>
    Array.from({ length: 2 * TRANSFERS }, (_, n) => [keyOf(anyAccount()), sequence + (n >> 1)] as const)

const TABLES: ReadonlyArray<Table> = [
  {
    name: "hash of 32 bytes",
    create: byBytes,
    key: "randomblob(32)",
    rows: transactions(() => randomBytes(32)),
    perTransfer: 1,
  },
  { name: "48 bits of the hash", create: byNumber, key: HASH_48, rows: transactions(random48), perTransfer: 1 },
  {
    name: "48 bits of the hash, a commit's rows sorted",
    create: byNumber,
    key: HASH_48,
    rows: transactions(random48),
    perTransfer: 1,
    isSorted: true,
  },
  {
    name: "48 bits of the hash, 50 000 rows at a time",
    create: byNumber,
    key: HASH_48,
    rows: transactions(random48),
    perTransfer: 1,
    deferred: 50_000,
  },
  {
    name: "history by address",
    create: byBytes,
    key: `unhex(printf('%08x%032d', ${MIXED}, 0))`,
    rows: histories(addressOf),
    perTransfer: 2,
  },
  {
    name: "history by address, a commit's rows sorted",
    create: byBytes,
    key: `unhex(printf('%08x%032d', ${MIXED}, 0))`,
    rows: histories(addressOf),
    perTransfer: 2,
    isSorted: true,
  },
  {
    name: "history by 48 bits",
    create: byNumber,
    key: `${MIXED} * 65536 + 1`,
    rows: histories(numberOf),
    perTransfer: 2,
  },
  { name: "history by an account's number", create: byNumber, key: ACCOUNT, rows: histories((n) => n), perTransfer: 2 },
]

const byKey = ([a]: Row, [b]: Row): number =>
  typeof a === "number" ? a - Number(b) : Buffer.compare(a, b as Uint8Array)

const grow = (database: Database, { key }: Table): void => {
  for (let portion = 0; portion < PORTIONS; portion++) {
    const from = (portion * ROWS) / PORTIONS
    database
      .prepare(
        `insert into rows with recursive n(i) as (select ${from} union all select i + 1 from n limit ${ROWS / PORTIONS})
          select ${key}, i from n order by 1`,
      )
      .run()
    database.pragma("wal_checkpoint(truncate)")
  }
}

/** Bytes a row in the file, bytes a row written to the log, and microseconds of processor time a row. */
const costOf = (file: string, table: Table): readonly [kept: number, written: number, processor: number] => {
  const database = new Sqlite(file)
  try {
    for (const text of ["journal_mode = wal", "synchronous = normal", "cache_size = -65536", "wal_autocheckpoint = 0"])
      database.pragma(text)
    database.prepare(table.create).run()
    database.prepare("create table waiting (key, sequence)").run()
    grow(database, table)
    const kept = statSync(file).size / ROWS
    const insert = database.prepare(
      `insert or ignore into ${table.deferred === undefined ? "rows" : "waiting"} values (?, ?)`,
    )
    let [written, processor, rows] = [0, 0, 0]
    for (let commit = 0; commit < COMMITS; commit++) {
      const added = table.rows(ROWS + commit * TRANSFERS)
      const before = process.cpuUsage()
      const sorted = table.isSorted ? [...added].sort(byKey) : added
      database.exec("begin immediate")
      for (const row of sorted) insert.run(...row)
      rows += added.length
      if (table.deferred !== undefined && rows % table.deferred === 0) {
        database.exec("insert into rows select * from waiting order by key; delete from waiting")
      }
      database.exec("commit")
      const { user, system } = process.cpuUsage(before)
      processor += user + system
      if ((commit + 1) % 10 > 0) continue
      written += statSync(`${file}-wal`).size
      database.pragma("wal_checkpoint(truncate)")
    }
    return [kept, written / rows, processor / rows]
  } finally {
    database.close()
  }
}

const figures = (): ReadonlyArray<Figure> =>
  TABLES.flatMap((table) => {
    const folder = mkdtempSync(join(tmpdir(), "udg-bench-"))
    try {
      const [kept, written, processor] = costOf(join(folder, "rows.db"), table).map(
        (value) => value * table.perTransfer,
      )
      return [
        { name: `${table.name}: kept`, value: kept ?? Number.NaN, unit: "bytes a transfer" },
        { name: `${table.name}: written`, value: written ?? Number.NaN, unit: "bytes a transfer" },
        { name: `${table.name}: processor`, value: processor ?? Number.NaN, unit: "µs a transfer" },
      ]
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

export const suite: Suite = {
  about: `what rows of indexes cost in a table of ${ROWS} rows`,
  isLong: true,
  figures,
}
