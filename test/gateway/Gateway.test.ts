/** Gateways over a real PostgreSQL, filled by a real archive from a real node. */
import { request } from "node:http"
import { connect, type Socket } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Client from "../../src/client/Client.js"
import * as Address from "../../src/protocol/identity/Address.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type { Operation } from "../../src/protocol/transaction/Operation.js"
import { position } from "../archive/Comparison.js"
import { type Follower, follow } from "../archive/Follower.js"
import * as Server from "../archive/Server.js"
import { udg } from "../blackbox/InProcess.js"
import * as Processes from "../network/Processes.js"
import { isTried } from "../ops/Kit.js"
import * as Rest from "../support/Rest.js"
import * as Nginx from "./Nginx.js"
import { type Gateway, get, post, serve, signed } from "./Serving.js"

describe.skipIf(!Server.isThere && process.env["CI"] === undefined)(
  Rest.of("PostgreSQL, validators, an archive and two gateways", "a gateway"),
  { timeout: 300_000 },
  () => {
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

    const ofRich = (nonce: number, operation: Operation, fee?: number) =>
      signed(network.genesis.networkId, network.rich, nonce, operation, fee).json

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
      await Processes.until(`the archive begins: ${follower.said()}`, async () => (await position(database)) > 5)
      for (const statement of [
        "create role hidden_reader login",
        "grant select on all tables in schema public to hidden_reader",
        "alter default privileges grant select on tables to hidden_reader",
      ])
        await Server.query(database, statement)
      // One node of the first gateway does not exist.
      gateways.push(
        await serve(network.genesisFile, database.replace("udg@", "hidden_reader:hidden-word@"), [
          "http://127.0.0.1:9",
          node,
        ]),
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
        const answer = await post(`${at(nonce % 2)}/tx/submit`, ofRich(nonce, operation, fees[nonce]))
        expect(answer).toMatchObject({ status: 200, body: { status: "accepted", nonce } })
        hashes.push(String(answer.body.tx_hash))
      }
      for (const hash of hashes) await finalized(at(0), hash)
    })

    afterAll(async () => {
      for (const { child } of gateways) child.kill("SIGKILL")
      await follower.end("SIGKILL")
      await Processes.removeAll()
      await server.remove()
    })

    it("answers about final data as the node does", async () => {
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

    it("proves a balance like a node, to a client without trust", async () => {
      const rich = Address.fromPublicKey(network.rich.publicKey)
      const words = ["balance", rich, "--verify", "--genesis", network.genesisFile, "--json"]
      const { code, stdout, stderr } = await udg(...words, "--node", at(0))
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
      expect(JSON.parse(stdout)).toMatchObject({ checked: { node: at(0), signed_by: 1, members: 1 } })
    })

    it("describes the network as the node does, and itself as one with an archive", async () => {
      const [own, its] = [await get(`${at(0)}/network`), await get(`${node}/network`)]
      expect(its.body).toMatchObject({ has_archive: false })
      expect(own.body).toEqual({ ...(its.body as object), has_archive: true })
    })

    describe("the endpoints of an archive, which a node answers with 501,", () => {
      const rich = () => Address.fromPublicKey(network.rich.publicKey)

      const asked = async <A>(path: string): Promise<A> => {
        // A node also finds a time within the history that it stores.
        const isOfTime = path.startsWith("/transactions?") && !path.includes("words=")
        const refused = { status: 501, body: { code: "NotServed" } }
        expect(await get(node + path)).toMatchObject(isOfTime ? { status: 200 } : refused)
        const { status, body } = await get(at(0) + path)
        expect([path, status]).toEqual([path, 200])
        return body as A
      }

      /** Reads all pages, with one entry each. */
      const paged = async <A>(path: string, entries: string, next: string, name: string): Promise<ReadonlyArray<A>> => {
        const seen: Array<A> = []
        for (let after: unknown = null; ; ) {
          const url = `${path}${path.includes("?") ? "&" : "?"}limit=1${after === null ? "" : `&${name}=${after}`}`
          const page = await asked<Record<string, unknown>>(url)
          seen.push(...(page[entries] as ReadonlyArray<A>))
          after = page[next]
          if (after === null) return seen
        }
      }

      it("return an account's balance after each commit that changed it, and after any other", async () => {
        interface Balance {
          readonly commit: number
          readonly timestamp: number
          readonly balance: number
          readonly nonce: number
        }
        const path = `/account/${rich()}/balances`
        const { balances } = await asked<{ readonly balances: ReadonlyArray<Balance> }>(path)
        const { entries } = (await get(`${at(0)}/account/${rich()}/statement`)).body as {
          readonly entries: ReadonlyArray<{ readonly change: number; readonly timestamp: number }>
        }
        // From the oldest on, the statement's changes add up to each balance. Two commits can have the same time, so
        // each one takes as many changes as it needs.
        const left = entries.toReversed()
        let sum = 0
        for (const { timestamp, balance, commit } of balances.toReversed()) {
          while (sum !== balance && left[0]?.timestamp === timestamp) sum += left.shift()?.change ?? 0
          expect([commit, balance]).toEqual([commit, sum])
        }
        expect(left).toEqual([])
        expect([balances[0]?.nonce, balances.at(-1)]).toMatchObject([4, { commit: 0, nonce: 0 }])
        expect(await paged(path, "balances", "next_commit", "commit")).toEqual(balances)
        const [newest, second] = balances
        if (newest === undefined || second === undefined) return expect.fail()
        const between = await asked<{ readonly balances: ReadonlyArray<Balance> }>(
          `${path}?commit=${newest.commit - 1}&limit=1`,
        )
        expect(between.balances).toEqual([second])
        const next = () =>
          asked<{ readonly balances: ReadonlyArray<Balance> }>(`${path}?commit=${newest.commit + 1}&step=1&limit=3`)
        // A commit without transactions is recorded some seconds later.
        let stepped = await next()
        while (stepped.balances[0]?.commit === newest.commit) stepped = await next()
        expect(stepped.balances.map(({ commit, balance }) => [commit - newest.commit, balance])).toEqual([
          [1, newest.balance],
          [0, newest.balance],
          [-1, newest.commit - 1 === second.commit ? second.balance : stepped.balances[2]?.balance],
        ])
        expect(stepped.balances[2]?.balance).toBe(second.balance)
        const whole = await asked<{ readonly balances: ReadonlyArray<Balance> }>(`${path}?step=9007199254740991`)
        expect(whole.balances.length).toBe(1)
        expect(await asked(`/account/${"0".repeat(40)}/balances`)).toMatchObject({ balances: [], next_commit: null })
      })

      it("return accounts by balance", async () => {
        const { accounts } = await asked<{
          readonly accounts: ReadonlyArray<{
            readonly address: string
            readonly name: string
            readonly balance: number
          }>
        }>("/accounts")
        expect(accounts[0]).toMatchObject({ address: rich(), name: "gateway-friend" })
        const order = accounts.toSorted((a, b) => b.balance - a.balance || (a.address < b.address ? -1 : 1))
        expect(accounts).toEqual(order)
        const pages = await paged<{ readonly address: string }>("/accounts", "accounts", "next_cursor", "cursor")
        expect(pages.map(({ address }) => address)).toEqual(accounts.map(({ address }) => address))
        for (const cursor of ["x", "1", "zz.12", `-1.${rich()}`])
          expect((await get(`${at(0)}/accounts?cursor=${cursor}`)).status).toBe(400)
      })

      it("return activity by hour and by day", async () => {
        interface Sums {
          readonly timestamp: number
          readonly commits: number
          readonly transactions: number
          readonly failed: number
          readonly fees: number
        }
        for (const [interval, ms] of [
          ["hour", 3_600_000],
          ["day", 86_400_000],
        ] as const) {
          const { statistics } = await asked<{ readonly statistics: ReadonlyArray<Sums> }>(
            `/statistics?interval=${interval}`,
          )
          const sum = (of: (entry: Sums) => number) => statistics.reduce((total, entry) => total + of(entry), 0)
          expect(sum(({ transactions }) => transactions)).toBe(hashes.length)
          expect(sum(({ failed }) => failed)).toBe(0)
          expect(sum(({ fees }) => fees)).toBe(3_000 + 10_000 * Sats.SATS_PER_COIN)
          expect(sum(({ commits }) => commits)).toBeGreaterThan(5)
          expect(statistics.filter(({ timestamp }) => timestamp % ms !== 0)).toEqual([])
          const oldest = statistics.at(-1)?.timestamp ?? 0
          expect(oldest).toBe(Math.floor(1_700_000_000_000 / ms) * ms)
          const before = await asked<{ readonly statistics: ReadonlyArray<Sums> }>(
            `/statistics?interval=${interval}&until=${oldest}`,
          )
          expect(before.statistics).toEqual([])
        }
      })

      it("return transactions by words, type and time", async () => {
        const found = async (query: string): Promise<ReadonlyArray<number>> => {
          const { transactions } = await asked<{
            readonly transactions: ReadonlyArray<{ readonly hash: string }>
          }>(`/transactions?${query}`)
          return transactions.map(({ hash }) => hashes.indexOf(hash))
        }
        expect(await found("words=RENT")).toEqual([0])
        expect(await found("words=rent%00+1")).toEqual([0])
        expect(await found("words=%22rent+1%22&type=Transfer")).toEqual([0])
        for (const none of ["nothing", "-rent", "!%3F", "rent+2", "rent&type=StakeTx"])
          expect([none, await found(`words=${none}`)]).toEqual([none, []])
        expect(await found("from=0")).toEqual([3, 2, 1, 0])
        expect(await found("from=0&type=Transfer")).toEqual([2, 0])
        expect(await found("from=9007199254740991")).toEqual([])
        const times: Array<number> = []
        for (const hash of hashes)
          times.push(((await get(`${at(0)}/tx/${hash}`)).body as { readonly timestamp: number }).timestamp)
        const within = (from: number, until: number) =>
          times.flatMap((time, n) => (time >= from && time < until ? [n] : [])).reverse()
        const [moment = 0] = times.slice(2)
        expect(await found(`from=${moment}`)).toEqual(within(moment, Number.POSITIVE_INFINITY))
        expect(await found(`until=${moment}`)).toEqual(within(0, moment))
        expect(await found(`from=${moment}&until=${moment + 1}`)).toEqual(within(moment, moment + 1))
        expect(await paged("/transactions?from=0&type=Transfer", "transactions", "next_cursor", "cursor")).toHaveLength(
          2,
        )
        // Pages filtered by type are full, however many other transactions lie between.
        const ofType = (await get(`${at(0)}/transactions?type=RegisterNameTx&limit=1`)).body
        expect(ofType).toMatchObject({ transactions: [{ hash: hashes[1] }], next_cursor: null })
      })
    })

    it("names the commit of each answer, and waits at most two seconds for a requested one", async () => {
      const { commit } = await get(`${at(0)}/balance/${friendAddress}`)
      expect(commit).toMatch(/^\d+$/)
      const soon = String(Number(commit) + 3)
      const path = `/balance/${friendAddress}`
      let waited = await get(at(1) + path, { "Udg-Commit": soon })
      // On a busy machine three commits can take longer than two seconds.
      while (waited.status === 503) waited = await get(at(1) + path, { "Udg-Commit": soon })
      expect(waited.status).toBe(200)
      expect(Number(waited.commit)).toBeGreaterThanOrEqual(Number(soon))
      const far = await get(`${at(1)}/balance/${friendAddress}`, { "Udg-Commit": "999999999" })
      expect(far).toMatchObject({ status: 503, body: { code: "Unavailable" } })
      expect(await get(`${at(1)}/status`, { "Udg-Commit": "x" })).toMatchObject({ status: 400 })
    })

    it("caches no answer beyond its commit", async () => {
      // Every vertex earns rewards for the delegations to its validator. Nothing else is requested from this gateway
      // meanwhile.
      const staked = async () =>
        ((await get(`${at(1)}/validators`)).body as { readonly total_staked: number }).total_staked
      const first = await staked()
      await Processes.until("the next commit is seen", async () => (await staked()) !== first)
    })

    it("reports no final transaction that another gateway does not know, if asked with the commit", async () => {
      const { body } = await post(
        `${at(0)}/tx/submit`,
        ofRich(4, { _tag: "Transfer", to: friendAddress, amount: Sats.make(1), memo: "" }),
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

    it("refuses secret keys with the reason, and transactions that a node refuses", async () => {
      const secret = { secret_key: friend.toSecretHex(), to: friendAddress, amount: 1, fee: 1_000 }
      expect(await post(`${at(0)}/tx`, secret)).toMatchObject({ status: 501, body: { code: "NotServed" } })
      expect(await get(`${at(0)}/keygen`)).toMatchObject({ status: 501, body: { code: "NotServed" } })
      const old = ofRich(0, { _tag: "Transfer", to: friendAddress, amount: Sats.make(1), memo: "" })
      for (const body of [old, [old, old], { ...old, nonce: 99_999 }, {}, []])
        expect(await post(`${at(0)}/tx/submit`, body)).toEqual(await post(`${node}/tx/submit`, body))
    })

    it("forwards what only nodes know, and serves its own health, status and metrics", async () => {
      for (const path of [
        "/mempool",
        "/peers",
        "/metrics/json",
        "/dag",
        "/health/detailed",
        "/validators",
        "/health",
        "/ready",
      ])
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

    it.runIf(isTried("nginx", "-v"))(
      "shares the load with another one behind nginx, also when one of them dies",
      async () => {
        const third = await serve(network.genesisFile, database, [node])
        gateways.push(third)
        const { port, url, stop } = await Nginx.before(network.folder, gateways[0] ?? third, third)
        try {
          const events = Client.connect(url).events()[Symbol.asyncIterator]()
          // Usually a round; possibly a vertex that has just become final.
          expect((await events.next()).done).toBe(false)
          await events.return?.()
          expect((await get(`${url}/metrics`)).status).toBe(403)
          /** nginx balances by client address, so about half of these clients are at the gateway that dies. */
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
          const old = ofRich(0, { _tag: "Transfer", to: friendAddress, amount: Sats.make(1), memo: "" })
          const sent = await Promise.all(
            Array.from({ length: 20 }, (_, n) => asked(n + 1, "/tx/submit", JSON.stringify(old))),
          )
          // The node's own response, through either gateway.
          expect(new Set(sent)).toEqual(new Set([400]))
        } finally {
          await stop()
        }
      },
    )

    it("blocks neither PostgreSQL nor other clients for slow readers, with bounded memory", async () => {
      const asking = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
      const silent = (n: number, requests: string) => {
        const port = Number(new URL(at(0)).port)
        const socket = connect({ host: "127.0.0.1", localAddress: `127.0.4.${n + 1}`, port }).pause()
        socket.on("error", () => {})
        socket.write(requests)
        return socket
      }
      const document = await (await fetch(`${at(0)}/openapi.json`)).arrayBuffer()
      const pages = (documents: number) => asking("/openapi.json").repeat(documents) + asking("/transactions").repeat(3)
      const few = 5
      /** More than the kernel buffers for a socket that nobody reads. */
      const many = 60
      const modest = silent(0, pages(few))
      const greedy = Array.from({ length: 30 }, (_, n) => silent(1 + n, pages(many)))
      const listeners = Array.from({ length: 10 }, (_, n) => silent(101 + n, asking("/events")))
      try {
        const busy: Array<unknown> = []
        for (const until = performance.now() + 5_000; performance.now() < until; ) {
          // A gateway that waited for slow readers would give up after five seconds, and answer 503.
          expect((await get(`${at(0)}/balance/${friendAddress}`)).status).toBe(200)
          const long = await Server.query(
            database,
            "select state, query from pg_stat_activity where application_name = 'udg' and xact_start < now() - interval '3 seconds'",
          )
          busy.push(...long)
          await new Promise((resolve) => setTimeout(resolve, 200))
        }
        expect(busy).toEqual([])
        /** A reader that resumes receives everything, unless its connection was closed. */
        const isServed = (socket: Socket, documents: number) =>
          new Promise<boolean>((settle) => {
            let bytes = 0
            socket
              .on("data", (chunk) => {
                bytes += chunk.length
                if (bytes >= documents * document.byteLength) settle(true)
              })
              .on("close", () => settle(false))
              .resume()
          })
        expect(await isServed(modest, few)).toBe(true)
        const served = (await Promise.all(greedy.map((socket) => isServed(socket, many)))).filter(Boolean).length
        // The kernel has buffered some of each response, in addition to the 128 MiB.
        expect(served * many * document.byteLength).toBeLessThan(2 * 134_217_728)
      } finally {
        for (const socket of [modest, ...greedy, ...listeners]) socket.destroy()
      }
    })

    it("answers 503 while PostgreSQL is away, logs the reason once without credentials, and recovers", async () => {
      const before = gateways[0]?.said().length ?? 0
      await server.kill()
      const away = await get(`${at(0)}/balance/${friendAddress}`)
      expect(away).toMatchObject({ status: 503, body: { code: "Unavailable" } })
      expect(JSON.stringify(away.body)).not.toContain("postgres://")
      for (const probe of ["health", "ready"]) expect((await get(`${at(0)}/${probe}`)).status).toBe(503)
      // It checks the database once a second.
      for (const until = performance.now() + 3_000; performance.now() < until; ) {
        expect((await get(`${at(0)}/balance/${friendAddress}`)).status).toBe(503)
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
      await server.start()
      await Processes.until(
        "it answers again",
        async () => (await get(`${at(0)}/balance/${friendAddress}`)).status === 200,
      )
      const told = [
        ...(gateways[0]?.said() ?? "").slice(before).matchAll(/(?:archive does not answer|archive failed) .*/g),
      ]
      const reasons = told.map(([text]) => text)
      expect(reasons.length).toBeGreaterThan(1)
      expect(reasons).toEqual([...new Set(reasons)])
      expect(gateways[0]?.said()).not.toMatch(/hidden/)
    })

    it("keeps reading without a node, and answers transactions with 503", async () => {
      await started.kill()
      await Processes.until("it has noticed", async () => (await get(`${at(1)}/status`)).status === 503)
      const { status, body } = await get(`${at(1)}/balance/${Address.fromPublicKey(network.rich.publicKey)}`)
      expect([status, body]).toMatchObject([200, { nonce: 5, next_nonce: 5 }])
      const more = ofRich(5, { _tag: "Transfer", to: friendAddress, amount: Sats.make(1), memo: "" })
      expect(await post(`${at(1)}/tx/submit`, more)).toMatchObject({ status: 503, body: { code: "Unavailable" } })
    })
  },
)
