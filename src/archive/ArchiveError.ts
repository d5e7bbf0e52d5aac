/** Why an archive cannot continue. No error contains a password. */
import { Data } from "effect"

/** The database cannot be reached or refuses a statement. */
export class DatabaseFailed extends Data.TaggedError("DatabaseFailed")<{
  readonly place: string
  readonly reason: string
  readonly advice: string | null
}> {
  override get message(): string {
    return `the database ${this.place} failed: ${this.reason}${this.advice === null ? "" : `; ${this.advice}`}`
  }
}

/** A newer program has used it. */
export class NewerArchive extends Data.TaggedError("NewerArchive")<{
  readonly place: string
  readonly version: number
  readonly known: number
}> {
  override get message(): string {
    const { place, version, known } = this
    return `the archive ${place} has schema version ${version}, but this program knows only ${known}; use a newer program`
  }
}

/** It was filled by an earlier program and lacks data that only executing its commits can provide. */
export class OutdatedArchive extends Data.TaggedError("OutdatedArchive")<{
  readonly place: string
  readonly version: number
  readonly known: number
}> {
  override get message(): string {
    const { place, version, known } = this
    return (
      `the archive ${place} was filled with schema version ${version}, and version ${known} stores more about every commit; ` +
      "name an empty database and an empty data directory to follow everything again"
    )
  }
}

/** The database belongs to another network, or to another history of this one. */
export class OtherHistory extends Data.TaggedError("OtherHistory")<{
  readonly place: string
  readonly finding: string
}> {
  override get message(): string {
    return `the archive ${this.place} ${this.finding}`
  }
}

export type ArchiveError = DatabaseFailed | NewerArchive | OutdatedArchive | OtherHistory
