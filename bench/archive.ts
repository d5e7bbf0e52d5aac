/**
 * An archive that catches up from the genesis, compared with a plain COPY of the same rows into the same tables, the
 * fastest that PostgreSQL can do.
 */
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Redacted } from "effect"
import * as Migration from "../src/archive/Migration.js"
import * as Postgres from "../src/archive/Postgres.js"
import { PARTITION_COMMITS, PARTITIONED } from "../src/archive/Schema.js"
import * as Address from "../src/protocol/identity/Address.js"
import * as Network from "../src/protocol/identity/Network.js"
import * as Sats from "../src/protocol/numbers/Sats.js"
import * as Testing from "../src/testing/Testing.js"
import { follow } from "../test/archive/Follower.js"
import * as Server from "../test/archive/Server.js"
import * as Processes from "../test/network/Processes.js"
import type { Figure, Suite } from "./Harness.js"
import * as HttpLoad from "./HttpLoad.js"
import { cpuMs, familyMs } from "./ProcessorTime.js"

const ACCOUNTS = 1_000
const EACH = 60
const PAYMENTS = ACCOUNTS * EACH
const BATCH = 100
const SENDING = 8

const senders = Array.from({ length: ACCOUNTS }, (_, i) => Address.fromPublicKey(Testing.keyOf(i).publicKey))

/** All tables of the schema except the version's. */
const TABLES = ["network", "position", ...PARTITIONED, "accounts", "records", "hours", "checkpoints", "epochs"]

const countIn = async (database: string): Promise<number> => {
  const rows = await Server.query(database, "select last_sequence from position").catch(() => [])
  return Number(rows[0]?.[0] ?? 0)
}

/** Time to copy all rows of one database into an empty one, from files written in advance. */
const copyMs = async (server: Server.Server, from: string): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), "udg-copy-"))
  try {
    // The server writes and reads the files.
    const { uid, gid } = statSync(`/proc/${server.pid()}`)
    chownSync(folder, uid, gid)
    chmodSync(folder, 0o700)
    for (const table of TABLES)
      await Server.query(from, `copy (select * from ${table}) to '${join(folder, table)}' (format binary)`)
    const to = await server.create("copied")
    await Effect.runPromise(Effect.scoped(Effect.flatMap(Postgres.open(Redacted.make(to)), Migration.run)))
    for (const table of PARTITIONED)
      await Server.query(
        to,
        `create table ${table}_0 partition of ${table} for values from (0) to (${PARTITION_COMMITS})`,
      )
    const began = performance.now()
    for (const table of TABLES) await Server.query(to, `copy ${table} from '${join(folder, table)}' (format binary)`)
    return performance.now() - began
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const figures = async (): Promise<ReadonlyArray<Figure>> => {
  if (!Server.isThere) throw new Error("bench: PostgreSQL is not installed")
  const network = Processes.found({
    ...{ validators: 1, roundMs: 250, epochRounds: 2_400, checkpointRounds: 100, networkId: "udg-archive-bench" },
    allocations: senders.map((address) => ({ address, amount: Sats.make(1_000 * Sats.SATS_PER_COIN) })),
  })
  const server = await Server.make()
  try {
    const node = await Processes.startValidator(network, 0, [], ["--archive", "--rate-limits", "off"], "warn")
    const { networkId, mode } = network.genesis
    const paying = {
      ...{ network: { networkId, prefix: Network.addressPrefix(mode) }, accounts: ACCOUNTS },
      ...{ firstNonce: 0, each: EACH, batch: BATCH },
    }
    const port = Number(new URL(node.http ?? "").port)
    await HttpLoad.run({ port, requests: paying, connections: SENDING, milliseconds: 600_000 })
    await Processes.until("all is final", () => Processes.recorded(node) >= PAYMENTS)
    const database = await server.create("archive")
    const before = {
      at: performance.now(),
      own: 0,
      database: familyMs(server.pid()),
    }
    const follower = follow(network, "a", database, node)
    await Processes.until("the archive has it", async () => (await countIn(database)) >= PAYMENTS, 600_000)
    const tookMs = performance.now() - before.at
    const used = familyMs(server.pid()) - before.database
    const own = cpuMs({ pid: follower.child.pid ?? 0 })
    await follower.end("SIGTERM")
    const copied = await copyMs(server, database)
    const rate = (ms: number) => (PAYMENTS * 1_000) / ms
    return [
      { name: "catching up from the genesis", value: rate(tookMs), unit: "transactions a second" },
      { name: "the archive's own process", value: (own * 1_000) / PAYMENTS, unit: "µs of processor a transaction" },
      { name: "PostgreSQL", value: (used * 1_000) / PAYMENTS, unit: "µs of processor a transaction" },
      { name: "COPY of the same rows", value: rate(copied), unit: "transactions a second" },
      { name: "catching up, of COPY", value: copied / tookMs, unit: "share" },
    ]
  } finally {
    await Processes.removeAll()
    await server.remove()
  }
}

export const suite: Suite = {
  about: `an archive that catches up with ${PAYMENTS} transfers among ${ACCOUNTS} accounts, beside COPY`,
  isLong: true,
  figures,
}
