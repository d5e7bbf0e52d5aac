import { once } from "node:events"
import * as Http from "node:http"
import { describe, expect, it } from "vitest"
import { startNode } from "../../src/testing/Testing.js"
import * as Rest from "../support/Rest.js"
import { settled } from "../support/Settled.js"

const COIN = 100_000_000
const HOUR_MS = 3_600_000
const nobody = "00000000000000000000000000000000000000aa"

const supplyOf = async ({ client }: Awaited<ReturnType<typeof startNode>>) => {
  const health = await client.core.healthReport()
  return { status: health.status, state: health.components.state?.status }
}

describe("the controls of a development network", () => {
  it("revert the network under a client, whose accounts continue from the reverted nonces", async () => {
    await using node = await startNode({ onDemand: true, accounts: 2, snapshots: true })
    const { client, controls, accounts } = node
    const [alice, bob] = accounts.map(({ secretKey }) => client.account(secretKey))
    if (alice === undefined || bob === undefined) throw new Error("no accounts")
    await alice.send({ to: nobody, amount: 1 })
    const snapshot = await controls.snapshot()
    for (const amount of [2, 3, 4]) await alice.send({ to: nobody, amount })
    await controls.revert(snapshot)
    const timeoutMs = 20_000
    const paid = await alice.batch(
      [5, 6, 7].map((amount) => ({ to: nobody, amount })),
      { timeoutMs },
    )
    expect(paid.map((each) => (each.status === "fulfilled" ? each.value.nonce : each.reason))).toEqual([1, 2, 3])
    // Further back than a node takes nonces ahead.
    await controls.setNonce(alice.address, 90)
    expect(await alice.send({ to: nobody, amount: 8 }, { timeoutMs })).toMatchObject({ nonce: 90 })
    await controls.revert(snapshot)
    expect(await alice.send({ to: nobody, amount: 9 }, { timeoutMs })).toMatchObject({ nonce: 1 })
    expect(await client.balance(nobody)).toMatchObject({ balance: 10 })
  })

  it("make rounds at once and advance the clock, however long a round takes", async () => {
    await using node = await startNode({ roundMs: 60_000, accounts: 2 })
    const { controls, client } = node
    const before = (await client.core.status()).dag_round
    const after = await controls.advanceRounds(50)
    expect(after.round).toBeGreaterThanOrEqual(before + 50)
    const later = await controls.advanceTime(5 * HOUR_MS)
    expect(later.time - after.time).toBeGreaterThanOrEqual(5 * HOUR_MS)
    const [alice] = node.accounts
    if (alice === undefined) throw new Error("no account")
    const payload = alice.transfer({ to: nobody, amount: 1, fee: 1_000, nonce: 0 })
    const { tx_hash } = await client.transactions.submit({ payload })
    await controls.advanceRounds(6)
    expect((await node.finalized(tx_hash)).timestamp).toBeGreaterThanOrEqual(after.time + 5 * HOUR_MS)
    expect((await client.core.status()).last_finalized_round).toBeGreaterThanOrEqual(before + 50)
  })

  it("set balances without changing the supply, and take coins from any account", async () => {
    await using node = await startNode({ accounts: 2, onDemand: true })
    const { controls, client, accounts } = node
    const balanceOf = async (address: string) => (await client.core.balance({ path: { address } })).balance
    const alice = accounts[0]?.address ?? ""
    expect(await controls.setBalance(nobody, 7 * COIN)).toBe(7 * COIN)
    expect(await controls.setBalance(alice, 3)).toBe(3)
    expect(await controls.setBalance(alice, 2)).toBe(2)
    expect(await controls.setBalance(alice, 20_000 * COIN)).toBe(20_000 * COIN)
    expect([await balanceOf(nobody), await balanceOf(alice)]).toEqual([7 * COIN, 20_000 * COIN])
    expect(await controls.setBalance(nobody, 1)).toBe(1)
    await expect(controls.setBalance(nobody, 6_000_000 * COIN)).rejects.toThrow("the reserve has less")
    await expect(controls.setBalance("nowhere", 1)).rejects.toThrow()
    await expect(controls.setBalance(nobody, -1)).rejects.toThrow("sats from 0")
    expect((await supplyOf(node)).state).toBe("healthy")
  })

  it("set balances after any jump of the clock, and beside a transaction that waits for another", async () => {
    await using node = await startNode({ onDemand: true, accounts: 2 })
    const { controls, client, accounts } = node
    const [alice, bob] = accounts
    if (alice === undefined || bob === undefined) throw new Error("no accounts")
    const early = alice.transfer({ to: nobody, amount: 1, fee: 1_000, nonce: 1 })
    await client.transactions.submit({ payload: early })
    await controls.advanceTime(HOUR_MS)
    expect(await controls.setBalance(nobody, COIN)).toBe(COIN)
    expect((await client.core.balance({ path: { address: nobody } })).balance).toBe(COIN)
    const payload = bob.transfer({ to: nobody, amount: 1, fee: 1_000, nonce: 0 })
    const { tx_hash } = await client.transactions.submit({ payload })
    await controls.advanceTime(24 * HOUR_MS)
    expect(await client.transactions.lookup({ path: { hash: tx_hash } })).toMatchObject({ applied: true })
  })

  it("advance the clock by exactly the time the rounds would have taken", async () => {
    await using node = await startNode({ roundMs: 60_000, accounts: 1, onDemand: true, snapshots: true })
    const before = await node.controls.advanceRounds(1)
    const after = await node.controls.advanceRounds(100)
    const minutes = (after.time - before.time) / 60_000
    // The end of an epoch takes longer, and so does a busy machine.
    expect([minutes >= 100, minutes < 160]).toEqual([true, true])
  })

  it("report each event once", async () => {
    await using node = await startNode({ accounts: 2 })
    const [alice] = node.accounts
    if (alice === undefined) throw new Error("no account")
    const told: Array<string> = []
    for await (const { event } of node.client.follow()) {
      told.push(JSON.stringify(event))
      if (told.length === 1) {
        const payload = alice.transfer({ to: nobody, amount: 1, fee: 1_000, nonce: 0 })
        await node.client.transactions.submit({ payload })
      }
      if (told.length === 150) break
    }
    expect(told.filter((event, i) => event === told[i - 1])).toEqual([])
  })

  it("make no rounds on demand while there is nothing to do, and as many as a payment needs", async () => {
    await using node = await startNode({ onDemand: true, accounts: 2 })
    const { client, accounts, finalized } = node
    const [alice, bob] = accounts
    if (alice === undefined || bob === undefined) throw new Error("no accounts")
    const rounds = async () => (await client.core.status()).dag_round
    // A round that was due already can still come.
    const before = await settled(rounds)
    expect(await settled(rounds)).toBe(before)
    const payload = alice.transfer({ to: bob.address, amount: 1, fee: 1_000, nonce: 0 })
    const { tx_hash } = await client.transactions.submit({ payload })
    expect(await finalized(tx_hash)).toMatchObject({ applied: true })
    const after = await settled(rounds)
    expect(await settled(rounds)).toBe(after)
    expect(after - before).toBeLessThan(10)
  })

  it(
    Rest.of("more starts", "revert the network to a snapshot, under the same address, and drop the later ones"),
    async () => {
      await using node = await startNode({ onDemand: true, accounts: 2, snapshots: true })
      const { controls, client } = node
      const balance = async () => (await client.core.balance({ path: { address: nobody } })).balance
      await controls.setBalance(nobody, COIN)
      const first = await controls.snapshot()
      await controls.setBalance(nobody, 2 * COIN)
      const second = await controls.snapshot()
      await controls.setBalance(nobody, 3 * COIN)
      const { genesis_hash } = await client.core.network()
      await controls.revert(first)
      expect(await balance()).toBe(COIN)
      expect((await client.core.network()).genesis_hash).toBe(genesis_hash)
      await expect(controls.revert(second)).rejects.toThrow(`there is no snapshot ${second}`)
      // Later changes can still be reverted.
      await controls.setBalance(nobody, 5 * COIN)
      await controls.revert(first)
      expect(await balance()).toBe(COIN)
      expect(await controls.setBalance(nobody, 4 * COIN)).toBe(4 * COIN)
    },
  )

  it("revert the network behind persistent connections", async () => {
    await using node = await startNode({ onDemand: true, accounts: 1, snapshots: true })
    const { controls, client, url } = node
    const agent = new Http.Agent({ keepAlive: true, maxSockets: 1 })
    const ports = new Set<number | undefined>()
    const balance = async () => {
      const request = Http.get(`${url}/balance/${nobody}`, { agent })
      request.once("socket", (socket) => socket.once("connect", () => ports.add(socket.localPort)))
      const [response]: ReadonlyArray<Http.IncomingMessage> = await once(request, "response")
      let text = ""
      for await (const piece of response?.setEncoding("utf8") ?? []) text += piece
      return JSON.parse(text).balance
    }
    const stream = client.events()[Symbol.asyncIterator]()
    const until = async (type: string) => {
      for (;;) {
        const { value, done } = await stream.next()
        if (done === true) throw new Error(`the stream ended before ${type}`)
        if (value.event.type === type) return
      }
    }
    const first = await controls.snapshot()
    const opened = until("reset")
    await controls.setBalance(nobody, COIN)
    expect(await balance()).toBe(COIN)
    // Requests made meanwhile wait.
    const [, during] = await Promise.all([controls.revert(first), balance()])
    expect([0, COIN]).toContain(during)
    expect(await balance()).toBe(0)
    await opened
    const paid = until("transaction")
    expect(await controls.setBalance(nobody, 2 * COIN)).toBe(2 * COIN)
    await paid
    expect(await balance()).toBe(2 * COIN)
    expect(ports.size).toBe(1)
    await stream.return?.()
    agent.destroy()
  })

  it("refuse values out of bounds, and change nothing", async () => {
    await using node = await startNode({ onDemand: true, accounts: 1 })
    const { advanceRounds, advanceTime, snapshot, revert } = node.controls
    for (const count of [0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 100_001])
      await expect(advanceRounds(count)).rejects.toThrow("rounds: expected a whole number")
    for (const ms of [0, -1, 0.5, 2 ** 53])
      await expect(advanceTime(ms)).rejects.toThrow("time_ms: expected a whole number")
    await expect(snapshot()).rejects.toThrow("snapshots: true")
    await expect(revert(1)).rejects.toThrow("snapshots: true")
  })
})
