/** Gateways whose nodes lie or answer only status requests, and one whose database is paused. */
import { execFileSync } from "node:child_process"
import { Either } from "effect"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import * as Answer from "../../src/light/checks/Answer.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import * as Address from "../../src/protocol/identity/Address.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { position } from "../archive/Comparison.js"
import { type Follower, follow } from "../archive/Follower.js"
import * as Server from "../archive/Server.js"
import * as Processes from "../network/Processes.js"
import { textOf } from "../ops/Kit.js"
import * as Rest from "../support/Rest.js"
import * as Doorway from "./Doorway.js"
import { type Gateway, get, post, serve, signed } from "./Serving.js"

type Json = Readonly<Record<string, unknown>>

const friend = Address.fromPublicKey(SecretKey.generate().publicKey)
const never = () => new Promise<never>(() => {})

/** The node's response with a change. */
const changed =
  (change: (answer: Json) => unknown) =>
  async (pass: () => Promise<Response>): Promise<Response> => {
    const answer = await pass()
    return Response.json(change((await answer.json()) as Json), { status: answer.status })
  }

describe.skipIf(!Server.isThere && process.env["CI"] === undefined)(
  Rest.of("PostgreSQL, a node, a gateway", "a gateway over unreliable nodes"),
  { timeout: 300_000 },
  () => {
    let server: Server.Server
    let network: Processes.Founded
    let follower: Follower
    let gateway: Gateway
    let lonely: Gateway
    /** The database URL for the role of ops/postgres/gateway.sql, which these gateways use. */
    let reading = ""
    /** The first one is the faulty one. */
    const doors: Array<Doorway.Doorway> = []
    const [bad, good] = [() => doors[0] ?? expect.fail(), () => doors[1] ?? expect.fail()]

    beforeAll(async () => {
      server = await Server.make()
      const database = await server.create("nodes")
      network = Processes.found({ validators: 1, roundMs: 50, epochRounds: 600, networkId: "udg-nodes" })
      const [started] = await Processes.startAll(network, ["--archive", "--rate-limits", "off"])
      if (started === undefined) throw new Error("no node")
      follower = follow(network, "nodes", database, started)
      await Processes.until(`the archive begins: ${follower.said()}`, async () => (await position(database)) > 5)
      doors.push(await Doorway.before(started.http ?? ""), await Doorway.before(started.http ?? ""))
      await Server.query(database, textOf("postgres/gateway.sql"))
      reading = database.replace("udg@", "gateway@")
      gateway = await serve(
        network.genesisFile,
        reading,
        doors.map(({ url }) => url),
      )
      lonely = await serve(network.genesisFile, reading, [bad().url])
    })

    afterEach(() => {
      bad().submission = (pass) => pass()
      bad().other = (_, pass) => pass()
    })

    afterAll(async () => {
      for (const door of doors) door.close()
      gateway?.child.kill("SIGKILL")
      lonely?.child.kill("SIGKILL")
      await follower?.end("SIGKILL")
      await Processes.removeAll()
      await server.remove()
    })

    let nonce = 0
    const payment = (own: number, amount = 5) => {
      const operation = { _tag: "Transfer", to: friend, amount: Sats.make(amount), memo: "" } as const
      const { id, json } = signed(network.genesis.networkId, network.rich, own, operation)
      return [id, json] as const
    }
    const payer = () => Address.fromPublicKey(network.rich.publicKey)

    it("has a database role that reads and cannot make itself write", async () => {
      for (const path of [
        "/status",
        "/health",
        `/balance/${friend}`,
        "/validators",
        "/round/3",
        "/transactions",
        "/accounts",
      ])
        expect([path, (await get(gateway.url + path)).status]).toEqual([path, 200])
      for (const statement of [
        "delete from accounts",
        "update position set commit_index = 0",
        "create table t (a int)",
      ]) {
        await expect(Server.query(reading, statement)).rejects.toThrow(/read-only transaction/)
        const writing = `${reading}&options=${encodeURIComponent("-c default_transaction_read_only=off")}`
        await expect(Server.query(writing, statement)).rejects.toThrow(/permission denied/)
      }
    })

    it("passes on no foreign hash or nonce for an accepted transaction", async () => {
      for (const lie of [{ tx_hash: "ab".repeat(32) }, { nonce: 9_007_199_254_740_990 }]) {
        // The gateway sends a single transaction as an array.
        bad().submission = changed((answers) =>
          (answers as unknown as ReadonlyArray<Json>).map((one) => ({ ...one, ...lie })),
        )
        for (let n = 0; n < 4; n++) {
          const [hash, body] = payment(nonce)
          const answer = await post(`${gateway.url}/tx/submit`, body)
          expect(answer).toMatchObject({ status: 200, body: { tx_hash: hash, status: "accepted", nonce: nonce++ } })
        }
        const answer = await post(`${lonely.url}/tx/submit`, payment(nonce++)[1])
        expect(answer).toMatchObject({ status: 503, body: { code: "Unavailable" } })
      }
    })

    it("returns each entry of an array its own answer, at any length and in any order", async () => {
      const lies: ReadonlyArray<(answers: ReadonlyArray<Json>) => unknown> = [
        (answers) => answers.toReversed(),
        (answers) => answers.slice(1),
        (answers) => [...answers, ...answers],
      ]
      for (const lie of lies) {
        bad().submission = changed((answers) => lie(answers as unknown as ReadonlyArray<Json>))
        for (let n = 0; n < 2; n++) {
          const sent = [payment(nonce++), payment(nonce++)]
          const { status, body } = await post(
            `${gateway.url}/tx/submit`,
            sent.map(([, json]) => json),
          )
          expect([status, body]).toMatchObject([200, sent.map(([tx_hash]) => ({ tx_hash, status: "accepted" }))])
        }
      }
    })

    it("trusts no round far beyond the final one, neither in a status nor in an event", async () => {
      const far = 9_007_199_254_740_000
      bad().other = (path, pass) => (path === "/status" ? changed((it) => ({ ...it, dag_round: far }))(pass) : pass())
      for (let n = 0; n < 4; n++) {
        const { body } = await get(`${lonely.url}/status`)
        const { dag_round, last_finalized_round } = body as { dag_round: number; last_finalized_round: number }
        expect(dag_round).toBeLessThanOrEqual(last_finalized_round + network.genesis.protocol.epochRounds)
        await new Promise((resolve) => setTimeout(resolve, 500))
      }
    })

    it("rejects a checkpoint that a quorum has not signed", async () => {
      const latest = await get(`${gateway.url}/checkpoint/latest`)
      const { hash, state_root } = latest.body as { hash: string; state_root: string }
      const made = `${hash.slice(0, -1)}${hash.endsWith("0") ? "1" : "0"}`
      bad().other = (path, pass) =>
        path.startsWith("/checkpoint/hash/")
          ? Promise.resolve(Response.json({ ...(latest.body as Json), hash: made, state_root }))
          : pass()
      const { status, body } = await get(`${lonely.url}/checkpoint/hash/${made}`)
      expect([status, body]).toMatchObject([503, { code: "Unavailable" }])
      // The right hash with another checkpoint's signatures.
      const signed = Either.getOrThrow(Answer.checkpoint(Buffer.from(JSON.stringify(latest.body))))
      const { hash: other } = Checkpoint.make({ ...signed.checkpoint, totalSupply: Sats.make(1) })
      bad().other = (path, pass) =>
        path.startsWith("/checkpoint/hash/")
          ? Promise.resolve(Response.json({ ...(latest.body as Json), hash: other, total_supply: 1 }))
          : pass()
      expect(await get(`${lonely.url}/checkpoint/hash/${other}`)).toMatchObject({ status: 503 })
    })

    it("rejects a next nonce beyond those that can be pending, in a balance or a refusal", async () => {
      const far = 9_007_199_254_740_990
      bad().other = (path, pass) =>
        path.startsWith("/balance/") ? changed((it) => ({ ...it, nonce: far - 1, next_nonce: far }))(pass) : pass()
      bad().submission = changed((answers) =>
        (answers as unknown as ReadonlyArray<Json>).map((one) => ({ ...one, next_nonce: far, max_nonce: far + 1 })),
      )
      for (let n = 0; n < 4; n++) {
        for (const { url } of [gateway, lonely]) {
          const { status, body } = await get(`${url}/balance/${payer()}`)
          expect([status, (body as Json)["next_nonce"]]).toEqual([200, expect.any(Number)])
          expect((body as { next_nonce: number }).next_nonce).toBeLessThanOrEqual(nonce)
        }
        for (const [own, code] of [
          [0, "NonceTooLow"],
          [nonce + 1_000, "NonceTooHigh"],
        ] as const) {
          const { status, body } = await post(`${gateway.url}/tx/submit`, payment(own, 6)[1])
          expect([status, body]).toMatchObject([400, { code }])
          expect((body as { next_nonce: number }).next_nonce).toBeLessThanOrEqual(nonce)
        }
      }
      expect(await post(`${lonely.url}/tx/submit`, payment(0, 6)[1])).toMatchObject({ status: 503 })
    })

    it("avoids a node that answers only its status, and returns to it once it answers", async () => {
      let asked = 0
      const hang = () => {
        asked++
        return never()
      }
      bad().other = (path, pass) => (path === "/status" ? pass() : hang())
      bad().submission = hang
      const path = `/balance/${friend}`
      const statuses: Array<number> = []
      const client = async (requests: number) => {
        for (let n = 0; n < requests; n++) statuses.push((await get(gateway.url + path)).status)
      }
      await Promise.all(Array.from({ length: 8 }, () => client(60)))
      expect(statuses.filter((status) => status !== 200)).toEqual([])
      // Requests of the first second, and occasional ones later.
      expect(asked).toBeLessThan(40)
      const sent = payment(nonce++)
      expect(await post(`${gateway.url}/tx/submit`, sent[1])).toMatchObject({ status: 200, body: { tx_hash: sent[0] } })
      expect((await get(`${gateway.url}/metrics`)).body).toContain("udg_gateway_nodes_healthy 1")
      expect(gateway.said()).toContain("a node does not answer requests")

      bad().other = (_, pass) => pass()
      bad().submission = (pass) => pass()
      await Processes.until("it is used again", async () => {
        await get(gateway.url + path)
        return String((await get(`${gateway.url}/metrics`)).body).includes("udg_gateway_nodes_healthy 2")
      })
      const before = bad().asked.length
      for (let n = 0; n < 10; n++) await get(gateway.url + path)
      expect(bad().asked.length - before).toBeGreaterThan(2)
      expect(good().asked.length).toBeGreaterThan(0)
    })

    it("reports an unresponsive database at once, even if that is only paused", async () => {
      const children = execFileSync("ps", ["-o", "pid=", "--ppid", String(server.pid())], { encoding: "utf8" })
      const all = [server.pid(), ...children.trim().split(/\s+/).map(Number)]
      const signal = (name: NodeJS.Signals) => {
        for (const pid of all) process.kill(pid, name)
      }
      signal("SIGSTOP")
      try {
        await Processes.until("it is known", async () => (await get(`${gateway.url}/health`)).status === 503)
        const begun = performance.now()
        for (let n = 0; n < 10; n++) expect((await get(`${gateway.url}/health`)).status).toBe(503)
        // In sequence, each request would take the database's full timeout of five seconds.
        expect(performance.now() - begun).toBeLessThan(40_000)
      } finally {
        signal("SIGCONT")
      }
      await Processes.until("it is there again", async () => (await get(`${gateway.url}/health`)).status === 200)
    })
  },
)
