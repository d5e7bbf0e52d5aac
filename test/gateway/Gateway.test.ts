/** Gateways over a real PostgreSQL, filled by a real archive from a real node. */
import { request } from "node:http"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Client from "../../src/client/Client.js"
import * as Address from "../../src/protocol/identity/Address.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type { Operation } from "../../src/protocol/transaction/Operation.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import * as TransactionJson from "../../src/protocol/transaction/TransactionJson.js"
import { type Follower, follow } from "../archive/Follower.js"
import * as Server from "../archive/Server.js"
import { udg } from "../blackbox/InProcess.js"
import { Running } from "../blackbox/Running.js"
import * as Processes from "../network/Processes.js"
import { isTried, textOf } from "../ops/Kit.js"
import { freePort, mainConfiguration } from "../ops/RealNginx.js"
import { type Gateway, get, post, serve } from "./Serving.js"

describe.skipIf(!Server.isThere && process.env["CI"] === undefined)("a gateway", { timeout: 300_000 }, () => {
  let server: Server.Server
  let network: Processes.Founded
  let database = ""
  let node = ""
  let started: Processes.Started
  let follower: Follower
  const gateways: Array<Gateway> = []
  const hashes: Array<string> = []
  const friend = SecretKey.generate()
  const friendAddress = Address.fromPublicKey(friend.publicKey)

  const at = (n: number): string => gateways[n]?.url ?? ""

  const signed = (nonce: number, operation: Operation, fee = 1_000) => {
    const from = Address.fromPublicKey(network.rich.publicKey)
    const unsigned = { from, nonce: Natural.nonce(nonce), fee: Sats.make(fee), operation }
    return TransactionJson.toJson(Transaction.sign(network.genesis.networkId, unsigned, network.rich))
  }

  const finalized = (url: string, hash: string) =>
    Processes.until(`${hash} is final at ${url}`, async () => {
      const { body } = await get(`${url}/tx/${hash}`)
      return typeof body === "object" && body !== null && "status" in body && body.status === "finalized"
    })

  beforeAll(async () => {
    server = await Server.make()
    database = await server.create("gateway")
    network = Processes.found({ validators: 1, roundMs: 50, epochRounds: 60, networkId: "udg-gateway" })
    const [first] = await Processes.startAll(network, ["--archive", "--rate-limits", "off"])
    if (first === undefined) throw new Error("no node")
    started = first
    node = started.http ?? ""
    follower = follow(network, "a", database, started)
    await Processes.until(`the archive begins: ${follower.said()}`, async () => {
      const rows = await Server.query(database, "select commit_index from position").catch(() => [])
      return Number(rows[0]?.[0] ?? -1) > 5
    })
    // Of the first, one node is never there.
    gateways.push(
      await serve(network.genesisFile, database, ["http://127.0.0.1:9", node]),
      await serve(network.genesisFile, database, [node]),
    )
    const operations: ReadonlyArray<Operation> = [
      { _tag: "Transfer", to: friendAddress, amount: Sats.make(5_000_000), memo: "rent\u0000 1" },
      { _tag: "RegisterNameTx", name: "gateway-friend" as never },
      { _tag: "Transfer", to: friendAddress, amount: Sats.make(7), memo: "" },
      {
        _tag: "DelegateTx",
        validator: Address.fromPublicKey(network.keys[0]?.publicKey ?? friend.publicKey),
        amount: Sats.make(20 * Sats.SATS_PER_COIN),
      },
    ]
    const fees = [1_000, 10_000 * Sats.SATS_PER_COIN, 1_000, 1_000]
    for (const [nonce, operation] of operations.entries()) {
      const answer = await post(`${at(nonce % 2)}/tx/submit`, signed(nonce, operation, fees[nonce]))
      expect(answer).toMatchObject({ status: 200, body: { status: "accepted", nonce } })
      hashes.push(String(answer.body.tx_hash))
    }
    for (const hash of hashes) await finalized(at(0), hash)
  }, 240_000)

  afterAll(async () => {
    for (const { child } of gateways) child.kill("SIGKILL")
    await follower.end("SIGKILL")
    await Processes.removeAll()
    await server.remove()
  })

  it("answers what is final as the node does", async () => {
    const [first = ""] = hashes
    const lookup = await get(`${node}/tx/${first}`)
    const { vertex_hash: vertex, round } = lookup.body as { vertex_hash: string; round: number }
    const latest = (await get(`${at(0)}/checkpoint/latest`)).body as { round: number; hash: string }
    const rich = Address.fromPublicKey(network.rich.publicKey)
    const paths = [
      ...hashes.map((hash) => `/tx/${hash}`),
      `/balance/${friendAddress}`,
      `/balance/${rich}`,
      `/balance/${"0".repeat(40)}`,
      `/account/${friendAddress}/transactions`,
      `/account/${rich}/transactions?limit=2`,
      `/account/${friendAddress}/statement`,
      `/account/${rich}/statement?limit=2`,
      `/account/${rich}/policy`,
      `/names?addresses=${rich},${friendAddress}`,
      "/transactions",
      "/transactions?limit=2",
      "/network",
      "/governance/config",
      "/proposals",
      "/proposal/1",
      `/vote/1/${rich}`,
      `/delegation/${friendAddress}`,
      `/stake/${rich}`,
      `/vertex/${vertex}`,
      `/round/${round}`,
      `/checkpoint/${latest.round}`,
      `/checkpoint/hash/${latest.hash}`,
      "/checkpoint/epoch/0",
      `/tx/${"ab".repeat(32)}`,
      `/vertex/${"ab".repeat(32)}`,
      "/balance/nonsense",
      "/balance/@nobody-has-this",
      "/nothing",
      "/openapi.json",
    ]
    for (const path of paths) {
      const [own, its] = [await get(at(0) + path), await get(node + path)]
      expect([path, own.status, own.body]).toEqual([path, its.status, its.body])
    }
  })

  it("pages through a history and through everything as the node does", async () => {
    const rich = Address.fromPublicKey(network.rich.publicKey)
    for (const path of [`/account/${rich}/transactions`, `/account/${rich}/statement`, "/transactions"]) {
      const seen: Array<unknown> = []
      for (let cursor = ""; ; ) {
        const url = `${at(1)}${path}?limit=1${cursor}`
        const { status, body } = await get(url)
        expect(status).toBe(200)
        const { transactions, entries, next_cursor: next } = body as Record<string, ReadonlyArray<unknown> | undefined>
        seen.push(...(transactions ?? entries ?? []))
        if (next === null) break
        cursor = `&cursor=${next}`
      }
      const whole = (await get(`${node}${path}`)).body as Record<string, unknown>
      expect([path, seen]).toEqual([path, whole["transactions"] ?? whole["entries"]])
    }
  })

  it("proves a balance as a node does, to a client that believes nobody", async () => {
    const rich = Address.fromPublicKey(network.rich.publicKey)
    const words = ["balance", rich, "--verify", "--genesis", network.genesisFile, "--json"]
    const { code, stdout, stderr } = await udg(...words, "--node", at(0))
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(JSON.parse(stdout)).toMatchObject({ checked: { node: at(0), signed_by: 1, members: 1 } })
  })

  it("says of which commit an answer is, and waits for the commit of a request for two seconds at most", async () => {
    const { commit } = await get(`${at(0)}/balance/${friendAddress}`)
    expect(commit).toMatch(/^\d+$/)
    const soon = String(Number(commit) + 3)
    const waited = await get(`${at(1)}/balance/${friendAddress}`, { "Udg-Commit": soon })
    expect(waited.status).toBe(200)
    expect(Number(waited.commit)).toBeGreaterThanOrEqual(Number(soon))
    const far = await get(`${at(1)}/balance/${friendAddress}`, { "Udg-Commit": "999999999" })
    expect(far).toMatchObject({ status: 503, body: { code: "Unavailable" } })
    expect(await get(`${at(1)}/status`, { "Udg-Commit": "x" })).toMatchObject({ status: 400 })
  })

  it("tells nobody of a final transaction that another gateway does not know, if asked with the commit", async () => {
    const { body } = await post(
      `${at(0)}/tx/submit`,
      signed(4, { _tag: "Transfer", to: friendAddress, amount: Sats.make(1), memo: "" }),
    )
    const hash = String(body.tx_hash)
    for (let n = 0; ; n++) {
      const one = await get(`${at(n % 2)}/tx/${hash}`)
      expect([n, one.status]).toEqual([n, 200])
      const other = await get(`${at((n + 1) % 2)}/tx/${hash}`, { "Udg-Commit": one.commit ?? "" })
      const [before, after] = [one.body, other.body] as ReadonlyArray<{ readonly status: string }>
      if (before?.status !== "finalized") continue
      expect(after?.status).toBe("finalized")
      break
    }
  })

  it("takes no secret key and says so, and no transaction that a node refuses", async () => {
    const secret = { secret_key: friend.toSecretHex(), to: friendAddress, amount: 1, fee: 1_000 }
    expect(await post(`${at(0)}/tx`, secret)).toMatchObject({ status: 501, body: { code: "NotServed" } })
    expect(await get(`${at(0)}/keygen`)).toMatchObject({ status: 501, body: { code: "NotServed" } })
    const old = signed(0, { _tag: "Transfer", to: friendAddress, amount: Sats.make(1), memo: "" })
    for (const body of [old, [old, old], { ...old, nonce: 99_999 }, {}, []])
      expect(await post(`${at(0)}/tx/submit`, body)).toEqual(await post(`${node}/tx/submit`, body))
  })

  it("answers what only nodes know, and its own health, status and metrics", async () => {
    for (const path of ["/mempool", "/peers", "/metrics/json", "/dag", "/health/detailed", "/validators", "/health"])
      expect([path, (await get(at(0) + path)).status]).toEqual([path, 200])
    expect(Object.keys((await get(`${at(0)}/status`)).body as object)).toEqual(
      Object.keys((await get(`${node}/status`)).body as object),
    )
    const metrics = String((await get(`${at(0)}/metrics`)).body)
    expect(metrics).toMatch(/^udg_gateway_commit \d+$/m)
    expect(metrics).toMatch(/^udg_gateway_nodes 2$/m)
    expect(metrics).toMatch(/^udg_gateway_nodes_healthy 1$/m)
    const rich = Address.fromPublicKey(network.rich.publicKey)
    const proof = await get(`${at(0)}/proof/${rich}`)
    expect(proof.status).toBe(200)
    expect((await get(`${at(0)}/delegation/${rich}`)).status).toBe(200)
  })

  it.runIf(isTried("nginx", "-v"))("serves with another one behind nginx, also when one of them dies", async () => {
    const third = await serve(network.genesisFile, database, [node])
    gateways.push(third)
    const port = await freePort()
    const configuration = [
      ["  listen 80;", `  listen 127.0.0.1:${port};`],
      ["server gateway-1:10333 ", `server ${new URL(at(0)).host} `],
      ["server gateway-2:10333 ", `server ${new URL(third.url).host} `],
    ].reduce((text, [what = "", instead = ""]) => {
      expect(text.split(what)).toHaveLength(2)
      return text.replace(what, instead)
    }, textOf("nginx/gateways.conf"))
    const nginx = new Running("nginx", ["-c", mainConfiguration(join(network.folder, "nginx"), configuration)])
    const url = `http://127.0.0.1:${port}`
    try {
      await Processes.until("nginx serves", () =>
        get(`${url}/health`).then(
          ({ status }) => status === 200,
          () => false,
        ),
      )
      const events = Client.connect(url).events()[Symbol.asyncIterator]()
      expect((await events.next()).value.event.type).toBe("round")
      await events.return?.()
      expect((await get(`${url}/metrics`)).status).toBe(403)
      /** Each address is a client of its own; about half of them are at the gateway that dies. */
      const asked = (n: number, path: string, body?: string) =>
        new Promise<number>((answered, failed) => {
          const options = { host: "127.0.0.1", port, path, localAddress: `127.0.3.${n}`, agent: false }
          const headers = body === undefined ? {} : { "content-type": "application/json" }
          request({ ...options, headers, method: body === undefined ? "GET" : "POST" }, (answer) => {
            answer.resume().on("end", () => answered(answer.statusCode ?? 0))
          })
            .on("error", failed)
            .end(body)
        })
      const all = () => Promise.all(Array.from({ length: 20 }, (_, n) => asked(n + 1, `/balance/${friendAddress}`)))
      expect(new Set(await all())).toEqual(new Set([200]))
      third.child.kill("SIGKILL")
      expect(new Set(await all())).toEqual(new Set([200]))
      const old = signed(0, { _tag: "Transfer", to: friendAddress, amount: Sats.make(1), memo: "" })
      const sent = await Promise.all(
        Array.from({ length: 20 }, (_, n) => asked(n + 1, "/tx/submit", JSON.stringify(old))),
      )
      // The node's own answer, from whichever gateway.
      expect(new Set(sent)).toEqual(new Set([400]))
    } finally {
      nginx.signal("SIGTERM")
      await nginx.end()
    }
  })

  it("says 503 while PostgreSQL is away, and goes on when it is back", async () => {
    await server.kill()
    const away = await get(`${at(0)}/balance/${friendAddress}`)
    expect(away).toMatchObject({ status: 503, body: { code: "Unavailable" } })
    expect(JSON.stringify(away.body)).not.toContain("postgres://")
    expect((await get(`${at(0)}/health`)).status).toBe(503)
    await server.start()
    await Processes.until(
      "it answers again",
      async () => (await get(`${at(0)}/balance/${friendAddress}`)).status === 200,
    )
  })

  it("reads on without a node, and says 503 to transactions", async () => {
    await started.kill()
    await Processes.until("it has noticed", async () => (await get(`${at(1)}/status`)).status === 503)
    const { status, body } = await get(`${at(1)}/balance/${Address.fromPublicKey(network.rich.publicKey)}`)
    expect([status, body]).toMatchObject([200, { nonce: 5, next_nonce: 5 }])
    const more = signed(5, { _tag: "Transfer", to: friendAddress, amount: Sats.make(1), memo: "" })
    expect(await post(`${at(1)}/tx/submit`, more)).toMatchObject({ status: 503, body: { code: "Unavailable" } })
  })
})
