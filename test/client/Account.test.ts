/** Accounts that fill in nonces and fees, on a real node and behind a proxy that loses responses. */
import { describe, expect, it } from "vitest"
import * as Client from "../../src/client/Client.js"
import { startNode } from "../../src/testing/Testing.js"
import { forTests } from "../support/forTests.js"

const COIN = 100_000_000
const node = forTests(() => startNode({ accounts: 7, coinsEach: 3_000 }))

const keyAt = (n: number) => {
  const account = node().accounts[n]
  if (account === undefined) throw new Error(`no account ${n}`)
  return account.secretKey
}

const SLOW = { timeoutMs: 240_000 }
const fresh = (n: number): string => n.toString(16).padStart(40, "0")

describe("an account", () => {
  it("sends any number of payments at once, each with its own nonce", async () => {
    const client = Client.connect(node().url)
    const sent = await Promise.all(
      Array.from({ length: 100 }, (_, n) => client.account(keyAt(0)).send({ to: fresh(7), amount: n + 1 }, SLOW)),
    )
    expect(sent.map(({ nonce }) => nonce)).toEqual([...sent.keys()])
    expect((await client.balance(fresh(7))).balance).toBe(5_050)
    expect(sent[0]).toMatchObject({ type: "Transfer", fee: 1_000, proposal_id: null, transaction: { amount: 1 } })
  })

  it("learns of its payments from the node's event stream", async () => {
    await Client.connect(node().url)
      .account(keyAt(6))
      .send({ to: fresh(6), amount: 1 }, SLOW)
    const metrics = await (await fetch(`${node().url}/metrics`)).text()
    const streams = metrics.split("\n").filter((line) => /_count\{.*route="\/events"/.test(line))
    expect(streams).toEqual([expect.stringMatching(/status="200"\} [1-9]\d*$/)])
  })

  it("continues after a refusal, without a gap", async () => {
    const account = Client.connect(node().url).account(keyAt(1))
    const results = await account.batch(
      [
        { to: fresh(8), amount: 1 },
        { to: fresh(8), amount: 1_000_000 * COIN },
        { to: fresh(8), amount: 2 },
        { type: "RegisterNameTx", name: "bobby" },
        { to: "@nobody-has-this", amount: 2 },
        { to: "@bobby", amount: 3 },
      ],
      SLOW,
    )
    const told = results.map((result) =>
      result.status === "fulfilled" ? result.value.nonce : (result.reason as Client.RequestRefused).code,
    )
    expect(told).toEqual([0, "InsufficientBalance", 1, 2, "NameNotFound", "NameNotFound"])
    expect((await account.send({ to: "@bobby", amount: 3 }, SLOW)).nonce).toBe(3)
  })

  it("shares its nonces with another program that uses the same key", async () => {
    const [one, two] = [Client.connect(node().url).account(keyAt(2)), Client.connect(node().url).account(keyAt(2))]
    const sent = await Promise.all(
      Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? one : two).send({ to: fresh(9), amount: n + 1 }, SLOW)),
    )
    expect(sent.map(({ nonce }) => nonce).sort((a, b) => a - b)).toEqual([...sent.keys()])
  })

  it("pays once, however often responses are lost", async () => {
    let lost = 0
    const send: Client.Options["send"] = async ({ url, method, body }, timeoutMs) => {
      const response = await fetch(url, {
        method,
        signal: AbortSignal.timeout(timeoutMs),
        ...(body === undefined ? {} : { body, headers: { "content-type": "application/json" } }),
      })
      const text = await response.text()
      // The node has accepted the transaction, and the response is lost.
      if (url.endsWith("/tx/submit") && lost++ % 2 === 0) throw new Error("the connection is lost")
      return { status: response.status, text, retryAfter: null }
    }
    const account = Client.connect(node().url, { send }).account(keyAt(3))
    for (let n = 0; n < 4; n++) expect((await account.send({ to: fresh(10), amount: 5 }, SLOW)).nonce).toBe(n)
    expect((await node().client.balance(fresh(10))).balance).toBe(20)
    expect(lost).toBeGreaterThanOrEqual(8)
  })

  it("stakes, names, proposes and votes, with a receipt for each", async () => {
    const account = Client.connect(node().url).account(keyAt(4))
    expect(await account.stake({ amount: 2_500 * COIN }, SLOW)).toMatchObject({ type: "StakeTx", fee: 0 })
    expect(await account.registerName({ name: "dora" }, SLOW)).toMatchObject({ type: "RegisterNameTx", nonce: 1 })
    const made = await account.createProposal({ title: "A", description: "", proposal_type: { Text: {} } }, SLOW)
    expect(made.proposal_id).toBeGreaterThanOrEqual(1)
    expect(await account.vote({ proposal_id: made.proposal_id, vote: true }, SLOW)).toMatchObject({ type: "VoteTx" })
    const delegator = Client.connect(node().url).account(keyAt(5).toSecretHex())
    expect(await delegator.delegate({ validator: "@dora", amount: 100 * COIN }, SLOW)).toMatchObject({
      transaction: { validator: account.address },
    })
  })

  it("refuses an unusually high fee unless it is named", async () => {
    await using dear = await startNode({ accounts: 2, parameters: { minFee: 1_000_000 } })
    const [alice, bob] = dear.accounts
    if (alice === undefined || bob === undefined) throw new Error("no accounts")
    const account = Client.connect(dear.url).account(alice.secretKey)
    await expect(account.send({ to: bob.address, amount: 1 })).rejects.toThrow("far more than usual")
    const { fee } = await account.send({ to: bob.address, amount: 1 }, { fee: 1_000_000, ...SLOW })
    expect(fee).toBe(1_000_000)
  })
})
