/** The genesis of a network as a JSON file. */
import { FileSystem } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import { Data, Effect } from "effect"
import * as Binary from "../protocol/Binary.js"
import * as Genesis from "../protocol/Genesis.js"
import * as JsonText from "../protocol/JsonText.js"
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

const systemError = (path: string, verb: string) => (error: PlatformError) =>
  new GenesisFileError({
    path,
    reason: `cannot be ${verb}: ${error._tag === "SystemError" ? error.reason : "not a path"}`,
  })

/** The genesis that stands in the file, every rule checked. */
export const load = (path: string): Effect.Effect<Genesis.Genesis, GenesisFileError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const text = yield* Effect.mapError(fileSystem.readFileString(path), systemError(path, "read"))
    const json = yield* Effect.mapError(
      JsonText.parse(text, "genesis"),
      ({ field, reason }) => new GenesisFileError({ path, reason: `${field}: ${reason}` }),
    )
    return yield* Effect.mapError(
      Genesis.fromFile(json),
      ({ message }) => new GenesisFileError({ path, reason: message }),
    )
  })

/** Writes the genesis in place of whatever has the file's name. */
export const write = (
  path: string,
  genesis: Genesis.Genesis,
): Effect.Effect<void, GenesisFileError, FileSystem.FileSystem> =>
  AtomicFile.write(path, Binary.utf8(`${JSON.stringify(Genesis.toJson(genesis), null, 2)}\n`), READABLE).pipe(
    Effect.mapError(systemError(path, "written")),
  )
