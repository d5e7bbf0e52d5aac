/**
 * Whether the files that this process has opened are still in their directory. A file that is deleted, replaced, or on a volume
 * that was detached can still be written, but nobody can open it again: everything since is lost.
 */
import { stat } from "node:fs/promises"
import { Effect } from "effect"
import type { DataDirectory } from "./DataDirectory.js"

/** With the number of its device and its own, by which the file system tells files apart. */
export type HeldFiles = ReadonlyMap<string, string>

const HELD = ["lock", "database", "signed"] as const

/** Any other error, as of a directory that this user may no longer enter, says nothing of the files. */
const GONE = new Set(["ENOENT", "ENOTDIR", "ESTALE", "ENODEV", "ENXIO", "ENOTCONN", "EIO"])

const identityOf = async (path: string): Promise<string> => {
  const { dev, ino } = await stat(path, { bigint: true })
  return `${dev}:${ino}`
}

/** As they are now. */
export const of = (directory: DataDirectory): Effect.Effect<HeldFiles> =>
  Effect.promise(async () => {
    const paths = HELD.map((name) => directory.fileOf(name))
    return new Map(await Promise.all(paths.map(async (path) => [path, await identityOf(path)] as const)))
  })

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : ""

/** What became of the first one that is no longer there; null if all are. */
export const lost = (held: HeldFiles): Effect.Effect<string | null> =>
  Effect.promise(async () => {
    for (const [path, identity] of held) {
      const found = await identityOf(path).catch((error: unknown) => (GONE.has(codeOf(error)) ? null : identity))
      if (found === null) return `${path} is gone`
      if (found !== identity) return `${path} is another file than the one that was opened`
    }
    return null
  })
