/**
 * The directory of all of a node's data, used by one process at a time. A `DataDirectory` holds the lock: an exclusive
 * transaction on an empty SQLite file, which the operating system releases when the process ends for any reason.
 */
import { dirname, join } from "node:path"
import * as Reactivity from "@effect/experimental/Reactivity"
import { FileSystem } from "@effect/platform"
import type { PlatformError, SystemErrorReason } from "@effect/platform/Error"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import { Effect, type Scope } from "effect"
import {
  type DatabaseFailed,
  DirectoryLocked,
  DirectoryUnusable,
  type DiskFull,
  fromSqlite,
  isOfDriver,
  type StorageError,
} from "./StorageError.js"

/** File names in the data directory. */
export const FILES = {
  database: "udg.db",
  signed: "signed.db",
  lock: "udg.lock",
  genesis: "genesis.json",
  validatorKey: "validator.key",
  faucetKey: "faucet.key",
  nodeKey: "node.key",
  peers: "peers.txt",
  running: "running.json",
  history: "history.json",
  halted: "halted.json",
  signerKeys: "signer-keys.json",
  /** A signer's database, in a directory of its own. */
  signer: "signer.db",
  signerKey: "signer.key",
} as const

/** `DatabaseFailed` means that the driver cannot be loaded. */
export type NotOpened = DirectoryLocked | DirectoryUnusable | DiskFull | DatabaseFailed

export class DataDirectory {
  readonly path: string
  /** Whether it existed before with a mode that lets other users in. */
  readonly isOpenToOthers: boolean
  /** Removes a directory that did not exist before, unless it has got files other than the lock. */
  readonly discard: Effect.Effect<void, never, FileSystem.FileSystem>

  private constructor(path: string, isOpenToOthers: boolean, isNew: boolean) {
    this.path = path
    this.isOpenToOthers = isOpenToOthers
    this.discard = isNew ? discarded(path) : Effect.void
  }

  fileOf(name: keyof typeof FILES): string {
    return join(this.path, FILES[name])
  }

  /** Creates the directory if necessary and locks it until the scope ends. */
  static open(path: string): Effect.Effect<DataDirectory, NotOpened, FileSystem.FileSystem | Scope.Scope> {
    return Effect.gen(function* () {
      const fileSystem = yield* FileSystem.FileSystem
      const unusable = (error: PlatformError) => new DirectoryUnusable({ directory: path, reason: reasonOf(error) })
      const isNew = yield* Effect.mapError(make(fileSystem, path), unusable)
      const resolved = yield* Effect.mapError(fileSystem.realPath(path), unusable)
      yield* lock(resolved)
      const { mode } = yield* Effect.mapError(fileSystem.stat(resolved), unusable)
      return new DataDirectory(resolved, (mode & OF_OTHERS) !== 0, isNew)
    })
  }
}

const hasReason =
  (reason: SystemErrorReason) =>
  (error: PlatformError): boolean =>
    error._tag === "SystemError" && error.reason === reason

/**
 * Returns whether the directory is new. Creates one level at a time: the recursive `mkdir` of Node.js never returns where
 * every parent counts as missing, as below /proc.
 */
const make = (fileSystem: FileSystem.FileSystem, path: string): Effect.Effect<boolean, PlatformError> => {
  const one = Effect.as(fileSystem.makeDirectory(path, { mode: OWN_MODE }), true)
  return one.pipe(
    Effect.catchIf(hasReason("NotFound"), (error) =>
      dirname(path) === path ? Effect.fail(error) : Effect.zipRight(make(fileSystem, dirname(path)), one),
    ),
    Effect.catchIf(hasReason("AlreadyExists"), () => Effect.succeed(false)),
  )
}

const discarded = (path: string) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const names = yield* files.readDirectory(path)
    if (names.every((name) => name.startsWith(FILES.lock))) yield* files.remove(path, { recursive: true })
  }).pipe(Effect.ignore)

/** Only the owner has access: the directory contains secret keys. */
const OWN_MODE = 0o700
const OF_OTHERS = 0o077

const reasonOf = (error: PlatformError): string => (error._tag === "SystemError" ? error.reason : error.message)

const reasonOfNoLock = (error: Exclude<StorageError, DiskFull>): string => {
  switch (error._tag) {
    case "DatabaseDamaged":
      return `${FILES.lock} is not a lock file and can be removed`
    case "DatabaseFailed":
      return `${FILES.lock}: ${error.reason} (${error.code})`
  }
}

const lock = (directory: string): Effect.Effect<void, NotOpened, Scope.Scope> => {
  const file = join(directory, FILES.lock)
  const hold = Effect.gen(function* () {
    const client = yield* SqliteClient.make({ filename: file, disableWAL: true })
    // A process that finds the lock taken fails at once.
    yield* client`pragma busy_timeout = 0`.raw
    yield* client`begin exclusive`.raw
  })
  return hold.pipe(
    Effect.provide(Reactivity.layer),
    Effect.mapError((error) => fromSqlite(file, error.cause)),
    Effect.catchAllDefect((cause) => Effect.fail(fromSqlite(file, cause))),
    Effect.mapError((error) => {
      if (error._tag === "DiskFull" || (error._tag === "DatabaseFailed" && isOfDriver(error))) return error
      return error._tag === "DatabaseFailed" && error.code.startsWith("SQLITE_BUSY")
        ? new DirectoryLocked({ directory })
        : new DirectoryUnusable({ directory, reason: reasonOfNoLock(error) })
    }),
  )
}
