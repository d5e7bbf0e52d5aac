import { join } from "node:path"
import { Effect, Fiber, Layer, Option, Redacted } from "effect"
import * as Pg from "pg"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Archive from "../../src/archive/Archive.js"
import * as Migration from "../../src/archive/Migration.js"
import * as Postgres from "../../src/archive/Postgres.js"
import { migrations } from "../../src/archive/Schema.js"
import { Recording } from "../../src/node/engine/Recording.js"
import { Home } from "../../src/node/start/Home.js"
import * as Address from "../../src/protocol/identity/Address.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as JsonForm from "../../src/protocol/transaction/JsonForm.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import * as Processes from "../network/Processes.js"
import * as Rest from "../support/Rest.js"
import { compare, position } from "./Comparison.js"
import { type Follower, follow } from "./Follower.js"
import * as Server from "./Server.js"

/** How often the archive is killed. Set UDG_ARCHIVE_KILLS=50 for a long run. */
const KILLS = Number(process.env["UDG_ARCHIVE_KILLS"] ?? 3)
/** Time limit for one kill and the commits before it. */
const KILL_MS = 30_000

/** Sends a payment every few milliseconds until told to stop. Returns how many it sent. */
const paying = (network: Processes.Founded, node: Processes.Started) => {
  const people = Array.from({ length: 5 }, () => Address.fromPublicKey(SecretKey.generate().publicKey))
  const from = Address.fromPublicKey(network.rich.publicKey)
  let isGoingOn = true
  const run = async () => {
    let nonce = 0
    for (; isGoingOn; ) {
      const operation = {
        _tag: "Transfer",
        to: people[nonce % people.length] ?? from,
        amount: Sats.make(1_000 + nonce),
        // PostgreSQL's text type cannot hold a zero character.
        memo: nonce % 3 === 0 ? `rent\u0000 ${nonce}` : "",
      } as const
      const unsigned = { from, nonce: Natural.nonce(nonce), fee: Sats.make(1_000), operation }
      const signed = Transaction.sign(network.genesis.networkId, unsigned, network.rich)
      const answer = await fetch(`${node.http}/tx/submit`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(JsonForm.toJson(signed)),
      }).catch(() => null)
      if (answer?.ok === true) nonce++
      await new Promise((settle) => setTimeout(settle, 15))
    }
    return nonce
  }
  const done = run()
  return () => {
    isGoingOn = false
    return done
  }
}

/**
 * Transactions that the node has just accepted may still wait for a commit. A follower writes its own files after the
 * database: on a busy machine they can be hundreds of commits behind, more than it writes while it stops.
 */
const caughtUp = (node: Processes.Started, database: string, follower: Follower, paid: number): Promise<void> => {
  const { index, round } = Processes.commits(node).at(-1) ?? expect.fail()
  return Processes.until(`the archive has them: ${follower.said()}`, async () => {
    const [[count] = []] = await Server.query(database, "select count(*) from transactions").catch(() => [])
    return (await position(database)) > index && Number(count) >= paid && Processes.finalizedRound(follower) > round
  })
}

/** Waits until the database has a later commit. Fails at once if the archive ends. */
const goesOn = (follower: Follower, database: string, commit: number): Promise<void> =>
  Processes.until(`more commits than ${commit}`, async () => {
    if (follower.child.exitCode !== null) expect.fail(follower.said())
    return (await position(database)) > commit
  })

describe.skipIf(!Server.isThere && process.env["CI"] === undefined)(
  Rest.of("PostgreSQL and validators", "an archive"),
  { timeout: 600_000 },
  () => {
    let server: Server.Server

    interface Lived {
      readonly network: Processes.Founded
      readonly node: Processes.Started
      readonly database: string
    }
    /** A network with a stopped archive, whose follower is called "a". */
    let lived: Lived | undefined

    const live = async (): Promise<Lived> => {
      const database = await server.create("refusals")
      const network = Processes.found({ validators: 1, roundMs: 50, epochRounds: 60, networkId: "udg-one" })
      const node = await Processes.startValidator(network, 0, [], ["--archive"])
      const follower = follow(network, "a", database, node)
      await goesOn(follower, database, 20)
      await follower.end("SIGTERM")
      return { network, node, database }
    }

    beforeAll(async () => {
      server = await Server.make()
    })
    afterAll(async () => {
      await Processes.removeAll()
      await server.remove()
    })

    const killed = Rest.of("a minute of kills", "loses nothing and writes nothing twice, however often it is killed")
    it(killed, { timeout: 180_000 + KILLS * KILL_MS }, async () => {
      const database = await server.create("kills")
      const network = Processes.found({ validators: 1, roundMs: 50, epochRounds: 60, networkId: "udg-archive" })
      const [node] = await Processes.startAll(network, ["--archive", "--rate-limits", "off"])
      if (node === undefined) return expect.fail()
      const stop = paying(network, node)
      await Processes.everybodyAt([node], 150)
      let follower = follow(network, "a", database, node)
      for (let n = 0; n < KILLS; n++) {
        const before = await position(database)
        await goesOn(follower, database, before + 3 + 5 * (n % 10))
        await follower.end("SIGKILL")
        follower = follow(network, "a", database, node)
      }
      const paid = await stop()
      await caughtUp(node, database, follower, paid)
      expect(await follower.end("SIGTERM")).toBe(0)
      const { transactions } = await compare(database, node, follower)
      expect(transactions).toBe(paid)
      const words = await Server.query(
        database,
        "select count(*) from transactions where words <> '' and to_tsvector('simple', words) @@ to_tsquery('simple', 'rent')",
      )
      expect(Number(words[0]?.[0])).toBe(Math.ceil(paid / 3))
    })

    it("continues from a dump that was taken while it ran, with an empty data directory", async () => {
      const database = await server.create("dumped")
      const network = Processes.found({ validators: 1, roundMs: 50, epochRounds: 60, networkId: "udg-dumped" })
      const [node] = await Processes.startAll(network, ["--archive", "--rate-limits", "off"])
      if (node === undefined) return expect.fail()
      const stop = paying(network, node)
      const first = follow(network, "a", database, node)
      await goesOn(first, database, 20)
      const folder = join(network.folder, "dump")
      await Server.dump(database, folder)
      await goesOn(first, database, 40)
      await first.end("SIGKILL")
      const restored = await server.create("restored")
      await Server.restore(folder, restored)
      const held = await position(restored)
      expect(held).toBeGreaterThan(0)
      const follower = follow(network, "b", restored, node)
      await goesOn(follower, restored, held + 20)
      const paid = await stop()
      await caughtUp(node, restored, follower, paid)
      expect(await follower.end("SIGTERM")).toBe(0)
      expect(await compare(restored, node, follower)).toMatchObject({ transactions: paid })
      // As in a dump of a different history.
      await Server.query(restored, `update commits set effects_digest = sha256('other') where commit_index = ${held}`)
      const other = follow(network, "c", restored, node)
      await Processes.until("it ends", () => other.child.exitCode !== null)
      expect([other.child.exitCode, other.said()]).toEqual([
        1,
        expect.stringContaining(`holds a commit ${held} that differs from this network's; name another database`),
      ])
    })

    it("keeps vertices until the commits that order them are written, and reports the database's lag", async () => {
      const database = await server.create("waiting")
      const network = Processes.found({ validators: 1, roundMs: 50, epochRounds: 60, networkId: "udg-waiting" })
      const [node] = await Processes.startAll(network, ["--archive"])
      if (node === undefined) return expect.fail()
      await Processes.until("there are many epochs", () => (Processes.commits(node).at(-1)?.round ?? 0) > 400)
      const first = follow(network, "waiting", database, node)
      await goesOn(first, database, 0)
      const client = new Pg.Client(database)
      await client.connect()
      await client.query("begin")
      await client.query("lock table position in access exclusive mode")
      /** The archive's own report. */
      const said = async (): Promise<{ readonly commit: number; readonly lag: number }> => {
        const [, url = ""] = /^ {2}rpc +(\S+)$/m.exec(first.said()) ?? []
        const text = await (await fetch(`${url}/metrics`)).text()
        const figureOf = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1] ?? Number.NaN)
        return { commit: figureOf("udg_archive_commit"), lag: figureOf("udg_archive_lag_commits") }
      }
      await Processes.until("it says that the database lacks commits", async () => (await said()).lag > 0)
      const { commit, lag } = await said()
      // Longer than the interval at which the follower deletes old data.
      await new Promise((settle) => setTimeout(settle, 35_000))
      const later = await said()
      expect([later.commit, later.lag >= lag]).toEqual([commit, true])
      await client.end()
      const last = Processes.commits(node).at(-1)?.index ?? 0
      await goesOn(first, database, last)
      await Processes.until("it says that it is there", async () => (await said()).commit >= last)
      expect(await first.end("SIGTERM")).toBe(0)
    })

    it("continues when the database is killed and returns, beside a second archive of the same database", async () => {
      const database = await server.create("restarts")
      const network = Processes.found({ validators: 1, roundMs: 50, epochRounds: 60, networkId: "udg-restarts" })
      const [node] = await Processes.startAll(network, ["--archive", "--rate-limits", "off"])
      if (node === undefined) return expect.fail()
      const stop = paying(network, node)
      const followers = ["a", "b"].map((name) => follow(network, name, database, node))
      await Processes.until("it has begun", async () => (await position(database)) > 10)
      await server.kill()
      await new Promise((settle) => setTimeout(settle, 1_500))
      await server.start()
      const before = await position(database)
      await Processes.until("it goes on", async () => (await position(database)) > before + 10)
      const paid = await stop()
      const [first, second] = followers
      if (first === undefined || second === undefined) return expect.fail()
      await caughtUp(node, database, first, paid)
      expect(await second.end("SIGTERM")).toBe(0)
      const after = await position(database)
      await Processes.until("the first goes on alone", async () => (await position(database)) > after)
      expect(await first.end("SIGTERM")).toBe(0)
      expect((await compare(database, node, first)).transactions).toBe(paid)
      lived = { network, node, database }
    })

    it("waits for a database that disappears just before it begins", async () => {
      const url = Redacted.make(await server.create("beginning"))
      const { genesis } = Processes.found({ validators: 1, roundMs: 50, epochRounds: 60, networkId: "udg-beginning" })
      const home = Home.of({
        ...{ genesis, location: { _tag: "Ephemeral" }, isFounded: true },
        ...{ validatorKey: Option.none(), remoteSigner: Option.none(), faucetKey: Option.none() },
      })
      const program = Effect.gen(function* () {
        const { begin, recorded } = yield* Recording
        yield* Effect.promise(server.kill)
        const begun = yield* Effect.fork(begin(0))
        yield* Effect.sleep("500 millis")
        yield* Effect.promise(server.start)
        yield* Fiber.join(begun)
        expect(recorded()).toBe(0)
      })
      const recording = Layer.provide(Archive.layer(url), Layer.succeed(Home, home))
      await Effect.runPromise(Effect.provide(program, recording))
    })

    it("refuses a database that an earlier version filled, with the remedy", async () => {
      const database = await server.create("earlier")
      const [first] = migrations
      for (const statement of (first?.statements ?? "").split(/;\s*\n/).filter((text) => text.trim() !== ""))
        await Server.query(database, statement)
      await Server.query(
        database,
        "create table schema_versions (version integer primary key, at timestamptz not null)",
      )
      await Server.query(database, "insert into schema_versions values (1, now())")
      await Server.query(database, "insert into position values (true, 7, '', '', 0)")
      const migrate = Effect.scoped(Effect.flatMap(Postgres.open(Redacted.make(database)), Migration.run))
      const refused = await Effect.runPromise(Effect.flip(migrate))
      expect(refused._tag).toBe("OutdatedArchive")
      expect(refused.message).toMatch(
        /filled with schema version 1, .* name an empty database and an empty data directory/,
      )
      await Server.query(database, "delete from position")
      await Effect.runPromise(migrate)
      expect(await Server.query(database, "select max(version) from schema_versions")).toEqual([[migrations.length]])
    })

    it("refuses a database of another network, or one that is behind its own files, without showing a password", async () => {
      const { network, node, database } = lived ?? (await live())
      const secret = database.replace("udg@", "udg:hidden-word@")
      const other = Processes.found({ validators: 1, roundMs: 50, epochRounds: 60, networkId: "udg-other" })
      const stranger = follow(other, "b", secret, node)
      await Processes.until("it ends", () => stranger.child.exitCode !== null)
      expect(stranger.child.exitCode).toBe(1)
      expect(stranger.said()).toMatch(/belongs to udg-[a-z]+ \([0-9a-f]{64}\), not to udg-other/)
      await Server.query(
        database,
        `update position set (commit_index, commit_hash, effects_digest) =
        (select commit_index, hash, effects_digest from commits where commit_index = 5)`,
      )
      const behind = follow(network, "a", secret, node)
      await Processes.until("it ends", () => behind.child.exitCode !== null)
      expect(behind.said()).toMatch(/ends with commit 5, before commit \d+ of the data directory; name an empty/)
      for (const { said } of [stranger, behind]) expect(said()).not.toContain("hidden-word")
    })
  },
)
