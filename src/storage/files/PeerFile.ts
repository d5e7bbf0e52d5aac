/** Peers of earlier runs, one per line. Losing the file costs only time, so failures are ignored. */
import type { FileSystem } from "@effect/platform"
import { Effect } from "effect"
import * as Binary from "../../protocol/encoding/Binary.js"
import * as AtomicFile from "./AtomicFile.js"

const OWNER_WRITES = 0o644
/** Far more than the address book keeps. Longer files are not ours. */
const MAX_BYTES = 262_144

export const load = (path: string): Effect.Effect<ReadonlyArray<string>, never, FileSystem.FileSystem> =>
  Effect.match(AtomicFile.readText(path, MAX_BYTES), {
    onFailure: () => [],
    onSuccess: (text) => text.split("\n").filter((line) => line !== ""),
  })

/** A run without peers keeps the file of earlier ones. */
export const save = (
  path: string,
  addresses: ReadonlyArray<string>,
): Effect.Effect<void, never, FileSystem.FileSystem> =>
  addresses.length === 0
    ? Effect.void
    : Effect.ignore(
        AtomicFile.write(path, Binary.utf8(addresses.map((address) => `${address}\n`).join("")), OWNER_WRITES),
      )
