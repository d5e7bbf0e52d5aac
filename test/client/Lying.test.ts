/** The client accepts nothing that it can check itself from a node that lies about transactions. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Client from "../../src/client/Client.js"
import * as Effects from "../../src/client/Effects.js"
import * as Wallet from "../../src/client/Wallet.js"
import * as Address from "../../src/protocol/identity/Address.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import * as Network from "../../src/protocol/identity/Network.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as JsonForm from "../../src/protocol/transaction/JsonForm.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import { type FundedAccount, startNode } from "../../src/testing/Testing.js"
import { forTests } from "../support/forTests.js"

type Json = Record<string, unknown>
type Lie = (path: string, honest: Json) => unknown

const honest: Lie = (_, answer) => answer

const node = forTests(() => startNode())
let liar: Server
let client: Client.PromiseClient
let effects: Effects.EffectClient
let lie = honest
let asked: Array<string> = []

/** Returns the real node's response as the lie changes it. */
const answer = async (incoming: IncomingMessage, outgoing: ServerResponse, body: string) => {
  const { url = "/", method = "GET" } = incoming
  asked.push(url)
  const headers = { "content-type": "application/json" }
  const isForged = (told: unknown, json: Json): boolean => url.startsWith("/tx/") && !isSubmission(url) && told !== json
  const real = await fetch(`${node().url}${url}`, method === "GET" ? {} : { method, headers, body })
  const json = (await real.json()) as Json
  const told = lie(url, json)
  outgoing
    .writeHead(isForged(told, json) ? 200 : real.status, { "content-type": "application/json" })
    .end(JSON.stringify(told))
}

beforeAll(async () => {
  liar = createServer((incoming, outgoing) => {
    if (incoming.url?.startsWith("/events")) return void outgoing.writeHead(501).end()
    let body = ""
    incoming.setEncoding("utf8").on("data", (piece: string) => (body += piece))
    incoming.on("end", () => void answer(incoming, outgoing, body))
  })
  await new Promise<void>((resolve) => liar.listen(0, "127.0.0.1", resolve))
})
afterAll(async () => {
  liar.closeAllConnections()
  liar.close()
})

const lying = (told: Lie): void => {
  lie = told
  asked = []
  const url = `http://127.0.0.1:${(liar.address() as AddressInfo).port}`
  client = Client.connect(url)
  effects = Effect.runSync(Effects.make(url))
}

const accountOf = (index: number): FundedAccount => node().accounts[index] ?? expect.fail()
const nonces = new Map<number, number>()
const payment = (from: number) => {
  const nonce = nonces.get(from) ?? 0
  nonces.set(from, nonce + 1)
  return accountOf(from).transfer({ to: accountOf(9).address, amount: 1, fee: 1_000, nonce })
}

const isSubmission = (path: string): boolean => path === "/tx/submit"

/** Another account's applied transaction. */
const anothers = async (): Promise<string> => (await node().client.sendAndWait(payment(0))).hash

const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "no rejection",
    (error: unknown) => error,
  )

describe("a client of a lying node", () => {
  it("rejects a transaction that its account has not signed", async () => {
    const { network_id } = await node().client.core.network()
    const networkId = Network.isNetworkId(network_id) ? network_id : expect.fail()
    const [victim, thief] = [SecretKey.generate(), SecretKey.generate()]
    const from = Address.fromPublicKey(victim.publicKey)
    const operation = {
      _tag: "Transfer",
      to: Address.fromPublicKey(thief.publicKey),
      amount: Sats.make(5),
      memo: "",
    } as const
    const unsigned = { from, nonce: Natural.nonce(0), fee: Sats.make(1_000), operation }
    const forged = Transaction.sign(networkId, unsigned, thief)
    const real = Transaction.sign(networkId, unsigned, victim)
    const outcome = { status: "pending", round: null, vertex_hash: null, validator: null, applied: null, failure: null }
    const shown = async (change: Json): Promise<unknown> => {
      const transaction = { ...JsonForm.toJson(real), ...change }
      lying((path, answer) =>
        path.startsWith("/tx/")
          ? { ...outcome, proposal_id: null, timestamp: null, hash: real.id, transaction }
          : answer,
      )
      return client.transactions.lookup({ path: { hash: real.id } }).then(({ hash }) => hash, String)
    }
    expect(await shown({})).toBe(real.id)
    const { pub_key, signature } = JsonForm.toJson(forged)
    expect(await shown({ pub_key, signature })).toContain(
      `a transaction of ${from} is signed by the key of another account`,
    )
    expect(await shown({ signature })).toContain("has an invalid signature")
    const signatures = [{ pub_key: pub_key ?? "", signature: JsonForm.toJson(real).signature ?? "" }]
    expect(await shown({ pub_key: undefined, signature: undefined, signatures })).toContain("has an invalid signature")
  })

  it("rejects another account's transaction in place of its own", async () => {
    const other = await anothers()
    lying((path, answer) => (isSubmission(path) ? { ...answer, tx_hash: other } : answer))
    for (const send of [
      () => client.sendAndWait(payment(1)),
      () => client.transactions.submit({ payload: payment(1) }),
      async () =>
        Promise.reject(await Effect.runPromise(Effect.flip(effects.transactions.submit({ payload: payment(1) })))),
    ]) {
      const error = await rejection(send())
      expect(error).toBeInstanceOf(Client.FalseAnswer)
      expect(String(error)).toMatch(new RegExp(`it accepted transaction ${other} instead of [0-9a-f]{64}`))
    }
  })

  it("rejects another nonce, and another number or order of answers", async () => {
    const cases: ReadonlyArray<readonly [RegExp, (answers: ReadonlyArray<Json>) => ReadonlyArray<Json>]> = [
      [
        /2\^53|accepted nonce 9007199254740990 instead of 0/,
        ([one, two]) => [{ ...one, nonce: 9_007_199_254_740_990 }, two ?? {}],
      ],
      [/it accepted transaction/, (answers) => answers.toReversed()],
      [/1 answers to 2 transactions/, (answers) => answers.slice(1)],
      [/3 answers to 2 transactions/, (answers) => [...answers, ...answers.slice(1)]],
    ]
    for (const [n, [message, told]] of cases.entries()) {
      lying((path, answer) => (isSubmission(path) ? told(answer as unknown as ReadonlyArray<Json>) : answer))
      const error = await rejection(client.transactions.submit({ payload: [payment(2 + n), payment(2 + n)] }))
      expect(error).toBeInstanceOf(Client.FalseAnswer)
      expect(String(error)).toMatch(message)
    }
  })

  it("recognises another network by the signature, and a transaction by its contents", async () => {
    lying((path, answer) => {
      if (path === "/network") return { ...answer, network_id: "udg-elsewhere" }
      if (!isSubmission(path)) return answer
      const network = Wallet.network({ network_id: "udg-elsewhere", address_prefix: "tudg" })
      const { address } = accountOf(6)
      const fields = { to: accountOf(9).address, amount: 1, fee: 1_000, nonce: 0 }
      return { ...answer, tx_hash: Wallet.hashOf(Wallet.unsigned(network, address, "Transfer", fields)) }
    })
    const sent = rejection(client.transactions.submit({ payload: payment(6) }))
    expect(String(await sent)).toContain(
      "it accepted for udg-elsewhere a transaction that is signed for another network",
    )

    const hash = await anothers()
    lying((path, answer) =>
      path.startsWith("/tx/") ? { ...answer, transaction: { ...(answer["transaction"] as Json), amount: 7 } } : answer,
    )
    for (const reading of [client.waitFor(hash), client.transactions.lookup({ path: { hash } })]) {
      expect(String(await rejection(reading))).toMatch(new RegExp(`transaction [0-9a-f]{64} is shown as ${hash}`))
    }
  })

  it("rejects data about another account or transaction, and impossible nonces", async () => {
    const [own, other] = [accountOf(7), accountOf(8)]
    const hash = await anothers()
    lying((path, answer) => {
      if (path.startsWith("/balance")) return { ...answer, address: other.address }
      return path.startsWith("/tx/") ? { ...answer, hash: "ab".repeat(32) } : answer
    })
    for (const address of [own.address, own.address.toUpperCase(), own.addressBech32]) {
      const error = await rejection(client.core.balance({ path: { address } }))
      expect(String(error)).toContain(`it is about the address ${other.address} instead of ${address}`)
    }
    expect(await rejection(client.waitFor(hash))).toBeInstanceOf(Client.FalseAnswer)
    for (const next_nonce of [9_007_199_254_740_990, 65]) {
      lying((_, answer) => ({ ...answer, next_nonce }))
      const error = await rejection(client.core.balance({ path: { address: own.address } }))
      expect(String(error)).toContain(`next_nonce ${next_nonce} cannot follow nonce 0`)
    }
  })

  it("asks once for the network before it sends anything, and never where the program names it", async () => {
    lying(honest)
    await client.transactions.submit({ payload: payment(8) })
    await client.sendAndWait(payment(8))
    expect(asked.filter((path) => path === "/network")).toHaveLength(1)
    expect(asked[0]).toBe("/network")
    const network = Wallet.network(await node().client.core.network())
    asked = []
    const url = `http://127.0.0.1:${(liar.address() as AddressInfo).port}`
    await Client.connect(url, { network }).sendAndWait(payment(8))
    expect(asked).not.toContain("/network")
  })
})
