/** Errors that a node returns only when it is in trouble, provoked and read over HTTP. */
import { connect, type Socket } from "node:net"
import { Effect, Exit, Layer, Option, Scope } from "effect"
import { afterEach, expect, it } from "vitest"
import { Network, offline } from "../../src/network/Network.js"
import * as Engine from "../../src/node/engine/Engine.js"
import * as Pruning from "../../src/node/offline/Pruning.js"
import { RpcUrl } from "../../src/node/RpcUrl.js"
import type { Settings } from "../../src/node/start/Configuration.js"
import type { Failure } from "../../src/rpc/api/Failure.js"
import * as HttpInterface from "../../src/rpc/HttpInterface.js"
import * as Testing from "../../src/testing/Testing.js"
import * as InMemory from "../network/InMemory.js"
import * as world from "../node/world.js"
import * as Rest from "../support/Rest.js"

const COIN = 100_000_000
const FEE = 1_000
/** Nothing is finalized while a test runs. */
const NEVER_MS = 60_000

const TIMEOUT_MS = 300_000

const scopes: Array<Scope.CloseableScope> = []
afterEach(async () => {
  for (const scope of scopes.splice(0).reverse()) await Effect.runPromise(Scope.close(scope, Exit.void))
})

/** What a layer provides, until the test ends. */
const started = async <A, E>(layer: Layer.Layer<A, E>) => {
  const scope = Effect.runSync(Scope.make())
  scopes.push(scope)
  return Effect.runPromise(Layer.buildWithScope(layer, scope))
}

const node = async (options: Testing.Options) => {
  const context = await started(Testing.TestNode.layer(options))
  return Effect.runSync(Effect.provide(Testing.TestNode, context))
}

const ask = async (url: string, path: string, body?: unknown) => {
  const options = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }
  const response = await fetch(`${url}${path}`, body === undefined ? {} : options)
  const retryAfter = response.headers.get("retry-after")
  return { status: response.status, retryAfter, body: JSON.parse(await response.text()) }
}

const refusal = (status: number, code: Failure["_tag"], retryAfter: string | null, more: object = {}) => ({
  status,
  retryAfter,
  body: { code, error: expect.any(String), ...more },
})

it(
  Rest.of("ten thousand signatures", "refuses transactions below the lowest fee of a mempool of ten thousand"),
  async () => {
    const SENDERS = 157
    const EACH = 64
    const { url, accounts } = await node({ roundMs: NEVER_MS, accounts: SENDERS + 1 })
    const payments = accounts
      .slice(0, SENDERS)
      .flatMap((sender) =>
        Array.from({ length: EACH }, (_, nonce) => sender.transfer({ to: sender.address, amount: 1, fee: FEE, nonce })),
      )
      .slice(0, 10_000)
    for (let i = 0; i < payments.length; i += 1_000) {
      const { body } = await ask(url, "/tx/submit", payments.slice(i, i + 1_000))
      expect(body.filter(({ status_code }: { status_code: number }) => status_code !== 200)).toEqual([])
    }
    const newcomer = accounts[SENDERS]
    const pay = (fee: number) =>
      ask(url, "/tx/submit", newcomer?.transfer({ to: newcomer.address, amount: 1, fee, nonce: 0 }))
    expect(await pay(FEE)).toEqual(refusal(503, "MempoolFull", "1", { capacity: 10_000 }))
    expect(await pay(FEE + 1)).toMatchObject({ status: 200 })
    expect((await ask(url, "/status")).body.mempool_size).toBe(10_000)
    const { components } = (await ask(url, "/health/detailed")).body
    expect(components.mempool).toEqual({ status: "unhealthy", size: 10_000, capacity: 10_000 })
  },
  TIMEOUT_MS,
)

it("refuses an account that has replaced its transactions too often", async () => {
  const { url, accounts } = await node({ roundMs: NEVER_MS })
  const [alice] = accounts
  if (alice === undefined) throw new Error("no account has coins")
  const pay = (nonce: number, fee: number) =>
    ask(url, "/tx/submit", alice.transfer({ to: alice.address, amount: 1, fee, nonce }))
  for (let times = 0; times <= 16; times++) expect((await pay(1, FEE * 2 ** times)).status).toBe(200)
  const throttled = {
    ...refusal(409, "AccountThrottled", null, { next_nonce: 0, retry_after_seconds: expect.any(Number) }),
    retryAfter: expect.stringMatching(/^\d+$/),
  }
  expect(await pay(1, FEE * 2 ** 17)).toEqual(throttled)
  expect(await pay(2, FEE)).toEqual(throttled)
  expect((await pay(0, FEE)).status).toBe(200)
  const key = alice.secretKey.toSecretHex()
  const signed = { secret_key: key, to: alice.address, amount: 1, fee: FEE }
  expect(await ask(url, "/tx", signed)).toEqual(throttled)
})

it("reports a faucet that is down to its reserve or has too many payments pending", async () => {
  const { url, accounts } = await node({ roundMs: NEVER_MS })
  const address = accounts[0]?.address
  const most = 100_000 * COIN
  const pay = (amount: number) => ask(url, "/faucet", { address, amount })
  // Its reserve of five million coins, less the fees.
  for (let i = 0; i < 49; i++) expect((await pay(most)).status).toBe(200)
  const empty = await pay(most)
  expect(empty).toEqual(refusal(503, "FaucetUnavailable", null))
  expect(empty.body.error).toMatch(/^the faucet has only [\d.]+ UDG \(\d+ sats\) left/)
  for (let i = 49; i < 64; i++) expect((await pay(1)).status).toBe(200)
  expect((await pay(1)).body).toMatchObject({ code: "FaucetUnavailable", error: expect.stringContaining("pending") })
})

it("refuses a second proposal where only one may be active", async () => {
  const { url, accounts, client, finalized } = await node({ parameters: { maxActiveProposals: 1 } })
  const [alice] = accounts
  if (alice === undefined) throw new Error("no account has coins")
  const submit = async (payload: ReturnType<typeof alice.stake>) => {
    const answer = await client.transactions.submit({ payload })
    if (!("tx_hash" in answer)) throw new Error("one transaction, one answer")
    expect(await finalized(answer.tx_hash)).toMatchObject({ applied: true })
  }
  const proposal = { title: "One", description: "", proposal_type: { Text: {} }, fee: FEE }
  await submit(alice.stake({ amount: 2_000 * COIN, nonce: 0 }))
  await submit(alice.createProposal({ ...proposal, nonce: 1 }))
  const tooMany = refusal(409, "TooManyActiveProposals", null, { limit: 1 })
  expect(await ask(url, "/tx/submit", alice.createProposal({ ...proposal, nonce: 2 }))).toEqual(tooMany)
  const key = alice.secretKey.toSecretHex()
  expect(await ask(url, "/proposal", { ...proposal, secret_key: key })).toEqual(tooMany)
})

it(
  "refuses bodies beyond the server's memory and one event stream too many",
  async () => {
    const { url } = await node({})
    const port = Number(new URL(url).port)
    const half = Buffer.from(`[${" ".repeat(1_000_000)}`)
    const head = `POST /tx/submit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${half.length + 9}\r\n\r\n`
    const answers: Array<string> = []
    const sockets = Array.from({ length: 80 }, (): Socket => {
      const socket = connect({ port, host: "127.0.0.1" })
      socket.on("error", () => {})
      socket.setEncoding("utf8").on("data", (text: string) => answers.push(text))
      socket.write(head)
      socket.write(half)
      return socket
    })
    await expect.poll(() => answers.length).toBeGreaterThan(0)
    expect(answers[0]).toMatch(/^HTTP\/1\.1 503 .*\r\nRetry-After: 1\r\n.*"code":"Overloaded"/s)
    expect((await ask(url, "/status")).status).toBe(200)
    for (const socket of sockets) socket.destroy()
    // Coins from payments that were never finalized are returned.
    await expect.poll(async () => (await ask(url, "/tx/submit", {})).status).toBe(400)

    const leaving = new AbortController()
    const open = () => fetch(`${url}/events`, { signal: leaving.signal })
    const streams = await Promise.all(Array.from({ length: 100 }, open))
    expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200))
    expect(await ask(url, "/events")).toEqual(refusal(503, "Overloaded", "10", { retry_after_seconds: 10 }))
    leaving.abort()
    await expect.poll(async () => (await ask(url, "/status")).status).toBe(200)
  },
  TIMEOUT_MS,
)

/** A node with files on a network with this genesis, and its address. */
const serving = async (directory: string, changes: Partial<Settings>, network = offline, engine = Engine.layer) => {
  const settings = { rateLimits: false, roundMs: Option.none(), ...changes }
  const node = world.node(directory, settings, network, engine)
  const context = await started(Layer.provideMerge(HttpInterface.layer, node))
  const { url } = Effect.runSync(Effect.provide(RpcUrl, context))
  return { url, context }
}

const untilFinalized = (url: string, round: number) =>
  expect.poll(async () => (await ask(url, "/status")).body.last_finalized_round).toBeGreaterThan(round)

/** A peer that reports how far the others are, but withholds what the node needs to follow. */
const withholding = (network: Layer.Layer<Network>): Layer.Layer<Network> =>
  Layer.effect(
    Network,
    Effect.map(Network, ({ send, ...rest }) => ({
      ...rest,
      send: (to, message) => (message._tag === "AskClosing" ? send(to, message) : Effect.void),
    })),
  ).pipe(Layer.provide(network))

const temporaryDirectory = async () => {
  const scope = Effect.runSync(Scope.make())
  scopes.push(scope)
  return Effect.runPromise(Scope.extend(Effect.provide(world.temporaryDirectory, world.platform), scope))
}

const protocol = { epochRounds: 40, collectionDepthRounds: 20, roundIntervalMs: 5 }

const notReady = {
  ...refusal(503, "NotReady", "5"),
  body: { code: "NotReady", error: expect.any(String), reason: "behind" },
}

it(
  Rest.of("a network", "refuses transactions and proofs while the node fetches the state of others"),
  async () => {
    const [directory, other] = [await temporaryDirectory(), await temporaryDirectory()]
    await Effect.runPromise(Effect.scoped(world.found(directory, protocol)))
    const hub = Effect.runSync(InMemory.hub)
    const founder = await serving(directory, {}, hub.join("founder", null))
    await untilFinalized(founder.url, 3 * protocol.epochRounds)
    const joining = {
      genesisFile: Option.some(`${directory}/genesis.json`),
      faucetKeyFile: Option.some(`${directory}/faucet.key`),
      validate: false,
    }
    const { url } = await serving(other, joining, withholding(hub.join("joiner", null)))
    // It occasionally gives up and starts again.
    const answers = (ask: () => Promise<unknown>) => expect.poll(ask)
    await answers(() => ask(url, "/faucet", { address: "00".repeat(20), amount: 1 })).toEqual(notReady)
    await answers(() => ask(url, `/proof/${"00".repeat(20)}`)).toEqual(notReady)
    await answers(() => ask(url, "/ready")).toEqual(notReady)
    expect(await ask(url, "/status")).toMatchObject({ status: 200, body: { peers: 1 } })
    expect(await ask(url, "/health")).toMatchObject({ status: 200 })
  },
  TIMEOUT_MS,
)

it(
  "forwards faucet requests to another node when it lacks the faucet's key",
  async () => {
    const directory = await temporaryDirectory()
    await Effect.runPromise(Effect.scoped(world.found(directory, protocol)))
    const changes = { genesisFile: Option.some(`${directory}/genesis.json`), validate: false }
    const { url } = await serving(await temporaryDirectory(), changes)
    const answer = await ask(url, "/faucet", { address: "00".repeat(20), amount: 1 })
    expect(answer).toEqual(refusal(503, "FaucetUnavailable", null))
    expect(answer.body.error).toContain("ask another")
  },
  TIMEOUT_MS,
)

it(
  Rest.of("ten thousand rounds", "tells a pruned round from one not yet reached, and still finds its transactions"),
  async () => {
    const directory = await temporaryDirectory()
    await Effect.runPromise(Effect.scoped(world.found(directory, protocol)))
    const { url, context } = await serving(directory, {}, offline, world.ahead(1_000_000))
    const { tx_hash } = (await ask(url, "/faucet", { address: "00".repeat(20), amount: 1 })).body
    await expect.poll(async () => (await ask(url, `/tx/${tx_hash}`)).body.status).toBe("finalized")
    const { round, vertex_hash } = (await ask(url, `/tx/${tx_hash}`)).body
    expect((await ask(url, `/round/${round}`)).status).toBe(200)
    await untilFinalized(url, round + 4 * protocol.epochRounds)
    await Effect.runPromise(Pruning.once.pipe(Effect.provide(context), Effect.provide(world.platform)))
    const gone = await ask(url, `/round/${round}`)
    expect(gone).toEqual(refusal(404, "RoundNotFound", null, { reason: "pruned" }))
    expect(gone.body.error).toBe(`round ${round} is pruned on this node`)
    const ahead = refusal(404, "RoundNotFound", null, { reason: "not_reached" })
    expect(await ask(url, "/round/9000000")).toEqual(ahead)
    expect(await ask(url, `/vertex/${vertex_hash}`)).toEqual(refusal(404, "VertexNotFound", null))
    expect(await ask(url, `/tx/${tx_hash}`)).toMatchObject({ status: 200, body: { status: "finalized", round } })
    expect((await ask(url, `/account/${"00".repeat(20)}/transactions`)).body.transactions).toHaveLength(1)
  },
  TIMEOUT_MS,
)
