import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import * as Wallet from "../../src/client/Wallet.js"
import { startNode } from "../../src/testing/Testing.js"

const COIN = 100_000_000
const nobody = "00000000000000000000000000000000000000aa"

const started = async () => {
  const node = await startNode({ onDemand: true, accounts: 3, snapshots: true })
  const [alice, bob, carol] = node.accounts
  if (alice === undefined || bob === undefined || carol === undefined) throw new Error("no accounts")
  return { node, alice, bob, carol, [Symbol.asyncDispose]: node[Symbol.asyncDispose] }
}

describe("an impersonated account", () => {
  it("can do everything without its key, and several things at once", async () => {
    await using world = await started()
    const { node, bob } = world
    const { client, controls } = node
    await controls.setBalance(nobody, 100 * COIN)
    const account = await controls.impersonate(nobody)
    expect(account.address).toBe(nobody)
    const receipt = await account.send({ to: bob.address, amount: COIN, memo: "not mine" })
    expect(receipt).toMatchObject({ nonce: 0, transaction: { from: nobody, memo: "not mine" } })
    await account.registerName({ name: "nobody" })
    const again = await controls.impersonate("@nobody")
    const paid = await again.batch([1, 2, 3, 4, 5].map((amount) => ({ to: "@nobody", amount })))
    expect(paid.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => "fulfilled"))
    expect(await client.balance(nobody)).toMatchObject({ nonce: 7, name: "nobody" })
    expect((await client.core.healthReport()).components.state?.status).toBe("healthy")
  })

  it("may have several keys, and continues after a revert", async () => {
    await using world = await started()
    const { node, alice, bob, carol } = world
    const { client, controls } = node
    const keys = [bob.publicKey, carol.publicKey]
    await client.account(alice.secretKey).setAccountPolicy({ threshold: 2, keys })
    const account = await controls.impersonate(alice.address)
    await account.send({ to: nobody, amount: 7 })
    const snapshot = await controls.snapshot()
    await account.send({ to: nobody, amount: 8 })
    await controls.revert(snapshot)
    await account.send({ to: nobody, amount: 9 })
    expect((await client.balance(nobody)).balance).toBe(16)
    expect(await controls.setBalance(alice.address, 5)).toBe(5)
    await expect(client.account(alice.secretKey).send({ to: nobody, amount: 1 })).rejects.toMatchObject({
      code: "InvalidSignature",
    })
  })

  it("stakes, delegates and sets a policy, without a seat for accounts that have no key", async () => {
    await using world = await started()
    const { node, alice, bob } = world
    const { client, controls } = node
    await controls.setBalance(nobody, 9_000 * COIN)
    const account = await controls.impersonate(nobody)
    await account.stake({ amount: 2_000 * COIN })
    await expect(controls.setStake(nobody, 2_500 * COIN)).rejects.toThrow("amount")
    expect(await controls.setStake(nobody, 4_000 * COIN)).toBe(4_000 * COIN)
    await account.setAccountPolicy({ threshold: 1, keys: [alice.publicKey] })
    await account.send({ to: bob.address, amount: 1 })
    const { round } = await controls.advanceRounds(130)
    const { validators } = await client.staking.validators()
    const seats = validators.map(({ address, in_committee }) => [address === nobody, in_committee])
    expect(seats).toContainEqual([true, false])
    expect((await controls.advanceRounds(10)).finalized_round).toBeGreaterThan(round)
  })

  it("lets balances, nonces and names of any account be set", async () => {
    await using world = await started()
    const { controls, client } = world.node
    await controls.setBalance(nobody, 9 * COIN)
    expect(await controls.setBalance(nobody, 4)).toBe(4)
    expect(await controls.setNonce(nobody, 10)).toBe(10)
    expect(await controls.setName(nobody, "somebody")).toBe("somebody")
    expect(await client.balance(nobody)).toMatchObject({ balance: 4, name: "somebody" })
    await expect(controls.impersonate("@nowhere")).rejects.toThrow("nobody has registered @nowhere")
  })

  it("is impersonated by one key of this network alone: all others sign for their own accounts", async () => {
    await using world = await started()
    const { node, alice, bob } = world
    const unsigned = Wallet.unsigned(node.network, alice.address, "Transfer", {
      to: bob.address,
      amount: 1,
      fee: 1_000,
      nonce: 0,
    })
    const { secretKey: key } = bob
    for (const payload of [Wallet.sign(unsigned, key), Wallet.combine(unsigned, [Wallet.cosign(unsigned, key)])])
      await expect(node.client.transactions.submit({ payload })).rejects.toMatchObject({ code: "InvalidSignature" })
    const forged = { ...Wallet.sign(unsigned, alice.secretKey), signature: "1".repeat(128) as never }
    await expect(node.client.transactions.submit({ payload: forged })).rejects.toMatchObject({
      code: "InvalidSignature",
    })
  })
})

describe("the impersonation key", () => {
  const source = join(import.meta.dirname, "../../src")
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((path) => /\.tsx?$/.test(path))
  const uses = (words: RegExp): ReadonlyArray<string> =>
    files.filter((path) => words.test(readFileSync(join(source, path), "utf8"))).sort()

  it("is given to a ledger by the development network, and by nothing else in the program", () => {
    expect(uses(/letSignForAll\(/)).toEqual(["ledger/Ledger.ts", "testing/DevNode.ts"])
    expect(uses(/standIn\b/)).toEqual([
      "cli/DevControls.ts",
      "ledger/Ledger.ts",
      "ledger/rules/Policies.ts",
      "ledger/tables/State.ts",
      "testing/DevNetwork.ts",
      "testing/Testing.ts",
    ])
    expect(uses(/from "[./]+testing\/|import\("[./]+testing\//)).toEqual(["cli/Dev.ts", "cli/DevControls.ts"])
  })
})
