/** Peers of an earlier run, one per line. Losing the file costs only time, so no failure is an error. */
import { FileSystem } from "@effect/platform"
import { Effect } from "effect"
import * as Binary from "../../protocol/encoding/Binary.js"
import * as AtomicFile from "./AtomicFile.js"

const OWNER_WRITES = 0o644
/** Far more than the address book keeps; a longer file is not ours. */
const MAX_BYTES = 262_144

export const load = (path: string): Effect.Effect<ReadonlyArray<string>, never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const { size } = yield* fileSystem.stat(path)
    if (size > MAX_BYTES) return []
    const text = yield* fileSystem.readFileString(path)
    return text.split("\n").filter((line) => line !== "")
  }).pipe(Effect.orElseSucceed(() => []))

/** A run without peers does not erase the peers of earlier ones. */
export const save = (
  path: string,
  addresses: ReadonlyArray<string>,
): Effect.Effect<void, never, FileSystem.FileSystem> =>
  addresses.length === 0
    ? Effect.void
    : Effect.ignore(
        AtomicFile.write(path, Binary.utf8(addresses.map((address) => `${address}\n`).join("")), OWNER_WRITES),
      )
