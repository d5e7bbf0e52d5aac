/**
 * Four validators, an archive and two gateways behind nginx, under a hundred thousand payments: `npm run test:network`.
 * Compares every account in the database at many commits with the node's own commits, executed again.
 */
import { Agent, request } from "node:http"
import { afterAll, expect, it, onTestFinished } from "vitest"
import * as Address from "../../src/protocol/identity/Address.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as JsonForm from "../../src/protocol/transaction/JsonForm.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import { position } from "../archive/Comparison.js"
import { follow } from "../archive/Follower.js"
import { replay } from "../archive/Replay.js"
import * as Server from "../archive/Server.js"
import * as Nginx from "../gateway/Nginx.js"
import { get, serve } from "../gateway/Serving.js"
import { isTried } from "../ops/Kit.js"
import * as Processes from "./Processes.js"

const PAYMENTS = Number(process.env["UDG_GATEWAY_PAYMENTS"] ?? 100_000)
const SENDERS = 250
/** The limit of one request. */
const BATCH = 125
/** Clients of nginx, each at an address of its own, so that both gateways have some. */
const CLIENTS = 8
/** A balance is compared after every n-th commit. */
const EVERY = 10
const LIMIT_MS = 45 * 60_000
const PAUSE_MS = 200
const PAGES_AT_ONCE = 8

afterAll(Processes.removeAll)

const pause = (ms: number) => new Promise<void>((settle) => setTimeout(settle, ms))

interface Answer {
  readonly status_code: number
  readonly code?: string
}

/** Requests from an address of its own, one at a time over a persistent connection. */
const clientAt = (port: number, n: number) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return (body: string): Promise<{ readonly status: number; readonly text: string }> =>
    new Promise((answered, failed) => {
      const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) }
      const options = { host: "127.0.0.1", port, path: "/tx/submit", localAddress: `127.0.4.${n + 1}`, agent, headers }
      request({ ...options, method: "POST" }, (answer) => {
        let text = ""
        answer.setEncoding("utf8").on("data", (part: string) => (text += part))
        answer.on("end", () => answered({ status: answer.statusCode ?? 0, text }))
      })
        .on("error", failed)
        .end(body)
    })
}

/** Every sender pays the next one repeatedly; returns when all payments are accepted. */
const pay = async (network: Processes.Founded, senders: ReadonlyArray<SecretKey>, port: number): Promise<void> => {
  const addresses = senders.map(({ publicKey }) => Address.fromPublicKey(publicKey))
  let made = 0
  const next = (): string => {
    const at = made++
    const [from, to] = [addresses[at % SENDERS], addresses[(at + 1) % SENDERS]]
    const key = senders[at % SENDERS]
    if (from === undefined || to === undefined || key === undefined) throw new Error("there are no senders")
    const operation = { _tag: "Transfer", to, amount: Sats.make(1 + (at % 1_000)), memo: "" } as const
    const unsigned = { from, nonce: Natural.nonce(Math.floor(at / SENDERS)), fee: Sats.make(1_000), operation }
    return JSON.stringify(JsonForm.toJson(Transaction.sign(network.genesis.networkId, unsigned, key)))
  }
  const client = async (n: number): Promise<void> => {
    const submit = clientAt(port, n)
    while (made < PAYMENTS) {
      let bodies = Array.from({ length: Math.min(BATCH, PAYMENTS - made) }, next)
      while (bodies.length > 0) {
        const { status, text } = await submit(`[${bodies.join(",")}]`)
        if (status !== 200 && status !== 503) throw new Error(`${status} ${text}`)
        const answers: ReadonlyArray<Answer> = status === 503 ? [] : JSON.parse(text)
        const wrong = answers.find(
          ({ status_code, code }) => ![200, 503].includes(status_code) && code !== "NonceTooHigh",
        )
        if (wrong !== undefined) throw new Error(JSON.stringify(wrong))
        // A full node has no room for these yet.
        bodies = bodies.filter((_, i) => answers[i]?.status_code !== 200)
        if (bodies.length > 0) await pause(PAUSE_MS)
      }
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, n) => client(n)))
}

/** All entries of all pages, as they are on the wire. */
const pages = async (url: string, entries: string): Promise<ReadonlyArray<unknown>> => {
  const seen: Array<unknown> = []
  for (let cursor = ""; ; ) {
    const { status, body } = await get(`${url}?limit=100${cursor}`)
    expect([url, status]).toEqual([url, 200])
    const page = body as Readonly<Record<string, unknown>>
    seen.push(...(page[entries] as ReadonlyArray<unknown>))
    if (page["next_cursor"] === null) return seen
    cursor = `&cursor=${page["next_cursor"]}`
  }
}

const eachOf = async <A>(all: ReadonlyArray<A>, look: (one: A) => Promise<void>): Promise<void> => {
  const left = [...all]
  const worker = async () => {
    for (let one = left.pop(); one !== undefined; one = left.pop()) await look(one)
  }
  await Promise.all(Array.from({ length: PAGES_AT_ONCE }, worker))
}

/** Every account as of a commit, from the database. */
const accountsAt = async (database: string, commit: number) => {
  const rows = await Server.query(
    database,
    `select encode(address, 'hex'), balance, nonce from (
      select distinct on (address) address, balance, nonce, record from account_states where commit_index <= $1
      order by address, commit_index desc) s where record is not null order by 1`,
    [commit],
  )
  return rows.map(([address, balance, nonce]) => [String(address), Number(balance), Number(nonce)])
}

it.skipIf(!(Server.isThere && isTried("nginx", "-v")) && process.env["CI"] === undefined)(
  `serves every account through two gateways as the node has it, after ${PAYMENTS} payments`,
  async () => {
    const senders = Array.from({ length: SENDERS }, () => SecretKey.generate())
    const network = Processes.found({
      ...{ validators: 4, roundMs: 250, epochRounds: 240, networkId: "udg-gateways" },
      allocations: senders.map(({ publicKey }) => ({
        address: Address.fromPublicKey(publicKey),
        amount: Sats.make(1_000 * Sats.SATS_PER_COIN),
      })),
    })
    const server = await Server.make()
    onTestFinished(server.remove)
    const database = await server.create("gateways")
    const nodes = await Processes.startAll(network, ["--archive", "--rate-limits", "off"], "warn")
    const [first, ...others] = nodes
    if (first === undefined) return expect.unreachable()
    const follower = follow(network, "a", database, first)
    onTestFinished(async () => void (await follower.end("SIGTERM")))
    await Processes.until(`the archive begins: ${follower.said()}`, async () => (await position(database)) > 3)
    const urls = nodes.flatMap(({ http }) => (http === null ? [] : [http]))
    const gateways = [
      await serve(network.genesisFile, database, urls),
      await serve(network.genesisFile, database, urls),
    ] as const
    onTestFinished(() => gateways.forEach(({ child }) => void child.kill("SIGTERM")))
    const proxy = await Nginx.before(network.folder, ...gateways)
    onTestFinished(proxy.stop)

    const began = performance.now()
    await pay(network, senders, proxy.port)
    await Processes.until("all is final", () => Processes.recorded(first) >= PAYMENTS, LIMIT_MS)
    const finalMs = performance.now() - began
    // Without a quorum nothing more becomes final, so the node and the archive stand still.
    await Promise.all(others.map((node) => node.stop()))
    const last = () => Processes.commits(first).at(-1)?.index ?? 0
    const ended = performance.now()
    await Processes.until("the archive has it", async () => (await position(database)) >= last(), LIMIT_MS)
    const lagMs = performance.now() - ended

    const accounts = Processes.rows(`${first.directory}/udg.db`, "select address from accounts").flat().map(String)
    let entries = 0
    await eachOf(accounts, async (address) => {
      for (const [kind, name] of [
        ["transactions", "transactions"],
        ["statement", "entries"],
      ] as const) {
        const path = `/account/${address}/${kind}`
        const [own, its] = [await pages(proxy.url + path, name), await pages(first.http + path, name)]
        expect([path, own]).toEqual([path, its])
        entries += own.length
      }
    })
    expect(entries).toBeGreaterThanOrEqual(4 * PAYMENTS)

    await first.stop()
    let compared = 0
    await replay(network.genesis, first.directory, async (commit, state) => {
      if (commit % EVERY !== 0 && commit !== last()) return
      compared++
      const expected = [...state].map(([address, { balance, nonce }]) => [address, balance, nonce])
      expect([commit, await accountsAt(database, commit)]).toEqual([commit, expected.sort()])
    })
    const [[count, distinct] = []] = await Server.query(
      database,
      "select count(*), count(distinct hash) from transactions",
    )
    expect([Number(count), Number(distinct)]).toEqual([PAYMENTS, PAYMENTS])
    process.stdout.write(
      `${PAYMENTS} payments through nginx and two gateways were final after ${(finalMs / 1_000).toFixed(0)} s, and in the archive ` +
        `${(lagMs / 1_000).toFixed(1)} s later; ${accounts.length} accounts with ${entries} entries of histories and statements, and their ` +
        `balances after ${compared} of ${last()} commits, are the node's\n`,
    )
  },
  LIMIT_MS,
)
