/** Messages about an unusable database: they say what happened and what to do, and never name the user. */
import { Cause, Effect, Exit, Redacted } from "effect"
import * as Pg from "pg"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as DatabaseProblem from "../../src/archive/DatabaseProblem.js"
import * as Postgres from "../../src/archive/Postgres.js"
import * as Rest from "../support/Rest.js"
import * as Server from "./Server.js"

/** As the server reports it. */
const refusal = (code: string, message: string) =>
  Object.assign(new Pg.DatabaseError(message, message.length, "error"), { code })

describe("a database problem", () => {
  it("is reported with the remedy, and without the user", () => {
    const wrong = DatabaseProblem.of(refusal("28P01", 'password authentication failed for user "udg"'))
    expect(wrong.reason).toBe("it rejects the password")
    expect(wrong.advice).toContain("PGPASSWORD")
    const barred = DatabaseProblem.of(
      refusal("28000", 'no pg_hba.conf entry for host "10.0.0.9", user "udg", database "udg"'),
    )
    expect(barred.reason).not.toContain("udg")
    expect(barred.advice).toContain("pg_hba.conf")
    // The driver's messages if the server requires a password and none is given.
    for (const must of ["a string", "a non-empty string"])
      expect(
        DatabaseProblem.of(new Error(`SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be ${must}`)),
      ).toMatchObject({
        reason: "it asks for a password",
      })
    // Servers and poolers have many messages of their own.
    for (const [said, told] of [
      ['too many connections for role "udg"', "too many connections for role …"],
      ["no such user: udg", "no such user …"],
      ['role "a b" of database "udg" is away', 'role … of database "udg" is away'],
    ])
      expect(DatabaseProblem.of(new Error(said)).reason).toBe(told)
  })

  it("is the innermost reason, on one line, where nothing better is known", () => {
    const cause = new AggregateError([new Error("first\n  of  two"), new Error("second")])
    expect(DatabaseProblem.of(new Error("outer", { cause }))).toEqual({ reason: "first of two", advice: null })
    expect(DatabaseProblem.of("text")).toEqual({ reason: "text", advice: null })
  })
})

describe.skipIf(!Server.isThere && process.env["CI"] === undefined)(
  Rest.of("PostgreSQL", "a problem of a real database"),
  () => {
    let server: Server.Server
    let url = ""
    beforeAll(async () => {
      server = await Server.make()
      url = await server.create("trouble")
      await Server.query(url, "create role reader login")
      await Server.query(url, "create role frozen login")
      await Server.query(url, "create role crowded login connection limit 0")
      await Server.query(url, "grant create on schema public to frozen")
      await Server.query(url, "alter role frozen set default_transaction_read_only = on")
    })
    afterAll(() => server.remove())

    const messageOf = async (database: string): Promise<string> => {
      const statement = Effect.flatMap(Postgres.open(Redacted.make(database)), ({ rows }) =>
        rows("create table anything (a integer)"),
      )
      const exit = await Effect.runPromiseExit(Effect.scoped(statement))
      return Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "none"
    }

    it("is reported with the remedy", async () => {
      for (const [database, found] of [
        ["postgres://udg@127.0.0.1:1/trouble", /ECONNREFUSED.*; start PostgreSQL/],
        ["postgres://udg@localhost/trouble?host=/tmp/nowhere", /; start PostgreSQL/],
        [url.replace("/trouble", "/nowhere"), /"nowhere" does not exist; make it with createdb/],
        [url.replace("udg@", "nobody@"), /it does not admit this user; name an existing user/],
        [url.replace("udg@", "reader@"), /permission denied.*; an archive needs its own database/],
        [url.replace("udg@", "crowded@"), /too many connections for role …; raise max_connections .* limit/],
        [url.replace("udg@", "frozen@"), /read-only transaction; an archive needs a writable database/],
      ] as const)
        expect(await messageOf(database)).toMatch(found)
    })
  },
)
