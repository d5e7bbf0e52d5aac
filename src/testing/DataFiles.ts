/** Reads and replaces a stopped node's files as a whole. */
import { join } from "node:path"
import { FileSystem } from "@effect/platform"
import { Effect } from "effect"
import { FILES } from "../storage/files/DataDirectory.js"

/** The files that make up a state. The lock belongs to the process. */
const KEPT = [FILES.database, FILES.signed, FILES.history]

/** The existing files, by name. */
export const read = (directory: string) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const found = new Map<string, Uint8Array>()
    for (const name of KEPT) {
      const path = join(directory, name)
      if (yield* files.exists(path)) found.set(name, yield* files.readFile(path))
    }
    return found
  })

/** Replaces all existing files. */
export const put = (directory: string, content: ReadonlyMap<string, Uint8Array>) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    yield* files.remove(directory, { recursive: true, force: true })
    yield* files.makeDirectory(directory, { mode: 0o700 })
    for (const [name, bytes] of content) yield* files.writeFile(join(directory, name), bytes)
  })
