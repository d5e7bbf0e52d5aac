/** Errors of stored data, each in one line that says how to fix it. */
import { basename } from "node:path"
import { Data } from "effect"
import * as NativeModule from "../../protocol/crypto/NativeModule.js"

/** Another process uses the directory. Its lock ends with it, so crashes leave none. */
export class DirectoryLocked extends Data.TaggedError("DirectoryLocked")<{ readonly directory: string }> {
  override get message(): string {
    return `${this.directory} is in use by another process; stop that one or name another data directory`
  }
}

/** The directory cannot be created or written. */
export class DirectoryUnusable extends Data.TaggedError("DirectoryUnusable")<{
  readonly directory: string
  readonly reason: string
}> {
  override get message(): string {
    return `${this.directory} cannot be used as a data directory: ${this.reason}; make it writable or name another one`
  }
}

export class NewerSchema extends Data.TaggedError("NewerSchema")<{
  readonly file: string
  readonly found: number
  readonly known: number
}> {
  override get message(): string {
    return `${this.file} has schema ${this.found}, this program knows up to ${this.known}; run the newer udg that wrote it`
  }
}

/** A read-only database with an older schema. */
export class OlderSchema extends Data.TaggedError("OlderSchema")<{
  readonly file: string
  readonly found: number
  readonly known: number
}> {
  override get message(): string {
    return `${this.file} has schema ${this.found}, this program reads ${this.known}; start a node on it once to migrate it`
  }
}

/** The directory has no ledger. */
export class NoLedger extends Data.TaggedError("NoLedger")<{ readonly directory: string }> {
  override get message(): string {
    return `${this.directory} holds no ledger; name the data directory of a node that has run`
  }
}

export class OtherGenesis extends Data.TaggedError("OtherGenesis")<{
  readonly file: string
  readonly found: string
  readonly expected: string
}> {
  override get message(): string {
    return `${this.file} belongs to the network with genesis ${this.found}, not ${this.expected}; name another data directory`
  }
}

const remedies: Readonly<Record<string, string>> = {
  "udg.db": "restore a backup, or move it away and join the network again",
  // An older copy lacks the newest signatures, and a validator that signs twice is slashed.
  "signed.db": "do not restore a copy: move it away, with its -wal and -shm, as docs/operations/backup.md says",
}

/** SQLite's message on one line. It quotes arbitrary bytes of a damaged file. */
const onOneLine = (words: string): string => words.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ")

/** The file's structure or a value is not one that this program writes. */
export class DatabaseDamaged extends Data.TaggedError("DatabaseDamaged")<{
  readonly file: string
  readonly finding: string
}> {
  override get message(): string {
    return `${this.file} is damaged: ${onOneLine(this.finding)}; ${remedies[basename(this.file)] ?? "move it away"}`
  }
}

/** The write was undone. */
export class DiskFull extends Data.TaggedError("DiskFull")<{ readonly file: string }> {
  override get message(): string {
    return `no space is left for ${this.file}; free some and start again`
  }
}

/** Another error of the system. The failed write changed nothing. */
export class DatabaseFailed extends Data.TaggedError("DatabaseFailed")<{
  readonly file: string
  readonly code: string
  readonly reason: string
}> {
  override get message(): string {
    if (isOfDriver(this)) {
      return onOneLine(NativeModule.complaint("better-sqlite3", "reads and writes the databases", this.reason))
    }
    return `${this.file} cannot be read or written: ${onOneLine(this.reason)} (${this.code}); see to its owner, its mode and its disk`
  }
}

/** The file is intact: the driver's native code is missing, or for another Node.js or another machine. */
export const isOfDriver = ({ code, reason }: Pick<DatabaseFailed, "code" | "reason">): boolean =>
  code === "ERR_DLOPEN_FAILED" || reason.startsWith("Could not locate the bindings file")

/** Errors of an open database. */
export type StorageError = DatabaseDamaged | DatabaseFailed | DiskFull

/** Errors of opening one. */
export type OpenError = StorageError | NewerSchema | OtherGenesis

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "no code"

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

/** Translates an SQLite error by its result code. */
export const fromSqlite = (file: string, cause: unknown): StorageError => {
  const code = codeOf(cause)
  // SHMSIZE: no room for the log's index, which is created on opening.
  if (code === "SQLITE_FULL" || code === "SQLITE_IOERR_SHMSIZE") return new DiskFull({ file })
  if (code === "SQLITE_NOTADB" || code.startsWith("SQLITE_CORRUPT")) {
    return new DatabaseDamaged({ file, finding: reasonOf(cause) })
  }
  return new DatabaseFailed({ file, code, reason: reasonOf(cause) })
}
