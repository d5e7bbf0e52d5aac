/**
 * The directory a node keeps everything in, held by one process at a time. Whoever has a `DataDirectory` has its lock:
 * an exclusive transaction on an empty SQLite file, which the operating system ends with the process, however it ends.
 */
import { join } from "node:path"
import * as Reactivity from "@effect/experimental/Reactivity"
import { FileSystem } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import { Effect, type Scope } from "effect"
import { DatabaseFailed, DirectoryLocked, DirectoryUnusable, fromSqlite } from "./StorageError.js"

/** The file names of the data directory. */
export const FILES = {
  database: "udg.db",
  signed: "signed.db",
  lock: "udg.lock",
  genesis: "genesis.json",
  validatorKey: "validator.key",
  faucetKey: "faucet.key",
  nodeKey: "node.key",
  peers: "peers.txt",
} as const

export class DataDirectory {
  readonly path: string

  private constructor(path: string) {
    this.path = path
  }

  fileOf(name: keyof typeof FILES): string {
    return join(this.path, FILES[name])
  }

  /** Makes the directory if need be and holds it until the scope ends. */
  static open(
    path: string,
  ): Effect.Effect<DataDirectory, DirectoryLocked | DirectoryUnusable, FileSystem.FileSystem | Scope.Scope> {
    return Effect.gen(function* () {
      const fileSystem = yield* FileSystem.FileSystem
      const unusable = (error: PlatformError) => new DirectoryUnusable({ directory: path, reason: reasonOf(error) })
      yield* Effect.mapError(fileSystem.makeDirectory(path, { recursive: true }), unusable)
      const resolved = yield* Effect.mapError(fileSystem.realPath(path), unusable)
      yield* lock(resolved)
      return new DataDirectory(resolved)
    })
  }
}

const reasonOf = (error: PlatformError): string => (error._tag === "SystemError" ? error.reason : error.message)

const lock = (directory: string): Effect.Effect<void, DirectoryLocked | DirectoryUnusable, Scope.Scope> => {
  const file = join(directory, FILES.lock)
  const hold = Effect.gen(function* () {
    const client = yield* SqliteClient.make({ filename: file, disableWAL: true })
    // Whoever finds the lock taken says so at once instead of waiting.
    yield* client`pragma busy_timeout = 0`.raw
    yield* client`begin exclusive`.raw
  })
  return hold.pipe(
    Effect.provide(Reactivity.layer),
    Effect.mapError((error) => fromSqlite(file, error.cause)),
    Effect.catchAllDefect((cause) => Effect.fail(fromSqlite(file, cause))),
    Effect.mapError((error) =>
      error instanceof DatabaseFailed && error.code.startsWith("SQLITE_BUSY")
        ? new DirectoryLocked({ directory })
        : new DirectoryUnusable({ directory, reason: error.message }),
    ),
  )
}
