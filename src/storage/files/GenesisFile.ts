/** A network's genesis as a JSON file. */
import { FileSystem } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import { Data, Effect } from "effect"
import * as Binary from "../../protocol/encoding/Binary.js"
import * as JsonText from "../../protocol/encoding/JsonText.js"
import * as Genesis from "../../protocol/epoch/Genesis.js"
import * as AtomicFile from "./AtomicFile.js"

export class GenesisFileError extends Data.TaggedError("GenesisFileError")<{
  readonly path: string
  readonly reason: string
}> {
  override get message(): string {
    return `genesis file ${this.path}: ${this.reason}`
  }
}

const READABLE = 0o644
/** Room for two million allocations, below the maximum length of a string. */
const MAX_MIB = 256

const systemError = (path: string, verb: string) => (error: PlatformError) =>
  new GenesisFileError({ path, reason: `cannot be ${verb}: ${AtomicFile.reasonOf(error)}` })

/** An allocation or name has three values in more than 64 bytes. */
const BYTES_PER_VALUE = 16
const FREE_VALUES = 4_096
/** More fields than any object of a genesis has. */
const MAX_FIELDS = 256

/** Reads the genesis and checks every rule. */
export const load = (path: string): Effect.Effect<Genesis.Genesis, GenesisFileError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const info = yield* Effect.mapError(fileSystem.stat(path), systemError(path, "read"))
    // A pipe or device could block the start or never end.
    if (info.type !== "File") return yield* new GenesisFileError({ path, reason: "not a regular file" })
    if (info.size > MAX_MIB * 2 ** 20) {
      return yield* new GenesisFileError({ path, reason: `larger than ${MAX_MIB} MiB` })
    }
    const text = yield* Effect.mapError(fileSystem.readFileString(path), systemError(path, "read"))
    const values = FREE_VALUES + Math.floor(text.length / BYTES_PER_VALUE)
    const excess = JsonText.excessOf(text, { values, depth: JsonText.MAX_DEPTH, fields: MAX_FIELDS })
    if (excess !== undefined) return yield* new GenesisFileError({ path, reason: `genesis: ${excess}` })
    const json = yield* Effect.mapError(
      JsonText.parse(text, "genesis"),
      ({ field, reason }) => new GenesisFileError({ path, reason: `${field}: ${reason}` }),
    )
    return yield* Effect.mapError(
      Genesis.fromFile(json),
      ({ message }) => new GenesisFileError({ path, reason: message }),
    )
  })

/** Writes the genesis, replacing an existing file. */
export const write = (
  path: string,
  genesis: Genesis.Genesis,
): Effect.Effect<void, GenesisFileError, FileSystem.FileSystem> =>
  AtomicFile.write(path, Binary.utf8(`${JSON.stringify(Genesis.toJson(genesis), null, 2)}\n`), READABLE).pipe(
    Effect.mapError(systemError(path, "written")),
  )
