import { Effect, Either, Stream } from "effect"
import { describe, expect, it } from "vitest"
import * as Client from "../../src/client/Client.js"
import * as Effects from "../../src/client/Effects.js"
import * as Wallet from "../../src/client/Wallet.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import * as JsonForm from "../../src/protocol/transaction/JsonForm.js"
import type * as TransactionJson from "../../src/protocol/transaction/TransactionJson.js"
import * as Failure from "../../src/rpc/api/Failure.js"
import { example } from "../../src/rpc/api/Field.js"
import * as TestServer from "../rpc/TestServer.js"
import { forTests } from "../support/forTests.js"

const transactionOf = (json: TransactionJson.TransactionJson) =>
  Either.getOrThrow(JsonForm.fromJson("udg-solo-0123456789abcdef" as NetworkId, "tudg", json))

let refusals = 0
const submitted: Array<unknown> = []

const server = forTests(() =>
  TestServer.start(
    {},
    {
      dag: {
        round: ({ path }) =>
          Effect.fail(
            new Failure.RoundNotFound({ message: `round ${path.round} is not reached`, reason: "not_reached" }),
          ),
      },
      core: {
        faucet: ({ payload }) =>
          refusals++ < 2
            ? Effect.fail(new Failure.MempoolFull({ message: "full", capacity: 1 }))
            : Effect.fail(new Failure.FaucetUnavailable({ message: `nothing for ${payload.address}` })),
      },
      transactions: {
        submit: ({ payloads }) => {
          submitted.push(...payloads)
          return Effect.succeed(
            payloads.map((payload) => {
              const { id, nonce } = transactionOf(payload)
              return Either.right({ tx_hash: id, status: "accepted" as const, nonce })
            }),
          )
        },
      },
      events: {
        stream: ({ headers }) =>
          Effect.succeed(
            Stream.iterate(Number(headers["last-event-id"] ?? 0) + 1, (id) => id + 1).pipe(
              Stream.take(3),
              Stream.map((id) => ({
                id,
                event: { type: "alert", severity: "critical", message: `no ${id}` } as const,
              })),
            ),
          ),
      },
    },
  ),
)

describe("the promise client", () => {
  it("returns data of the defined form from every read", async () => {
    const client = Client.connect(`${server().url}/`)
    expect((await client.core.status()).dag_round).toBe(1205)
    expect((await client.core.balance({ path: { address: "@alice" } })).name).toBe("alice")
    expect((await client.core.keygen()).secret_key.publicKey).toBe(example.publicKey)
    expect(await client.monitoring.metrics()).toContain("udg_dag_round 1205")
    const history = await client.transactions.history({ path: { address: "@alice" }, urlParams: { limit: 5 } })
    expect(history.transactions[0]?.transaction.type).toBe("Transfer")
    expect((await client.governance.voteOf({ path: { id: 1, address: "@alice" } })).vote).toBe("yes")
  })

  it("throws a refusal with its code and the node's whole message", async () => {
    const refused = Client.connect(server().url).dag.round({ path: { round: 9 } })
    await expect(refused).rejects.toThrow("round 9 is not reached")
    await expect(refused).rejects.toMatchObject({ code: "RoundNotFound", failure: { reason: "not_reached" } })
    await expect(refused).rejects.toBeInstanceOf(Client.RequestRefused)
  })

  it("retries when the node says when, and not otherwise", async () => {
    const before = performance.now()
    const faucet = Client.connect(server().url).core.faucet({
      payload: { address: "@zoe", amount: 500 },
    })
    await expect(faucet).rejects.toMatchObject({ code: "FaucetUnavailable" })
    expect(refusals).toBe(3)
    expect(performance.now() - before).toBeGreaterThan(1_900)
    refusals = 0
    const impatient = Client.connect(server().url, { retries: 0 }).core.faucet({
      payload: { address: "@zoe", amount: 500 },
    })
    await expect(impatient).rejects.toMatchObject({ code: "MempoolFull", failure: { capacity: 1 } })
    expect(refusals).toBe(1)
  })

  it("submits one signed transaction, or several at once", async () => {
    const client = Client.connect(server().url)
    const account = Wallet.account(Wallet.network(await client.core.network()), Wallet.secretKey(example.secretKey))
    const [first, second] = [
      account.unstake({ nonce: 3 }),
      account.registerName({ name: "zoe", fee: 100_000, nonce: 4 }),
    ]
    expect(await client.transactions.submit({ payload: first })).toEqual({
      tx_hash: transactionOf(first).id,
      status: "accepted",
      nonce: 3,
    })
    const answers = await client.transactions.submit({ payload: [first, second] })
    expect(answers).toMatchObject([
      { status_code: 200, nonce: 3 },
      { status_code: 200, nonce: 4 },
    ])
    expect(submitted).toEqual([first, first, second])
  })

  it("yields events one after another, and resumes after the last one", async () => {
    const seen: Array<string> = []
    for await (const { id, event } of Client.connect(server().url).events("41")) {
      seen.push(`${id} ${event.type === "alert" ? event.message : event.type}`)
    }
    expect(seen).toEqual(["42 no 42", "43 no 43", "44 no 44"])
  })

  it("continues behind the last event when the connection ends", async () => {
    const seen: Array<string> = []
    for await (const { id } of Client.connect(server().url).follow("41")) {
      seen.push(id)
      if (seen.length === 7) break
    }
    expect(seen).toEqual(["42", "43", "44", "45", "46", "47", "48"])
  })

  it.each(["events", "follow"] as const)("reports why %s are refused", async (way) => {
    const first = async () => {
      for await (const event of Client.connect(server().url)[way]("yesterday")) return event
      return undefined
    }
    await expect(first()).rejects.toMatchObject({ code: "InvalidRequest", message: expect.stringContaining("id") })
  })
})

describe("the Effect client", () => {
  it("types failures by their code", async () => {
    const program = Effect.gen(function* () {
      const client = yield* Effects.make(server().url)
      return yield* client.dag
        .round({ path: { round: 9 } })
        .pipe(Effect.catchTag("RoundNotFound", ({ reason }) => Effect.succeed(reason)))
    })
    expect(await Effect.runPromise(program)).toBe("not_reached")
  })
})
