/**
 * The program of a thread that counts the supply in `udg.db` while others write to it, within one reading transaction,
 * so that it sees one commit's state. It runs for one count; `SupplyCount` is the other side.
 */
import * as os from "node:os"
import { parentPort, workerData } from "node:worker_threads"
import { Either } from "effect"
import * as Records from "../../ledger/tables/Records.js"
import { Recount } from "../../ledger/tables/Recount.js"
import type { CommitIndex } from "../../protocol/numbers/Natural.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as AccountRecord from "../../protocol/state/AccountRecord.js"
import * as StateKey from "../../protocol/state/StateKey.js"
import type { StateRecord } from "../../protocol/state/StateRecord.js"
import { Sqlite } from "../sqlite/Driver.js"

/** The count, as of this commit. */
export interface Counted {
  readonly commit: CommitIndex
  readonly found: Records.Totals
  /** The totals recorded in the file. */
  readonly expected: Records.Totals
  /** How they differ; null if they agree. */
  readonly problem: string | null
}

// As in SignatureProgram, rounds have priority.
const below = os.constants.priority.PRIORITY_BELOW_NORMAL
try {
  if (os.platform() === "linux" && os.getPriority() < below) os.setPriority(below)
} catch {
  // Works at any priority.
}

/** Records besides accounts that hold coins, or state what they add up to. */
const KINDS = ["Validator", "Proposal", "Totals", "Head", "Epoch", "LeavingPool"] as const

type Row = ReadonlyArray<unknown>
type File = InstanceType<typeof Sqlite>

const PAGE_ROWS = 8_192

/** All rows, some thousands at a time. `text` reads rows after the values that `last` returns. */
function* paged(file: File, text: string, first: Row, last: (row: Row) => Row): Generator<Row> {
  const statement = file.prepare(text).raw()
  let after = first
  for (;;) {
    const page = statement.all(...after, PAGE_ROWS)
    yield* page
    const end = page.at(-1)
    if (end === undefined || page.length < PAGE_ROWS) return
    after = last(end)
  }
}

const bytesOf = (value: unknown): Uint8Array => {
  if (value instanceof Uint8Array) return value
  throw new Error("a column does not hold bytes")
}

const EXTRAS = "select extras, address from accounts where address > ? and extras <> x'00' order by address limit ?"

const accounts = (file: File, recount: Recount): void => {
  const [[least, most, sum] = []] = file
    .prepare("select min(balance), max(balance), sum(balance) from accounts")
    .raw()
    .all()
  // The extremes reveal an impossible balance that the sum can hide.
  for (const balance of [least, most]) {
    recount.account(Number(balance) as Sats.Sats, AccountRecord.noExtras)
    recount.moved(-Number(balance))
  }
  recount.moved(Number(sum))
  for (const [extras] of paged(file, EXTRAS, [""], ([, address]) => [address])) {
    recount.account(Sats.ZERO, Either.getOrThrow(AccountRecord.decodeExtras(bytesOf(extras))))
  }
}

const RECORDS = `select kind, key, value from records where kind in (${KINDS.map((kind) => StateKey.KINDS[kind].byte).join()})
  and (kind, key) > (?, ?) order by kind, key limit ?`

/** Counts the records and returns the head. */
const records = (file: File, recount: Recount): Records.Head => {
  let head: Records.Head | undefined
  for (const [byte, key, value] of paged(file, RECORDS, [0, new Uint8Array(0)], ([kind, key]) => [kind, key])) {
    const kind = StateKey.kindOf(Number(byte))
    if (kind === undefined) continue
    const record: StateRecord = { kind, key: bytesOf(key), value: bytesOf(value) }
    if (kind === "Head") head = Either.getOrThrow(Records.decode(Records.head, record.value))
    Either.getOrThrow(recount.add(record))
  }
  if (head === undefined) throw new Error("there is no record of the last commit")
  return head
}

const count = (path: string): Counted => {
  const file = new Sqlite(path, { readonly: true })
  try {
    file.exec("begin")
    const recount = new Recount()
    const { index } = records(file, recount)
    accounts(file, recount)
    return Either.match(recount.finish(), {
      onLeft: ({ found, expected, problem }) => ({ commit: index, found, expected, problem }),
      onRight: (totals) => ({ commit: index, found: totals, expected: totals, problem: null }),
    })
  } finally {
    file.close()
  }
}

const port = parentPort
if (port === null) throw new Error("this is the program of a thread, which SupplyCount starts")
port.postMessage(count(String(workerData)))
