/** What is wrong with a database, for people: what happened, without the user and the password, and what to do. */

export interface DatabaseProblem {
  readonly reason: string
  /** None where only the reason can tell. */
  readonly advice: string | null
}

/** By the code of the system or of PostgreSQL (its appendix A), where the server's own sentence does not tell as well. */
const KNOWN: Readonly<Record<string, readonly [advice: string, reason?: string]>> = {
  ECONNREFUSED: ["start PostgreSQL, or name the host and port where it listens"],
  ENOENT: ["start PostgreSQL, or name the host and port where it listens"],
  ENOTFOUND: ["name a host that there is"],
  "28P01": ["put the right password into UDG_DATABASE, percent-encoded, or into PGPASSWORD", "it refuses the password"],
  "28000": ["name a user that there is, and that pg_hba.conf lets in", "it does not let this user in"],
  "3D000": ["make it with createdb, or name another one"],
  "42501": ["an archive needs the database for its own (createdb --owner); a gateway may select from all tables"],
  "25006": ["an archive needs a database that it may write"],
  "53100": ["make room on PostgreSQL's disk"],
  "53300": ["raise max_connections of PostgreSQL or the limit of its user, or start fewer gateways"],
}

/** What the driver says where the server asks for a password and there is none. */
const NO_PASSWORD = /client password must be a (non-empty )?string/

/** The user's name, as PostgreSQL and poolers of its connections write it. */
const USER = /\b(role|user)(?: "[^"]*"|: \S+)/g

/** The error behind those that the packages in between have made of it. */
const innermost = (error: unknown): unknown => {
  if (error instanceof AggregateError) return innermost(error.errors[0])
  return error instanceof Error && error.cause instanceof Error ? innermost(error.cause) : error
}

const codeOf = (error: object): string => ("code" in error && typeof error.code === "string" ? error.code : "")

export const of = (error: unknown): DatabaseProblem => {
  const cause = innermost(error)
  if (!(cause instanceof Error)) return { reason: String(cause), advice: null }
  const said = cause.message.replaceAll(/\s+/g, " ").replaceAll(USER, "$1 …")
  if (NO_PASSWORD.test(said))
    return { reason: "it asks for a password", advice: "put it into UDG_DATABASE, percent-encoded, or into PGPASSWORD" }
  const known = KNOWN[codeOf(cause)]
  return known === undefined ? { reason: said, advice: null } : { reason: known[1] ?? said, advice: known[0] }
}
