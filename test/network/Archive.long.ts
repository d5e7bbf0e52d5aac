/** Random kills of every part of an archive under load: `npm run test:network`. */
import { afterAll, expect, it, onTestFinished } from "vitest"
import { median, quantile } from "../../bench/Harness.js"
import * as Address from "../../src/protocol/identity/Address.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as JsonForm from "../../src/protocol/transaction/JsonForm.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import { compare, position } from "../archive/Comparison.js"
import { type Follower, follow } from "../archive/Follower.js"
import * as Server from "../archive/Server.js"
import * as Serving from "../gateway/Serving.js"
import { Chance } from "../simulation/Chance.js"
import * as Processes from "./Processes.js"
import { numbered } from "./Wallet.js"

const KILLS = Number(process.env["UDG_ARCHIVE_KILLS"] ?? 50)
const SEED = Number(process.env["UDG_ARCHIVE_SEED"] ?? 1)
/** The limit for one kill and its recovery on a slow machine. */
const KILL_MS = 120_000
const BATCH = 10
const PAYEES = 20
/** How long PostgreSQL stays away; an archive waits for a minute. */
const LONGEST_AWAY_MS = 3_000

const pause = (ms: number) => new Promise<void>((settle) => setTimeout(settle, ms))

afterAll(Processes.removeAll)

/**
 * Pays through a gateway until told to stop. Each payment has a memo of its own. A killed validator may forget what it
 * accepted in the last second, and only the sender can send that again: docs/decisions/mempool.md.
 */
const paying = (network: Processes.Founded, gateway: () => Serving.Gateway) => {
  const from = Address.fromPublicKey(network.rich.publicKey)
  let [accepted, isGoingOn] = [0, true]
  const payment = (nonce: number) => {
    const to = Address.fromPublicKey(numbered(nonce % PAYEES))
    const operation = { _tag: "Transfer", to, amount: Sats.make(1_000 + nonce), memo: `payment ${nonce}` } as const
    const unsigned = { from, nonce: Natural.nonce(nonce), fee: Sats.make(1_000), operation }
    return JsonForm.toJson(Transaction.sign(network.genesis.networkId, unsigned, network.rich))
  }
  /** How many of the given payments were accepted, from this nonce on. */
  const send = async (first: number, many: number): Promise<number> => {
    const batch = Array.from({ length: many }, (_, i) => payment(first + i))
    const answers: unknown = await Serving.post(`${gateway().url}/tx/submit`, batch).then(
      ({ body }) => body,
      () => null,
    )
    const all: ReadonlyArray<{ readonly status_code: number; readonly code?: string }> = Array.isArray(answers)
      ? answers
      : []
    // A killed gateway may have passed it to a node, so it was accepted before.
    const refused = all.findIndex(({ status_code, code }) => status_code !== 200 && code !== "NonceTooLow")
    return refused < 0 ? all.length : refused
  }
  /** Sends again what is not final yet. */
  const repeat = async (): Promise<void> => {
    const answer = await Serving.get(`${gateway().url}/balance/${from}`).catch(() => null)
    if (answer?.status !== 200) return
    const { nonce } = answer.body as { readonly nonce: number }
    const many = Math.min(BATCH, accepted - nonce)
    if (many > 0) await send(nonce, many)
  }
  const run = async () => {
    while (isGoingOn) {
      const taken = await send(accepted, BATCH)
      accepted += taken
      if (taken === 0) await repeat()
      await pause(100)
    }
    return accepted
  }
  const done = run()
  return {
    repeat,
    stop: () => {
      isGoingOn = false
      return done
    },
  }
}

it.skipIf(!Server.isThere && process.env["CI"] === undefined)(
  `loses and duplicates nothing after ${KILLS} kills of archive, gateway, PostgreSQL and a validator`,
  async () => {
    const chance = new Chance(SEED, "kills of an archive")
    const server = await Server.make()
    onTestFinished(server.remove)
    const database = await server.create("kills")
    const network = Processes.found({ validators: 4, roundMs: 400, epochRounds: 120, networkId: "udg-kills" })
    const nodes = [...(await Processes.startAll(network, ["--archive", "--rate-limits", "off"]))]
    const [first] = nodes
    if (first === undefined) return expect.unreachable()
    let follower: Follower = follow(network, "a", database, first)
    onTestFinished(async () => void (await follower.end("SIGKILL")))
    await Processes.until(`the archive begins: ${follower.said()}`, async () => (await position(database)) > 3)
    const urls = () => nodes.flatMap(({ http }) => (http === null ? [] : [http]))
    let gateway = await Serving.serve(network.genesisFile, database, urls())
    onTestFinished(() => void gateway.child.kill("SIGTERM"))
    const payments = paying(network, () => gateway)

    const newestCommit = () => Math.max(...nodes.map((node) => Processes.commits(node).at(-1)?.index ?? 0))
    const kills: Readonly<Record<string, () => Promise<void>>> = {
      archive: async () => {
        await follower.end("SIGKILL")
        follower = follow(network, "a", database, first)
      },
      gateway: async () => {
        gateway.child.kill("SIGKILL")
        gateway = await Serving.serve(network.genesisFile, database, urls())
      },
      postgres: async () => {
        await server.kill()
        await pause(chance.below(LONGEST_AWAY_MS))
        await server.start()
      },
      // The archive was given only the first node's address.
      validator: async () => {
        const n = 1 + chance.below(nodes.length - 1)
        await nodes[n]?.kill()
        const others = nodes.filter((_, i) => i !== n)
        const port = nodes[n]?.p2p.split(":").at(-1) ?? "0"
        const rpc = new URL(nodes[n]?.http ?? "").port
        const words = ["--archive", "--rate-limits", "off", "--port", port, "--rpc-port", rpc]
        nodes[n] = await Processes.startValidator(network, n, others, words)
      },
    }
    const recoveries: Array<number> = []
    const names = Object.keys(kills)
    for (let n = 0; n < KILLS; n++) {
      await pause(chance.below(4_000))
      const which = names[chance.below(names.length)] ?? "archive"
      await kills[which]?.()
      const began = performance.now()
      const target = newestCommit()
      await Processes.until(
        `the archive has commit ${target} after kill ${n} of ${which}: ${follower.said().slice(-2_000)}`,
        async () => (await position(database)) >= target,
        KILL_MS,
      )
      recoveries.push(performance.now() - began)
    }
    const paid = await payments.stop()
    await Processes.until(`all ${paid} accepted payments are in the archive`, async () => {
      const [[count] = []] = await Server.query(database, "select count(*) from transactions")
      if (Number(count) >= paid) return true
      await pause(1_000)
      await payments.repeat()
      return false
    })
    expect(await follower.end("SIGTERM")).toBe(0)
    const { last, transactions } = await compare(database, first, follower)
    expect(transactions).toBe(paid)
    const memos = await Server.query(database, "select words from transactions order by nonce")
    expect(memos.map(([memo]) => memo)).toEqual(Array.from({ length: paid }, (_, nonce) => `payment ${nonce}`))
    const seconds = (ms: number) => (ms / 1_000).toFixed(1)
    process.stdout.write(
      `${KILLS} kills, ${last} commits, ${transactions} transactions; the archive was there again after ${seconds(median(recoveries))} s ` +
        `(median), ${seconds(quantile(recoveries, 1))} s (longest)\n`,
    )
  },
  KILLS * KILL_MS,
)
