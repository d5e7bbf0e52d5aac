import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Client from "../../src/client/Client.js"
import * as Wallet from "../../src/client/Wallet.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as RealNode from "./RealNode.js"
import * as TestServer from "./TestServer.js"

const COIN = 100_000_000
const nobody = "00000000000000000000000000000000000000aa"

let node: RealNode.RealNode
let client: Client.PromiseClient

beforeAll(async () => {
  node = await RealNode.start()
  client = Client.connect(node.url, { retries: 0 })
})
afterAll(() => node.stop())

const refusal = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => {
      throw new Error("it was not refused")
    },
    (error: Client.RequestRefused) => ({ code: error.code, ...error.failure }),
  )

const json = async (path: string): Promise<unknown> =>
  JSON.parse((await TestServer.ask(node.port, TestServer.get(path))).body)

const until = async <A>(read: () => Promise<A>, holds: (value: A) => boolean): Promise<A> => {
  for (;;) {
    const value = await read()
    if (holds(value)) return value
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

const finalized = (hash: Hash) =>
  until(
    () => client.transactions.lookup({ path: { hash } }),
    ({ status }) => status === "finalized",
  )

describe("the node", () => {
  it("has a status that advances", async () => {
    const first = await client.core.status()
    expect(first).toMatchObject({ peers: 0, total_staked: 100_000 * COIN, active_stakers: 1, mempool_size: 0 })
    expect(first.total_supply_coin).toBe(first.total_supply / COIN)
    const later = await until(
      client.core.status,
      ({ last_finalized_round }) => last_finalized_round > first.last_finalized_round + 5,
    )
    expect(later.dag_round).toBeGreaterThanOrEqual(later.last_finalized_round)
    expect(later.dag_vertices).toBeGreaterThan(first.dag_vertices)
    expect(later.total_supply).toBeGreaterThan(first.total_supply)
  })

  it("reports health in one word and in detail", async () => {
    expect(await json("/health")).toEqual({ status: "ok" })
    const report = await until(client.core.healthReport, ({ status }) => status === "healthy")
    expect(report.components).toMatchObject({
      mempool: { status: "healthy", size: 0, capacity: 10_000 },
      network: { status: "healthy", peers: 0 },
    })
    expect(report.components.state.supply).toBe(report.components.state.total_supply)
  })

  it("reports its network, its peers and its empty mempool", async () => {
    const network = await client.core.network()
    expect(network).toMatchObject({ mode: "testnet", address_prefix: "tudg", version: "0.0.0" })
    expect(network.parameters).toMatchObject({ round_interval_ms: 5, min_fee_sats: 1_000, epoch_rounds: 24_000 })
    expect(await client.core.peers()).toEqual({ connected: 0, peers: [], bootstrap_nodes: [] })
    expect(await client.core.mempool()).toEqual([])
  })
})

describe("an account", () => {
  it("has zeros when it was never seen, in hex and in bech32m", async () => {
    const balance = await client.core.balance({ path: { address: nobody.toUpperCase() } })
    expect(balance).toEqual({
      address: nobody,
      address_bech32: balance.address_bech32,
      balance: 0,
      balance_coin: 0,
      nonce: 0,
      staked: 0,
      staked_coin: 0,
      is_council_member: false,
      is_smart_account: false,
      next_nonce: 0,
      name: null,
      exists: false,
    })
    expect(balance.address_bech32).toMatch(/^tudg1/)
    expect(await client.core.balance({ path: { address: balance.address_bech32 } })).toEqual(balance)
  })

  it("is a 400 with the reason when its address is malformed, and a 404 when nobody has its name", async () => {
    const of = (address: string) => refusal(client.core.balance({ path: { address } }))
    expect(await of("xyz")).toMatchObject({ code: "InvalidRequest", field: "address" })
    expect(await of("udg1nu7p526dtehhpqvj5w6vt4h8lqy352eud263hw")).toMatchObject({ code: "InvalidRequest" })
    expect(await of("@nobody")).toMatchObject({ code: "NameNotFound", message: "no account has the name @nobody" })
  })
})

it("does not get a cached response for a query that the endpoint does not accept", async () => {
  // The response is encoded once per commit.
  for (let i = 0; i < 3; i++) {
    expect((await fetch(`${node.url}/network`)).status).toBe(200)
    const refused = await fetch(`${node.url}/network?x=1`)
    expect([refused.status, await refused.json()]).toMatchObject([400, { code: "InvalidRequest", field: "x" }])
  }
})

describe("a new user", () => {
  it("gets a key and coins, sends some, claims a name and is found by it", async () => {
    const { address, address_bech32, secret_key: key } = await client.core.keygen()
    const paid = await client.core.faucet({ payload: { address, amount: Wallet.sats("12.5") } })
    expect(paid).toMatchObject({
      amount: 12.5 * COIN,
      amount_coin: 12.5,
      message: `12.5 UDG are on their way to ${address_bech32}`,
    })
    expect(await finalized(paid.tx_hash)).toMatchObject({ applied: true, failure: null, proposal_id: null })

    const account = Wallet.account(Wallet.network(await client.core.network()), key)
    const named = account.registerName({ name: "alice", fee: 100_000, nonce: 0 })
    const { tx_hash } = await client.transactions.submit({ payload: named })
    expect([account.address, account.addressBech32]).toEqual([address, address_bech32])
    expect(await finalized(tx_hash)).toMatchObject({ applied: true, transaction: named })
    const balance = await client.core.balance({ path: { address: "@alice" } })
    expect(balance).toMatchObject({ address: account.address, nonce: 1, next_nonce: 1, name: "alice" })

    const sent = await client.transactions.send({
      payload: { secret_key: key, to: nobody, amount: Wallet.sats("1"), fee: Wallet.sats("0.00001") },
    })
    expect(sent).toMatchObject({ status: "accepted", nonce: 1 })
    const { transaction, validator, round, vertex_hash } = await finalized(sent.tx_hash)
    expect(transaction).toMatchObject({ type: "Transfer", from: account.address, to: nobody, amount: COIN, nonce: 1 })
    expect({ validator, vertex_hash, round }).not.toContain(null)
    expect((await client.core.balance({ path: { address: nobody } })).balance).toBe(COIN)

    const { transactions, next_cursor } = await client.transactions.history({
      path: { address: "@alice" },
      urlParams: { limit: 2 },
    })
    expect(transactions.map(({ hash, direction }) => [hash, direction])).toEqual([
      [sent.tx_hash, "sent"],
      [tx_hash, "sent"],
    ])
    const rest = await client.transactions.history({ path: { address }, urlParams: { cursor: next_cursor ?? "" } })
    expect(rest).toMatchObject({ transactions: [{ hash: paid.tx_hash, direction: "received" }], next_cursor: null })

    const found = async (urlParams: Parameters<typeof client.transactions.history>[0]["urlParams"] = {}) =>
      (await client.transactions.history({ path: { address }, urlParams })).transactions.map(({ hash }) => hash)
    expect(await found({ direction: "received" })).toEqual([paid.tx_hash])
    expect(await found({ direction: "sent", type: "Transfer" })).toEqual([sent.tx_hash])
    const { timestamp } = await finalized(tx_hash)
    const moment = Natural.timestamp(timestamp ?? 0)
    expect(await found({ from: moment })).toEqual([sent.tx_hash, tx_hash])
    expect(await found({ until: moment })).toEqual([paid.tx_hash])
    expect(await found({ from: moment, until: Natural.timestamp(moment + 1) })).toEqual([tx_hash])
    const latest = await client.transactions.latest({ urlParams: { until: moment, limit: 1 } })
    expect(latest.transactions.map(({ hash }) => hash)).toEqual([paid.tx_hash])
  })

  it("gets the reason why a transaction is refused", async () => {
    const account = Wallet.account(Wallet.network(await client.core.network()), Wallet.generate())
    const transfer = account.transfer({ to: nobody, amount: 1, fee: 1_000, nonce: 0 })
    const submit = (payload: Wallet.SignedTransaction) => refusal(client.transactions.submit({ payload }))
    expect(await submit(transfer)).toMatchObject({
      code: "InsufficientBalance",
      message: "0.00001001 UDG (1001 sats) needed, 0 UDG (0 sats) available",
      balance: 0,
      required: 1_001,
      pending: 0,
    })
    // Cheap checks come before the signature, which is now invalid.
    expect(await submit({ ...transfer, fee: 1_001 as never })).toMatchObject({ code: "InsufficientBalance" })
    expect(await submit({ ...transfer, from: nobody } as typeof transfer)).toMatchObject({ code: "InvalidSignature" })
    expect(await submit({ ...transfer, to: "nobody" } as typeof transfer)).toMatchObject({
      code: "InvalidRequest",
      field: "to",
    })
    const poor = refusal(
      client.transactions.send({
        payload: { secret_key: Wallet.generate(), to: nobody, amount: Wallet.sats("1"), fee: Wallet.sats("1") },
      }),
    )
    expect(await poor).toMatchObject({ code: "InsufficientBalance" })
    const most = 100_000 * COIN
    const greedy = refusal(client.core.faucet({ payload: { address: nobody, amount: (most + 1) as never } }))
    expect(await greedy).toMatchObject({ code: "InvalidRequest", field: "amount" })
    const unknown = "00".repeat(32) as Hash
    expect(await refusal(client.transactions.lookup({ path: { hash: unknown } }))).toMatchObject({
      code: "TransactionNotFound",
    })
  })
})
