/** What a node says at the two levels that are for finding a fault. */
import { Effect, Exit, Layer, Option, Scope } from "effect"
import { expect, it } from "vitest"
import * as Client from "../../src/client/Client.js"
import * as Wallet from "../../src/client/Wallet.js"
import * as LogFilter from "../../src/node/log/LogFilter.js"
import * as Logging from "../../src/node/log/Logging.js"
import { RpcUrl } from "../../src/node/RpcUrl.js"
import * as HttpInterface from "../../src/rpc/HttpInterface.js"
import * as TestNode from "../conformance/TestNode.js"
import * as world from "../node/world.js"

interface Line {
  readonly level: string
  readonly module: string
  readonly message: string
}

/** The records of a solo node on which a payment is made, something staked, and something refused. */
const recordsOf = async (directives: string): Promise<ReadonlyArray<Line>> => {
  const lines: Array<Line> = []
  const scope = Effect.runSync(Scope.make())
  const layer = Layer.provideMerge(
    HttpInterface.layer,
    world.node("", { ephemeral: true, rateLimits: false, roundMs: Option.some(10) }),
  ).pipe(
    Layer.provide(
      Logging.layer({ directives, format: "json", colours: false, write: (line) => lines.push(JSON.parse(line)) }),
    ),
  )
  try {
    const context = await Effect.runPromise(Layer.buildWithScope(layer, scope))
    const { url } = Effect.runSync(Effect.provide(RpcUrl, context))
    const client = Client.connect(url)
    const account = Wallet.account(Wallet.network(await client.core.network()), Wallet.generate())
    const gift = { address: account.address, amount: Wallet.sats("3000") }
    await TestNode.finalized(client, (await client.core.faucet({ payload: gift })).tx_hash)
    const staked = await client.transactions.submit({ payload: account.stake({ amount: 200_000_000_000, nonce: 0 }) })
    await TestNode.finalized(client, staked.tx_hash)
    const proposal = { title: "t", description: "", proposal_type: { Text: {} }, fee: 1_000, nonce: 1 } as const
    const proposed = await client.transactions.submit({ payload: account.createProposal(proposal) })
    await TestNode.finalized(client, proposed.tx_hash)
    await client.monitoring.metrics()
    await fetch(`${url}/nothing`)
    await TestNode.until(
      () => client.checkpoints.latest().catch(() => undefined),
      (latest) => latest !== undefined,
    )
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
  return lines
}

/** Peers and joining take more than a node alone. */
const ELSEWHERE = ["network", "sync"]

it("every module says something at debug, and trace says more", async () => {
  const debug = await recordsOf("debug")
  const speaking = new Set(debug.filter(({ level }) => level === "debug").map(({ module }) => module))
  expect(LogFilter.modules.filter((module) => !speaking.has(module))).toEqual(ELSEWHERE)
  expect(debug.filter(({ level }) => level === "trace")).toEqual([])
  const trace = await recordsOf("trace")
  const traced = new Set(trace.filter(({ level }) => level === "trace").map(({ module }) => module))
  expect([...traced].sort()).toEqual(["dag", "mempool", "rpc", "state"])
}, 120_000)
