/** Which requests a gateway makes to its node, recorded by a proxy in between, and which it answers itself. */
import * as Http from "node:http"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Address from "../../src/protocol/identity/Address.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import * as Name from "../../src/protocol/identity/Name.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type { Operation } from "../../src/protocol/transaction/Operation.js"
import { position } from "../archive/Comparison.js"
import { type Follower, follow } from "../archive/Follower.js"
import * as Server from "../archive/Server.js"
import * as Processes from "../network/Processes.js"
import * as Rest from "../support/Rest.js"
import * as Doorway from "./Doorway.js"
import { type Gateway, get, post, serve, signed } from "./Serving.js"

const owners = Array.from({ length: 60 }, () => SecretKey.generate())
const addresses = owners.map(({ publicKey }) => Address.fromPublicKey(publicKey))

interface Checkpoint {
  readonly round: number
  readonly hash: string
}

describe.skipIf(!Server.isThere && process.env["CI"] === undefined)(
  Rest.of("PostgreSQL, a node, a gateway", "the questions of a gateway to a node"),
  { timeout: 300_000 },
  () => {
    let server: Server.Server
    let database = ""
    let network: Processes.Founded
    let node = ""
    let follower: Follower
    let gateway: Gateway
    let door: Doorway.Doorway
    /** A checkpoint within an epoch, from before the archive began. */
    let old: Checkpoint = { round: 0, hash: "" }

    beforeAll(async () => {
      server = await Server.make()
      database = await server.create("asking")
      network = Processes.found({
        ...{ validators: 1, roundMs: 50, epochRounds: 60, networkId: "udg-asking" },
        allocations: addresses.map((address, n) => ({ address, amount: Sats.make((n + 1) * Sats.SATS_PER_COIN) })),
      })
      const [started] = await Processes.startAll(network, ["--archive", "--rate-limits", "off"])
      if (started === undefined) throw new Error("no node")
      node = started.http ?? ""
      await Processes.until("there is a checkpoint", async () => {
        const { status, body } = await get(`${node}/checkpoint/latest`)
        if (status === 200) old = body as Checkpoint
        return old.round > 40
      })
      follower = follow(network, "asking", database, started)
      // By then its signatures are no longer gossiped.
      await Processes.until(
        `the archive has it: ${follower.said()}`,
        async () => (await position(database)) > old.round + 20,
      )
      door = await Doorway.before(node)
      gateway = await serve(network.genesisFile, database, [door.url])
    })

    afterAll(async () => {
      door?.close()
      gateway?.child.kill("SIGKILL")
      await follower?.end("SIGKILL")
      await Processes.removeAll()
      await server.remove()
    })

    /** The paths of the requests that the node received meanwhile. */
    const askedBy = async (act: () => Promise<void>): Promise<ReadonlyArray<string>> => {
      const before = door.asked.length
      await act()
      return door.asked.slice(before).map(({ path }) => path)
    }

    const send = async (from: SecretKey, nonce: number, fee: number, operation: Operation) => {
      const { json } = signed(network.genesis.networkId, from, nonce, operation, fee)
      expect(await post(`${gateway.url}/tx/submit`, json)).toMatchObject({ status: 200 })
    }

    const pay = (from: SecretKey, nonce: number) =>
      send(from, nonce, 1_000, { _tag: "Transfer", to: addresses[0] ?? expect.fail(), amount: Sats.make(5), memo: "" })

    const isArchived = (sender: string | undefined) =>
      Processes.until("it is in the archive", async () => {
        const rows = await Server.query(database, "select count(*) from transactions where sender = $1", [
          Buffer.from(sender ?? "", "hex"),
        ])
        return Number(rows[0]?.[0]) === 1
      })

    it("ask once per balance, and return to each of many simultaneous requests its own", async () => {
      const asked = await askedBy(async () => {
        const all = await Promise.all(addresses.map((address) => get(`${gateway.url}/balance/${address}`)))
        expect(all.map(({ status, body }) => [status, body])).toEqual(
          await Promise.all(
            addresses.map(async (address) => [200, (await get(`${node}/balance/${address}`)).body] as const),
          ),
        )
      })
      // Earlier requests may still arrive.
      const balances = asked.filter((path) => path.startsWith("/balance/"))
      expect([...balances].sort()).toEqual(addresses.map((address) => `/balance/${address}`).sort())
    })

    it("are repeated each time for a nonce, which includes transactions sent just now", async () => {
      const [, payer = expect.fail()] = owners
      const path = `/balance/${Address.fromPublicKey(payer.publicKey)}`
      for (let nonce = 0; nonce < 20; nonce++) {
        await pay(payer, nonce)
        expect((await get(gateway.url + path)).body).toMatchObject({ next_nonce: nonce + 1 })
      }
    })

    it("are not needed for searching", async () => {
      await pay(owners[2] ?? expect.fail(), 0)
      await isArchived(addresses[2])
      const [[hash] = [], [vertex] = []] = [
        ...(await Server.query(
          database,
          "select encode(hash, 'hex') from transactions order by sequence desc limit 1",
        )),
        ...(await Server.query(
          database,
          "select encode(hash, 'hex') from vertices order by commit_index desc limit 1",
        )),
      ]
      const [address = ""] = addresses
      const whole = [address, String(hash), String(vertex)]
      const digits = [
        ...whole.map((text) => text.slice(0, 9)),
        ...whole,
        address.slice(0, 39),
        `${address}a`,
        "f".repeat(64),
      ]
      const asked = await askedBy(async () => {
        for (const prefix of digits) {
          const path = `/search?prefix=${prefix}`
          const [own, its] = [await get(gateway.url + path), await get(node + path)]
          expect([path, own.status, own.body]).toEqual([path, its.status, its.body])
        }
      })
      expect(asked).toEqual([])
      expect((await get(`${gateway.url}/search?prefix=${address.slice(0, 9)}`)).body).toMatchObject({
        accounts: [address],
      })
    })

    it("are not needed for names by prefix in alphabetical order, or for accounts as people write them", async () => {
      const names = ["harbour", "harbour-2", "harbours", "harb0ur"].filter(Name.isName)
      for (const [i, name] of names.entries()) {
        await send(owners[i + 10] ?? expect.fail(), 0, 100_000, { _tag: "RegisterNameTx", name })
        await isArchived(addresses[i + 10])
      }
      const [, , , , , , , , , , owner = ""] = addresses
      const written = Address.toBech32(owner as Address.Address, "tudg")
      const texts = [
        "harb",
        "@harbo",
        "harbour-",
        "harbx",
        written.slice(0, 12),
        written,
        `udg1${written.slice(5, 14)}`,
      ]
      const asked = await askedBy(async () => {
        for (const text of texts) {
          const path = `/search?prefix=${text}`
          const [own, its] = [await get(gateway.url + path), await get(node + path)]
          expect([path, own.status, own.body]).toEqual([path, its.status, its.body])
        }
      })
      expect(asked).toEqual([])
      const found = (await get(`${gateway.url}/search?prefix=harb`)).body
      expect(found).toMatchObject({
        names: ["harb0ur", "harbour", "harbour-2", "harbours"].map((name) => ({ name })),
        accounts: [],
      })
      expect((await get(`${gateway.url}/search?prefix=${written.slice(0, 12)}`)).body).toMatchObject({
        accounts: [owner],
      })
    })

    it("are not needed for histories by direction and time, or for checkpoints that closed epochs", async () => {
      const [, payer = ""] = addresses
      const history = `/account/${payer}/transactions`
      const { body } = await get(`${node}${history}?limit=9`)
      const { transactions } = body as { readonly transactions: ReadonlyArray<{ readonly timestamp: number }> }
      const middle = transactions.at(-1)?.timestamp ?? expect.fail()
      const paths = [
        `${history}?direction=sent&limit=3`,
        `${history}?direction=received`,
        `${history}?from=${middle}`,
        `${history}?until=${middle}&limit=4`,
        `/transactions?until=${middle}&limit=4`,
        "/checkpoints?closing=only&before=100",
      ]
      const asked = await askedBy(async () => {
        for (const path of paths) {
          const [own, its] = [await get(gateway.url + path), await get(node + path)]
          // Each has its own cursors.
          const withoutCursor = (body: unknown) => ({ ...(body as object), next_cursor: undefined })
          expect([path, own.status, withoutCursor(own.body)]).toEqual([path, its.status, withoutCursor(its.body)])
        }
      })
      expect(asked).toEqual([])
      expect((await get(`${gateway.url}/checkpoints?closing=only&before=100`)).body).toMatchObject({
        checkpoints: [{ epoch: 1, closes_epoch: true, members: 1 }],
        next_round: null,
      })
    })

    it("are never about an invalid account, wherever the path would lead", async () => {
      /** `fetch` would normalize the dots away. */
      const statusOf = (base: string, path: string) =>
        new Promise<readonly [number | undefined, string]>((resolve, reject) => {
          const { hostname, port } = new URL(base)
          Http.get({ hostname, port, path }, (answer) => {
            let text = ""
            answer.setEncoding("utf8").on("data", (piece: string) => (text += piece))
            answer.on("end", () => resolve([answer.statusCode, text]))
          }).on("error", reject)
        })
      const asked = await askedBy(async () => {
        for (const path of [
          "/proof/..",
          "/proof/.",
          "/proof/%2e%2e",
          "/proof/x",
          "/validator/../rounds",
          "/proof/@nobody",
        ]) {
          const own = await statusOf(gateway.url, path)
          expect([path, ...own]).toEqual([path, ...(await statusOf(node, path))])
          expect(own[0]).toBe(path.includes("@") ? 404 : 400)
        }
      })
      expect(asked).toEqual([])
    })

    it("include its rounds, and never show fewer than are final", async () => {
      for (let n = 0; n < 30; n++) {
        const { body } = await get(`${gateway.url}/status`)
        const { dag_round, last_finalized_round } = body as Record<"dag_round" | "last_finalized_round", number>
        expect(dag_round).toBeGreaterThanOrEqual(last_finalized_round)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    })

    it("are refused for a node of another network, or one that does not answer, with the reason", async () => {
      const other = Processes.found({ validators: 1, roundMs: 50, epochRounds: 60, networkId: "udg-elsewhere" })
      const [stranger = expect.fail()] = await Processes.startAll(other, [])
      const lonely = await serve(network.genesisFile, database, [stranger.http ?? "", "http://127.0.0.1:1"])
      try {
        expect(lonely.said()).toMatch(
          /a node cannot be used .*it belongs to udg-elsewhere, .*; name a node of this network/,
        )
        expect(lonely.said()).toMatch(/a node cannot be used .*127\.0\.0\.1:1/)
        expect((await get(`${lonely.url}/metrics`)).body).toContain("udg_gateway_nodes_healthy 0")
        expect(await get(`${lonely.url}/mempool`)).toMatchObject({
          status: 503,
          body: { code: "Unavailable", error: "none of the gateway's nodes answers; ask again in a moment" },
        })
      } finally {
        lonely.child.kill("SIGKILL")
      }
    })

    it("are about checkpoints only that must exist and that the archive lacks", async () => {
      const held = await Server.query(database, "select count(*) from checkpoints where round = $1", [old.round])
      expect(Number(held[0]?.[0])).toBe(0)
      const paths = [`/checkpoint/${old.round}`, `/checkpoint/hash/${old.hash}`]
      const asked = await askedBy(async () => {
        for (const path of paths) expect((await get(gateway.url + path)).body).toEqual((await get(node + path)).body)
      })
      expect(asked).toEqual(paths)
      const last = await position(database)
      const none = await askedBy(async () => {
        const rounds = [...[1, 2, 3, 4].map((n) => old.round + n), last + 1_000_000, 2 ** 53 - 1]
        for (const round of rounds)
          expect(await get(`${gateway.url}/checkpoint/${round}`)).toMatchObject({
            ...{ status: 404, body: { code: "CheckpointNotFound" } },
          })
      })
      expect(none).toEqual([])
    })

    it("about made-up hashes of checkpoints are limited to twenty a second in total", async () => {
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      const began = performance.now()
      const statuses: Array<number> = []
      const answered = () => statuses.filter((status) => status === 404).length
      const asked = await askedBy(async () => {
        // A single network has a budget below twenty a second, which a fast machine uses up within a second.
        while (answered() <= 20) {
          const hashes = Array.from({ length: 300 }, (_, n) => n.toString(16).padStart(64, "0"))
          const all = await Promise.all(hashes.map((hash) => get(`${gateway.url}/checkpoint/hash/${hash}`)))
          statuses.push(...all.map(({ status }) => status))
        }
      })
      const secondsBegun = Math.ceil((performance.now() - began) / 1_000) + 1
      expect(asked.length).toBe(answered())
      expect(asked.length).toBeLessThanOrEqual(20 * secondsBegun)
      expect(new Set(statuses)).toEqual(new Set([404, 503]))
    })
  },
)
