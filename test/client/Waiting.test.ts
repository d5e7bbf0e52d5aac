import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect, Stream } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import * as Client from "../../src/client/Client.js"
import * as Effects from "../../src/client/Effects.js"
import { type FundedAccount, startNode } from "../../src/testing/Testing.js"
import { forTests } from "../support/forTests.js"

const node = forTests(() => startNode())
let client: Client.PromiseClient
beforeAll(async () => {
  client = Client.connect(node().url)
})

const accountOf = (index: number): FundedAccount => {
  const account = node().accounts[index]
  if (account === undefined) throw new Error(`no account ${index}`)
  return account
}

const pay = (from: FundedAccount, to: FundedAccount, nonce: number, amount = 1) =>
  from.transfer({ to: to.address, amount, fee: 1_000, nonce })

describe("waiting for a transaction", () => {
  it("ends once it is applied", async () => {
    const outcome = await client.sendAndWait(pay(accountOf(0), accountOf(1), 0))
    expect(outcome).toMatchObject({ status: "finalized", applied: true })
    expect(await client.waitFor(outcome.hash)).toEqual(outcome)
    expect(await Effect.runPromise(Effect.flatMap(Effects.make(node().url), (it) => it.waitFor(outcome.hash)))).toEqual(
      outcome,
    )
  })

  it("works without events too, as on a node without free streams", async () => {
    // A proxy that passes on everything except streams.
    const proxy = createServer((request, response) => {
      if (request.url?.startsWith("/events")) {
        const refusal = { code: "TooManyStreams", error: "taken", limit: 8, retry_after_seconds: 60 }
        response.writeHead(429, { "retry-after": "60" }).end(JSON.stringify(refusal))
        return
      }
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", async () => {
        const { method = "GET", url = "/" } = request
        const headers = { "content-type": "application/json" }
        const body = method === "GET" ? {} : { body: Buffer.concat(chunks), headers }
        const answer = await fetch(`${node().url}${url}`, { method, ...body })
        response.writeHead(answer.status).end(await answer.text())
      })
    })
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve))
    const through = Client.connect(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`)
    expect(await through.sendAndWait(pay(accountOf(2), accountOf(1), 0))).toMatchObject({ applied: true })
    proxy.closeAllConnections()
    proxy.close()
  })

  it("fails when the transaction is not found", async () => {
    const unknown = "ab".repeat(32)
    await expect(client.waitFor(unknown)).rejects.toMatchObject({ name: "NotApplied", code: "NotFound", hash: unknown })
    await expect(client.waitFor("ab")).rejects.toBeInstanceOf(Client.InvalidInput)
  })

  it("fails with the reason when the transaction is final without an effect", async () => {
    const [hash, vertex_hash] = ["ab".repeat(32), "cd".repeat(32)]
    const server = createServer((_, response) => {
      const refusal = {
        code: "TransactionNotFound",
        error: "had no effect",
        vertex_hash,
        round: 7,
        reason: "nonce 3 is used",
      }
      response.writeHead(404, { "content-type": "application/json" }).end(JSON.stringify(refusal))
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const asking = Client.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const failure = await asking.waitFor(hash).catch((error: unknown) => error)
    expect(failure).toMatchObject({ name: "NotApplied", code: "NoEffect", hash })
    expect(String(failure)).toContain("final but had no effect: nonce 3 is used")
    server.close()
    server.closeAllConnections()
  })

  it("ends with the reason when the transaction failed", async () => {
    const nobody = accountOf(3)
    const vote = nobody.vote({ proposal_id: 77, vote: true, fee: 1_000, nonce: 0 })
    const refused = await client.sendAndWait(vote).catch((error: unknown) => error)
    // The node refuses a transaction that cannot work.
    expect(refused).toMatchObject({ name: "RequestRefused", code: "ProposalNotFound" })
    // The node accepts both registrations of one name, and applies one.
    const both = [accountOf(4), accountOf(5)].map((account) =>
      client.sendAndWait(account.registerName({ name: "twice", fee: 100_000, nonce: 0 })),
    )
    const outcomes = await Promise.allSettled(both)
    const [failed] = outcomes.flatMap((each) => (each.status === "rejected" ? [each.reason] : []))
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1)
    expect(failed).toMatchObject({ name: "NotApplied", code: "Failed", outcome: { applied: false } })
  })

  it("fails as expired when another transaction used the nonce, and times out while an earlier one is missing", async () => {
    const poor = accountOf(6)
    const waiting = client.sendAndWait(pay(poor, accountOf(1), 1)).catch((error: unknown) => error)
    const { tx_hash } = await client.transactions.submit({ payload: pay(poor, accountOf(1), 1) })
    await expect(client.waitFor(tx_hash, { timeoutMs: 300 })).rejects.toMatchObject({ code: "Deadline" })
    await client.transactions.submit({ payload: poor.transfer({ to: poor.address, amount: 1, fee: 5_000, nonce: 1 }) })
    expect(await waiting).toMatchObject({ name: "NotApplied", code: "Expired", hash: tx_hash })
  })

  it("stops when the caller cancels it", async () => {
    const leaving = new AbortController()
    const { tx_hash } = await client.transactions.submit({ payload: pay(accountOf(7), accountOf(1), 1) })
    const wait = client.waitFor(tx_hash, { signal: leaving.signal })
    leaving.abort(new Error("enough"))
    await expect(wait).rejects.toThrow("enough")
  })
})

describe("watching an account", () => {
  it("yields its transactions, each once and in order, and resumes after the last one", async () => {
    const [alice, bob] = [accountOf(8), accountOf(9)]
    const { hash } = await client.sendAndWait(pay(alice, bob, 0, 10))
    const entries = client.watch(bob.addressBech32, { after: hash })[Symbol.asyncIterator]()
    const first = entries.next()
    await client.sendAndWait(pay(alice, bob, 1, 11))
    expect((await first).value).toMatchObject({ direction: "received", transaction: { amount: 11 } })
    const second = entries.next()
    await client.sendAndWait(pay(bob, alice, 0, 12))
    expect((await second).value).toMatchObject({ direction: "sent", transaction: { amount: 12 } })
    const left = entries.next()
    expect(await entries.return?.()).toEqual({ done: true, value: undefined })
    expect(await left).toEqual({ done: true, value: undefined })

    const again = Effect.flatMap(Effects.make(node().url), (it) =>
      it.watch(bob.address, { after: hash }).pipe(Stream.take(2), Stream.runCollect),
    )
    expect([...(await Effect.runPromise(again))].map(({ direction }) => direction)).toEqual(["received", "sent"])
  })

  it("fails for an unknown account or an unknown position", async () => {
    const first = (account: string, after?: string) =>
      client
        .watch(account, after === undefined ? {} : { after })
        [Symbol.asyncIterator]()
        .next()
    await expect(first("@nobody")).rejects.toMatchObject({ code: "NameNotFound" })
    await expect(first(accountOf(0).address, "ab".repeat(32))).rejects.toMatchObject({ code: "TransactionNotFound" })
  })
})
