/** How large the databases are, and how much room is left: asked of the file system, never of a database. */
import { stat, statfs } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import type { DataDirectory } from "./DataDirectory.js"
import { FILES } from "./DataDirectory.js"

export interface DiskSpace {
  /** Bytes by file name. SQLite's log of writes is a file beside each database, and may be missing. */
  readonly files: ReadonlyArray<readonly [file: string, bytes: number]>
  /** What this user may still write. */
  readonly freeBytes: number
}

const WRITTEN = [FILES.database, `${FILES.database}-wal`, FILES.signed, `${FILES.signed}-wal`]

/** Null if the file system does not say. */
export const measure = ({ path }: Pick<DataDirectory, "path">): Effect.Effect<DiskSpace | null> =>
  Effect.promise(async () => {
    const [space, ...sizes] = await Promise.allSettled([
      statfs(path),
      ...WRITTEN.map(async (file) => [file, (await stat(join(path, file))).size] as const),
    ])
    if (space.status === "rejected") return null
    return {
      files: sizes.flatMap((size) => (size.status === "fulfilled" ? [size.value] : [])),
      freeBytes: space.value.bavail * space.value.bsize,
    }
  })
