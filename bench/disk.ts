/**
 * The disk space of a transfer on a solo node, by file and table, over the whole data directory after the node has
 * stopped. Independent of the machine's speed.
 */
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { Sqlite } from "../src/storage/sqlite/Driver.js"
import * as Processes from "../test/network/Processes.js"
import type { Figure, Suite } from "./Harness.js"
import * as SoloLoad from "./SoloLoad.js"

const TRANSFERS = 100_000
const ACCOUNTS = 10_000
/** Long enough for a slow machine, because the load ends once everything is sent. */
const SECONDS = 100
const WISH = {
  roundMs: 100,
  seconds: SECONDS,
  batch: 100,
  offeredPerSecond: TRANSFERS / SECONDS,
  receivers: ACCOUNTS - SoloLoad.SENDERS,
}
/** Files that transfers do not change. */
const LEAST_BYTES = 1

/** A database's pages by content, largest first. Deleted pages are free for reuse. */
const pagesOf = (file: string): ReadonlyArray<readonly [name: string, bytes: number]> => {
  const database = new Sqlite(file)
  try {
    const rows = (statement: string) => database.prepare(statement).raw().all([]) as Array<readonly [string, number]>
    return [
      ...rows("select name, sum(pgsize) from dbstat group by name order by 2 desc"),
      ...rows("select 'deleted, for others', freelist_count * page_size from pragma_freelist_count, pragma_page_size"),
    ]
  } finally {
    database.close()
  }
}

const figures = async (): Promise<ReadonlyArray<Figure>> => {
  const found: Array<Figure> = []
  await SoloLoad.run(WISH, (directory) => {
    // Before opening a database, which creates further files.
    const sizes = readdirSync(directory).map((file) => [file, statSync(join(directory, file)).size] as const)
    const recorded = Processes.recorded({ directory })
    const each = (name: string, bytes: number) =>
      found.push({ name, value: bytes / recorded, unit: "bytes a transfer" })
    each(
      "all of the data directory",
      sizes.reduce((sum, [, bytes]) => sum + bytes, 0),
    )
    for (const [file, bytes] of sizes) {
      if (bytes < LEAST_BYTES * recorded) continue
      each(file, bytes)
      if (!file.endsWith(".db")) continue
      for (const [name, pages] of pagesOf(join(directory, file))) {
        if (pages >= LEAST_BYTES * recorded) each(`… ${name}`, pages)
      }
    }
  })
  return found
}

export const suite: Suite = {
  about: `what ${TRANSFERS} transfers among ${ACCOUNTS} accounts leave on the disk of a solo node`,
  figures,
}
