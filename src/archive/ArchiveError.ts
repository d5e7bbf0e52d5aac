/** Why an archive cannot go on. None of these says anything of a password. */
import { Data } from "effect"

/** The database cannot be reached, or refuses a statement. */
export class DatabaseFailed extends Data.TaggedError("DatabaseFailed")<{
  readonly place: string
  readonly reason: string
  /** What to do, where that is known. */
  readonly advice: string | null
}> {
  override get message(): string {
    return `the database ${this.place} failed: ${this.reason}${this.advice === null ? "" : `; ${this.advice}`}`
  }
}

/** A newer program has been at work. */
export class NewerArchive extends Data.TaggedError("NewerArchive")<{
  readonly place: string
  readonly version: number
  readonly known: number
}> {
  override get message(): string {
    const { place, version, known } = this
    return `the archive ${place} has version ${version} of the schema, and this program knows ${known}; use a newer one`
  }
}

/** It was filled by an earlier program, and lacks what only the execution of its commits can tell. */
export class OutdatedArchive extends Data.TaggedError("OutdatedArchive")<{
  readonly place: string
  readonly version: number
  readonly known: number
}> {
  override get message(): string {
    const { place, version, known } = this
    return (
      `the archive ${place} was filled with version ${version} of the schema, and version ${known} has more of every commit; ` +
      "name an empty database and an empty data directory, and everything is followed again"
    )
  }
}

/** The database is of another network, or of another history of this one. */
export class OtherHistory extends Data.TaggedError("OtherHistory")<{
  readonly place: string
  readonly finding: string
}> {
  override get message(): string {
    return `the archive ${this.place} ${this.finding}`
  }
}

export type ArchiveError = DatabaseFailed | NewerArchive | OutdatedArchive | OtherHistory
