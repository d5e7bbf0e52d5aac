/** Sizes of the databases and free disk space, from the file system and never from a database. */
import { stat, statfs } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import type { DataDirectory } from "./DataDirectory.js"
import { FILES } from "./DataDirectory.js"

export interface DiskSpace {
  /** Bytes by file. SQLite's write-ahead logs are separate files and can be missing. */
  readonly files: ReadonlyArray<readonly [file: string, bytes: number]>
  /** Space that this user can still write. */
  readonly freeBytes: number
}

const WRITTEN = [FILES.database, `${FILES.database}-wal`, FILES.signed, `${FILES.signed}-wal`]

/** Null if the file system does not tell. */
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
