/** Describes a database problem: what happened, without the user and the password, and what to do. */

export interface DatabaseProblem {
  readonly reason: string
  /** Null if only the reason helps. */
  readonly advice: string | null
}

/** By system code or PostgreSQL code (its appendix A), with a reason where the server's own message is less clear. */
const KNOWN: Readonly<Record<string, readonly [advice: string, reason?: string]>> = {
  ECONNREFUSED: ["start PostgreSQL, or name the host and port where it listens"],
  ENOENT: ["start PostgreSQL, or name the host and port where it listens"],
  ENOTFOUND: ["name an existing host"],
  "28P01": ["put the right password into UDG_DATABASE, percent-encoded, or into PGPASSWORD", "it rejects the password"],
  "28000": ["name an existing user that pg_hba.conf admits", "it does not admit this user"],
  "3D000": ["make it with createdb, or name another one"],
  "42501": ["an archive needs its own database (createdb --owner); a gateway must be able to select from all tables"],
  "25006": ["an archive needs a writable database"],
  "53100": ["free some space on PostgreSQL's disk"],
  "53300": ["raise max_connections of PostgreSQL or its user's limit, or start fewer gateways"],
}

/** The driver's message if the server asks for a password and there is none. */
const NO_PASSWORD = /client password must be a (non-empty )?string/

/** The user's name as written by PostgreSQL and by connection poolers. */
const USER = /\b(role|user)(?: "[^"]*"|: \S+)/g

/** The error inside the wrappers of the packages in between. */
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
