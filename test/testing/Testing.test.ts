import { it } from "@effect/vitest"
import { Effect } from "effect"
import { describe, expect } from "vitest"
import * as Wallet from "../../src/client/Wallet.js"
import { startNode, TestNode } from "../../src/testing/Testing.js"
import * as Stranger from "./Stranger.js"

const COIN = 100_000_000
const at = <A>(list: ReadonlyArray<A>, index: number): A => {
  const value = list[index]
  if (value === undefined) throw new Error(`nothing at ${index}`)
  return value
}

describe("a node for tests", () => {
  it("has funded accounts with the same keys every time, and ends when it is stopped", async () => {
    const node = await startNode({ accounts: 3, coinsEach: 5 })
    const [alice, bob] = [at(node.accounts, 0), at(node.accounts, 1)]
    expect(node.accounts).toHaveLength(3)
    const { tx_hash } = await node.client.transactions.submit({
      payload: alice.transfer({ to: bob.addressBech32, amount: 2 * COIN, fee: 1_000, nonce: 0 }),
    })
    expect(await node.finalized(tx_hash)).toMatchObject({ applied: true })
    expect((await node.client.core.balance({ path: { address: bob.address } })).balance).toBe(7 * COIN)
    await node.stop()
    await expect(fetch(node.url)).rejects.toThrow()

    await using again = await startNode({ mode: "mainnet" })
    expect(at(again.accounts, 0).publicKey).toBe(alice.publicKey)
    expect(at(again.accounts, 0).addressBech32).toMatch(/^udg1/)
    await expect(again.client.core.keygen()).rejects.toMatchObject({ code: "TestnetOnly" })
  })

  it.scopedLive("is an Effect layer too, on which stakes, proposals and votes need no wait", () =>
    Effect.gen(function* () {
      const { client, accounts, finalized } = yield* TestNode
      const alice = at(accounts, 0)
      yield* Effect.promise(async () => {
        const send = async (payload: Wallet.SignedTransaction) =>
          finalized((await client.transactions.submit({ payload })).tx_hash)
        expect(await send(alice.stake({ amount: 250_000 * COIN, nonce: 0 }))).toMatchObject({ applied: true })
        const payload = { ParameterChange: { param: "min_fee_sats", value: 2_000 as never } }
        const made = await send(
          alice.createProposal({ title: "Dearer", description: "", proposal_type: payload, fee: 1_000, nonce: 1 }),
        )
        expect(made).toMatchObject({ applied: true, failure: null, proposal_id: 1 })
        const id = made.proposal_id ?? (0 as never)
        const vote = alice.vote({ proposal_id: id, vote: true, fee: 1_000, nonce: 2 })
        expect(await send(vote)).toMatchObject({ applied: true })
        const voted = { proposal_id: id, address: alice.address, vote: "yes", weight: 250_000 * COIN }
        expect(await client.governance.voteOf({ path: { id, address: alice.addressBech32 } })).toEqual(voted)
      })
    }).pipe(Effect.provide(TestNode.layer({ coinsEach: 300_000, parameters: { votingPeriodRounds: 10_000 } }))),
  )
})

describe("a network with a price for accounts", () => {
  it("charges it to the faucet and to a wallet exactly where the recipient is new", async () => {
    await using node = await startNode({ accounts: 1, coinsEach: 5, parameters: { accountFee: 1_100_000 } })
    const { client } = node
    const alice = at(node.accounts, 0)
    const info = await client.core.network()
    const [guest, other] = ["aa".repeat(20), "bb".repeat(20)]
    expect(await client.core.balance({ path: { address: guest } })).toMatchObject({ exists: false, balance: 0 })
    for (let times = 0; times < 2; times++) {
      const { tx_hash } = await client.core.faucet({ payload: { address: guest, amount: COIN as never } })
      expect(await node.finalized(tx_hash)).toMatchObject({
        applied: true,
        transaction: { fee: times === 0 ? 1_101_000 : 1_000 },
      })
    }
    expect(await client.core.balance({ path: { address: guest } })).toMatchObject({ exists: true, balance: 2 * COIN })
    const fields = { to: other, amount: 1, nonce: 0 }
    await expect(
      client.transactions.submit({ payload: alice.transfer({ ...fields, fee: Wallet.fee(info, "Transfer") }) }),
    ).rejects.toMatchObject({
      code: "InvalidTransaction",
      message: expect.stringContaining("at least 0.01101 UDG (1101000 sats) is required"),
    })
    const fee = Wallet.fee(info, "Transfer", await client.core.balance({ path: { address: other } }))
    const { tx_hash } = await client.transactions.submit({ payload: alice.transfer({ ...fields, fee }) })
    expect(await node.finalized(tx_hash)).toMatchObject({ applied: true })
    await node.controls.setBalance("cc".repeat(20), COIN)
    expect((await client.core.balance({ path: { address: "cc".repeat(20) } })).balance).toBe(COIN)
  })
})

describe("the built package, as its users use it", () => {
  it("starts a node, pays with the wallet, and lets the process end once the node is stopped", async () => {
    const outcome = await Stranger.run(`
      import { startNode } from "udg-node/testing"
      import { connect } from "udg-node/client"
      import * as Wallet from "udg-node/wallet"

      const node = await startNode()
      const client = connect(node.url)
      const [alice] = node.accounts
      const nobody = Wallet.account(node.network, Wallet.generate())
      const payment = alice.transfer({ to: nobody.address, amount: Wallet.sats("1.5"), fee: 1000, nonce: 0 })
      const { tx_hash } = await client.transactions.submit({ payload: payment })
      await node.finalized(tx_hash)
      console.log((await client.core.balance({ path: { address: nobody.address } })).balance_coin)
      await node.stop()
    `)
    expect(outcome).toEqual({ code: 0, said: "1.5\n" })
  })

  it("prints nothing among a test's output, and rejects with plain errors", async () => {
    const outcome = await Stranger.run(`
      import { startNode } from "udg-node/testing"

      const node = await startNode({ accounts: 1, snapshots: true, onDemand: true })
      const before = await node.controls.snapshot()
      await node.controls.revert(before)
      for (const refused of [node.controls.revert(99), node.controls.setBalance("nowhere", 1)]) {
        await refused.catch((error) => console.log(error instanceof Error, error.name, error.message.length > 0))
      }
      await node.stop()
    `)
    expect(outcome).toEqual({ code: 0, said: "true ControlRefused true\ntrue ControlRefused true\n" })
  })
})
