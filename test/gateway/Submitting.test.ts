/**
 * Which submissions a gateway repeats when a node does not answer, and which never. Each node has a proxy in front of
 * it.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { parts } from "../../src/gateway/Submitting.js"
import * as Address from "../../src/protocol/identity/Address.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { position } from "../archive/Comparison.js"
import { type Follower, follow } from "../archive/Follower.js"
import * as Server from "../archive/Server.js"
import * as Processes from "../network/Processes.js"
import * as Rest from "../support/Rest.js"
import * as Doorway from "./Doorway.js"
import { type Gateway, get, post, serve, signed } from "./Serving.js"

const rich = SecretKey.generate()
const friend = Address.fromPublicKey(SecretKey.generate().publicKey)

const payment = (
  networkId: Processes.Founded["genesis"]["networkId"],
  nonce: number,
  { key = rich, fee = 1_000, memo = "", amount = 5 } = {},
) => {
  const operation = { _tag: "Transfer", to: friend, amount: Sats.make(amount), memo } as const
  return signed(networkId, key, nonce, operation, fee).json
}

describe("the parts of a submission", () => {
  const named = (memo: string, nonce = 0) => payment("udg-parts" as never, nonce, { memo })

  it("are whole transactions in order, with at most half of the characters that a node accepts", () => {
    const bodies = Array.from({ length: 1_000 }, (_, n) => named("\u0001".repeat(200), n))
    const all = parts(bodies)
    expect(all.flat()).toEqual(bodies)
    expect(all.length).toBeGreaterThan(1)
    for (const part of all) expect(JSON.stringify(part).length).toBeLessThan(524_288)
    // No part has room for the next one's first transaction.
    for (const [i, part] of all.slice(0, -1).entries())
      expect(JSON.stringify([...part, all[i + 1]?.[0]]).length).toBeGreaterThan(500_000)
  })

  it("number one for a thousand small transactions, and none for none", () => {
    const small = Array.from({ length: 1_000 }, () => named(""))
    expect(parts(small.slice(0, 900)).map((part) => part.length)).toEqual([900])
    expect(parts([])).toEqual([])
  })
})

const missing = !Server.isThere && process.env["CI"] === undefined

describe.skipIf(missing)(
  Rest.of("PostgreSQL, nodes, a gateway", "submissions to nodes that die while they answer"),
  { timeout: 300_000 },
  () => {
    let server: Server.Server
    let network: Processes.Founded
    let node = ""
    let follower: Follower
    let gateway: Gateway
    const doors: Array<Doorway.Doorway> = []

    beforeAll(async () => {
      server = await Server.make()
      const database = await server.create("submitting")
      network = Processes.found({ validators: 1, roundMs: 50, epochRounds: 600, networkId: "udg-submitting" })
      const [started] = await Processes.startAll(network, ["--archive", "--rate-limits", "off"])
      if (started === undefined) throw new Error("no node")
      node = started.http ?? ""
      follower = follow(network, "submitting", database, started)
      await Processes.until(`the archive begins: ${follower.said()}`, async () => (await position(database)) > 5)
      doors.push(await Doorway.before(node), await Doorway.before(node))
      gateway = await serve(
        network.genesisFile,
        database,
        doors.map(({ url }) => url),
      )
    })

    afterAll(async () => {
      for (const door of doors) door.close()
      gateway?.child.kill("SIGKILL")
      await follower?.end("SIGKILL")
      await Processes.removeAll()
      await server.remove()
    })

    let nonce = 0
    const next = () => payment(network.genesis.networkId, nonce++, { key: network.rich })
    const statusOf = async (hash: string): Promise<unknown> => {
      const { body } = await get(`${gateway.url}/tx/${hash}`)
      return typeof body === "object" && body !== null && "status" in body ? body.status : undefined
    }
    const submissions = () => doors.flatMap(({ asked }) => asked.filter(({ path }) => path === "/tx/submit"))
    /** Only the next submission fails like this. */
    const once = (fail: Doorway.Doorway["submission"]) => {
      for (const door of doors)
        door.submission = (pass) => {
          for (const other of doors) other.submission = (pass) => pass()
          return fail(pass)
        }
    }

    it("report a transaction as accepted that was executed before it came again", async () => {
      const body = next()
      // A node accepts the transaction and dies before it responds: the transaction is executed and its nonce used.
      const first = await post(`${node}/tx/submit`, body)
      await Processes.until("it is executed", async () => (await statusOf(first.body.tx_hash)) === "finalized")
      expect(await post(`${node}/tx/submit`, body)).toMatchObject({ status: 400, body: { code: "NonceTooLow" } })
      const before = submissions().length
      once(async () => undefined)
      expect(await post(`${gateway.url}/tx/submit`, body)).toEqual(first)
      expect(submissions().length - before).toBe(2)
      expect((await get(`${gateway.url}/balance/${friend}`)).body).toMatchObject({ balance: 5 })
    })

    it("report a used nonce if another transaction used it", async () => {
      once(async () => undefined)
      const other = payment(network.genesis.networkId, 0, { key: network.rich, amount: 77 })
      const answer = await post(`${gateway.url}/tx/submit`, other)
      expect(answer).toMatchObject({ status: 400, body: { code: "NonceTooLow", next_nonce: nonce } })
    })

    it("survive a node that died before it read them, and pay once", async () => {
      once(async () => undefined)
      const answer = await post(`${gateway.url}/tx/submit`, next())
      expect(answer).toMatchObject({ status: 200, body: { status: "accepted", nonce: nonce - 1 } })
      await Processes.until("it is final", async () => (await statusOf(answer.body.tx_hash)) === "finalized")
      expect((await get(`${gateway.url}/balance/${friend}`)).body).toMatchObject({ balance: 10 })
    })

    it("have more time for an array than for one transaction", async () => {
      const late: Doorway.Doorway["submission"] = async (pass) => {
        await new Promise((resolve) => setTimeout(resolve, 6_000))
        return pass()
      }
      for (const [bodies, sent] of [
        [[next()], 2],
        [[next(), next()], 1],
      ] as const) {
        const before = submissions().length
        once(late)
        const { status, body } = await post(`${gateway.url}/tx/submit`, bodies)
        expect([status, body]).toMatchObject([200, bodies.map(() => ({ status: "accepted" }))])
        expect(submissions().length - before).toBe(sent)
      }
    })

    it("of a large array get each answer in its place, from both nodes, also when one dies in between", async () => {
      const kinds = ["accepted", "fee_below_minimum", "NonceTooHigh"] as const
      const memo = "\u0001".repeat(256)
      const kindOf = (n: number) => (n % 3 === 0 && n / 3 < 20 ? kinds[0] : n % 3 === 1 ? kinds[1] : kinds[2])
      const made = () => {
        const first = nonce
        return Array.from({ length: 300 }, (_, n) => {
          const kind = kindOf(n)
          const options = { key: network.rich, memo, fee: kind === kinds[1] ? 999 : 1_000 }
          const own = kind === kinds[0] ? nonce++ : first + (kind === kinds[1] ? 40 : 500)
          return payment(network.genesis.networkId, own, options)
        })
      }
      for (const isBroken of [false, true]) {
        const bodies = made()
        const count = parts(bodies).length
        expect(count).toBeGreaterThan(1)
        const asked = doors.map((door) => door.asked.filter(({ path }) => path === "/tx/submit").length)
        if (isBroken) once(async (pass) => void (await pass()))
        const { status, body } = await post(`${gateway.url}/tx/submit`, bodies)
        expect(status).toBe(200)
        const answers = body as ReadonlyArray<{ status?: string; code?: string; rule?: string }>
        expect(answers.map(({ status, code, rule }) => status ?? rule ?? code)).toEqual(bodies.map((_, n) => kindOf(n)))
        const more = doors.map(
          (door, i) => door.asked.filter(({ path }) => path === "/tx/submit").length - (asked[i] ?? 0),
        )
        expect(Math.min(...more)).toBeGreaterThan(0)
        expect(more.reduce((sum, one) => sum + one, 0)).toBe(count + (isBroken ? 1 : 0))
      }
    })

    it("never carry a secret key or a faucet request", async () => {
      const secret_key = network.rich.toSecretHex()
      const fee = 1_000
      const requests: ReadonlyArray<readonly [string, object]> = [
        ["/tx", { secret_key, to: friend, amount: 1, fee }],
        ["/stake", { secret_key, amount: 200_000_000_000 }],
        ["/unstake", { secret_key }],
        ["/delegate", { secret_key, validator: friend, amount: 100_000_000 }],
        ["/undelegate", { secret_key }],
        ["/set-commission", { secret_key, commission_percent: 5 }],
        ["/proposal", { secret_key, title: "t", description: "", proposal_type: { Text: {} }, fee }],
        ["/vote", { secret_key, proposal_id: 1, vote: true, fee }],
        ["/faucet", { address: friend, amount: 1 }],
      ]
      const before = doors.map(({ asked }) => asked.filter(({ method }) => method === "POST").length)
      for (const [path, body] of requests)
        expect([path, await post(gateway.url + path, body)]).toMatchObject([path, { status: 501 }])
      expect((await get(`${gateway.url}/keygen`)).status).toBe(501)
      expect(doors.map(({ asked }) => asked.filter(({ method }) => method === "POST").length)).toEqual(before)
      expect(JSON.stringify(doors.map(({ asked }) => asked))).not.toContain(secret_key)
      expect(doors.flatMap(({ asked }) => asked.map(({ path }) => path))).not.toContain("/keygen")
    })
  },
)
