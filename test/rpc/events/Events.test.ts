import { Option } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Client from "../../../src/client/Client.js"
import * as Wallet from "../../../src/client/Wallet.js"
import * as RealNode from "../RealNode.js"

let node: RealNode.RealNode
beforeAll(async () => {
  // Slow enough that even a busy machine makes fewer than a thousand events between two steps of a test.
  node = await RealNode.start({ roundMs: Option.some(50) })
})
afterAll(() => node.stop())

const nobody = "00000000000000000000000000000000000000aa"

/** Events from now on until one of them satisfies the predicate. */
const until = async (
  holds: (event: Client.NumberedEvent["event"]) => boolean,
  after?: string,
): Promise<ReadonlyArray<Client.NumberedEvent>> => {
  const seen: Array<Client.NumberedEvent> = []
  for await (const numbered of Client.connect(node.url).events(after)) {
    seen.push(numbered)
    if (holds(numbered.event)) break
  }
  return seen
}

describe("the events of a node", () => {
  it("report a payment's acceptance, its vertex and its finality, and every round", async () => {
    const [position] = await until((event) => event.type === "round")
    const client = Client.connect(node.url)
    const { tx_hash } = await client.core.faucet({ payload: { address: nobody, amount: Wallet.sats("1") } })
    const seen = await until((event) => event.type === "transaction" && event.status === "finalized", position?.id)
    expect(seen.map(({ id }) => Number(id))).toEqual(seen.map((_, i) => Number(seen[0]?.id) + i))
    const events = seen.map(({ event }) => event)
    const about = events.flatMap((event) => (event.type === "transaction" ? [event] : []))
    expect(about).toMatchObject([
      { hash: tx_hash, transaction_type: "Transfer", status: "pending", applied: null },
      { hash: tx_hash, transaction_type: "Transfer", status: "finalized", applied: true },
    ])
    const lookup = await client.transactions.lookup({ path: { hash: tx_hash } })
    const vertex = events.find((event) => event.type === "vertex" && event.hash === lookup.vertex_hash)
    expect(vertex).toMatchObject({ round: lookup.round, validator: lookup.validator, tx_count: 1 })
    const rounds = events.flatMap((event) => (event.type === "round" ? [event.round] : []))
    expect(rounds).toEqual([...rounds].sort((a, b) => a - b))
    expect(new Set(rounds).size).toBeGreaterThan(1)
  })

  it("are limited to the kinds that a reader asks for, besides resets", async () => {
    const client = Client.connect(node.url)
    const [position] = await until((event) => event.type === "round")
    const somebody = "00000000000000000000000000000000000000ab"
    for (const address of [somebody, nobody, somebody]) {
      await client.core.faucet({ payload: { address, amount: Wallet.sats("1") } })
    }
    const first = async (wanted: Client.Wanted, count: number, after = position?.id) => {
      const seen: Array<Client.NumberedEvent["event"]> = []
      for await (const { event } of client.events(after, wanted)) if (seen.push(event) === count) break
      return seen
    }
    const rounds = await first({ types: ["round"] }, 5)
    expect(new Set(rounds.map(({ type }) => type))).toEqual(new Set(["round"]))
    const both = await first({ types: ["vertex", "transaction"] }, 5)
    expect(new Set(both.map(({ type }) => type))).toEqual(new Set(["vertex", "transaction"]))
    const about = await first({ account: somebody }, 4)
    const payments = about.flatMap((event) => (event.type === "transaction" ? [event] : []))
    expect(new Set(payments.map(({ to }) => to))).toEqual(new Set([somebody]))
    // The first may be final before the second is sent.
    const hashes = [...new Set(payments.map(({ hash }) => hash))]
    const statusesOf = (of: string) => payments.flatMap(({ hash, status }) => (hash === of ? [status] : []))
    expect(hashes.map(statusesOf)).toEqual([
      ["pending", "finalized"],
      ["pending", "finalized"],
    ])
    expect(await first({ types: ["alert"] }, 1, "1")).toMatchObject([{ type: "reset" }])
  })

  it("are refused to a reader that asks for unknown kinds", async () => {
    for (const [query, code, field] of [
      ["type=block", "InvalidRequest", "type"],
      ["type=round,", "InvalidRequest", "type"],
      ["kind=round", "InvalidRequest", "kind"],
      ["account=x", "InvalidRequest", "account"],
      ["account=@nobody-has-it", "NameNotFound", undefined],
    ] as const) {
      const response = await fetch(`${node.url}/events?${query}`)
      expect(await response.json(), query).toMatchObject({ code, ...(field === undefined ? {} : { field }) })
    }
  })

  it("resume where a reader left off, including the events it was away for", async () => {
    const first = await until((event) => event.type === "round")
    await new Promise((resolve) => setTimeout(resolve, 100))
    const last = Number(first.at(-1)?.id)
    const [next] = await until(() => true, String(last))
    expect(next?.id).toBe(String(last + 1))
  })

  it("begin with a reset for a reader that names a dropped or unknown event", async () => {
    for (const id of ["1", "999999999999999"]) {
      const [first] = await until(() => true, id)
      expect(first?.event).toMatchObject({ type: "reset", message: expect.stringContaining("events were missed") })
    }
  })
})
