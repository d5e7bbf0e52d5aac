/** The HTTP API of the built node, on a testnet and on a mainnet. */
import { afterAll, describe, expect, it, vi } from "vitest"
import * as Wallet from "../../src/client/Wallet.js"
import * as Rest from "../support/Rest.js"
import * as Reads from "./Reads.js"
import * as Records from "./Records.js"
import * as Refusals from "./Refusals.js"
import * as Shape from "./Shape.js"
import * as Suite from "./Suite.js"
import * as TestNode from "./TestNode.js"
import * as World from "./World.js"

// Speed is not tested here, and a busy machine may be slow.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 240_000 })

const COIN = 100_000_000

describe.each([
  ["a node on a testnet", "testnet"],
  [Rest.of("nearly the same once more", "a node on a mainnet"), "mainnet"],
] as const)("%s", (_, mode) => {
  let node: TestNode.TestNode | undefined
  afterAll(() => node?.stop())

  const { world, ask } = Suite.define({
    world: async () => {
      node = await TestNode.start({ mode, parameters: World.parameters })
      return World.populate(node)
    },
    reads: Reads.reads,
    refusals: [...Refusals.refusals, ...Refusals.archived].filter(({ only }) => only === undefined || only === mode),
  })

  describe("the API", () => {
    it("serves metrics in Prometheus' format, with every series that has no prefix", async () => {
      const { headers, body } = await ask("GET", "/metrics", "/metrics")
      expect(headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8")
      const series = {
        checkpoint_produced_total: "counter",
        checkpoint_production_duration_ms: "gauge",
        checkpoint_size_bytes: "gauge",
        checkpoint_cosigned_total: "counter",
        checkpoint_quorum_reached_total: "counter",
        checkpoint_validation_failures_total: "counter",
        fast_sync_success_total: "counter",
        checkpoint_persist_success_total: "counter",
        udg_finality_lag: "gauge",
        udg_peer_count: "gauge",
        udg_mempool_size: "gauge",
        udg_dag_round: "gauge",
        udg_checkpoint_latest: "gauge",
      }
      for (const [name, type] of Object.entries(series)) {
        expect(body).toMatch(new RegExp(`^# HELP ${name} \\S`, "m"))
        expect(body).toMatch(new RegExp(`^# TYPE ${name} ${type}$`, "m"))
        expect(body).toMatch(new RegExp(`^${name} [0-9.e+]+$`, "m"))
      }
      expect(Number(/^checkpoint_produced_total (\S+)$/m.exec(body)?.[1])).toBeGreaterThan(0)
      expect(body.endsWith("\n")).toBe(true)
    })
  })

  if (mode === "testnet") {
    it("gives keys and coins on request, and signs with the key", async () => {
      const { client, accounts } = world().node
      const key = await client.core.keygen()
      const shown = { ...key, secret_key: key.secret_key.toSecretHex() }
      expect(Shape.complaints(Records.keypair("tudg"), shown)).toEqual([])
      const paid = await client.core.faucet({ payload: { address: key.address, amount: Wallet.sats("5") } })
      expect(Shape.complaints(Records.faucetResult, paid)).toEqual([])
      expect(paid.amount).toBe(5 * COIN)
      await TestNode.finalized(client, paid.tx_hash)
      expect((await client.core.balance({ path: { address: key.address } })).balance).toBe(5 * COIN)

      const transfer = {
        secret_key: key.secret_key,
        to: accounts.alice.addressBech32,
        amount: Wallet.sats("1"),
        fee: Wallet.sats("0.00001"),
      }
      const first = await client.transactions.send({ payload: transfer })
      const second = await client.transactions.send({ payload: transfer })
      expect(Shape.complaints(Records.accepted, first)).toEqual([])
      // Two equal calls make two transactions.
      expect([first.nonce, second.nonce]).toEqual([0, 1])
      expect(first.tx_hash).not.toBe(second.tx_hash)
    })
  }
})
