/** What a node logs at the two levels for debugging. */
import { Effect, Exit, Layer, Option, Scope } from "effect"
import { expect, it } from "vitest"
import * as Client from "../../src/client/Client.js"
import * as Wallet from "../../src/client/Wallet.js"
import * as Journal from "../../src/node/engine/Journal.js"
import * as LogFilter from "../../src/node/log/LogFilter.js"
import * as Logging from "../../src/node/log/Logging.js"
import * as Pruning from "../../src/node/offline/Pruning.js"
import { RpcUrl } from "../../src/node/RpcUrl.js"
import { Dag } from "../../src/node/reads/Dag.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as HttpInterface from "../../src/rpc/HttpInterface.js"
import * as TestNode from "../conformance/TestNode.js"
import * as world from "../node/world.js"
import * as Rest from "../support/Rest.js"

interface Line {
  readonly level: string
  readonly module: string
  readonly message: string
  readonly annotations: { readonly [name: string]: unknown }
}

const logging = (directives: string, lines: Array<Line>) =>
  Logging.layer({ directives, format: "json", colours: false, write: (line) => lines.push(JSON.parse(line)) })

/** The log records of a solo node that executes a payment, a stake and a refused transaction. */
const recordsOf = async (directives: string): Promise<ReadonlyArray<Line>> => {
  const lines: Array<Line> = []
  const scope = Effect.runSync(Scope.make())
  const layer = Layer.provideMerge(
    HttpInterface.layer,
    world.node("", { ephemeral: true, rateLimits: false, roundMs: Option.some(10) }),
  ).pipe(Layer.provide(logging(directives, lines)))
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

/** Peers and joining need more than a solo node: `network` is covered in test/network/Network.test.ts, `sync` below. */
const ELSEWHERE = ["network", "sync"]

it(Rest.of("a network at every level", "logs from every module at debug, and more at trace"), async () => {
  const debug = await recordsOf("debug")
  const speaking = new Set(debug.filter(({ level }) => level === "debug").map(({ module }) => module))
  expect(LogFilter.modules.filter((module) => !speaking.has(module))).toEqual(ELSEWHERE)
  expect(debug.filter(({ level }) => level === "trace")).toEqual([])
  const trace = await recordsOf("trace")
  const traced = new Set(trace.filter(({ level }) => level === "trace").map(({ module }) => module))
  expect([...traced].sort()).toEqual(["dag", "mempool", "rpc", "state"])
})

it("logs at debug that a node joins and how far it has come", async () => {
  const lines: Array<Line> = []
  const progress = { epoch: Natural.epoch(3), heldRecords: 100, records: 400 }
  await Effect.runPromise(
    Journal.write({ _tag: "Joining", progress }, Option.none(), (key) => key).pipe(
      Effect.provide(logging("info,sync=debug", lines)),
    ),
  )
  expect(lines).toMatchObject([{ level: "debug", module: "sync", message: "joining", annotations: progress }])
})

const EPOCH_ROUNDS = 40

/**
 * The log of a solo node that keeps few rounds, from its start until it has closed and pruned the given number of
 * epochs.
 */
const untilEpoch = (epochs: number) =>
  Effect.gen(function* () {
    const lines: Array<Line> = []
    const directory = yield* world.temporaryDirectory
    yield* world.found(directory, { epochRounds: EPOCH_ROUNDS, collectionDepthRounds: 10, roundIntervalMs: 5 })
    const settings = { history: Option.some(10) }
    const finalizes = Effect.gen(function* () {
      const dag = yield* Dag
      for (let epoch = 1; epoch <= epochs; epoch++) {
        while ((yield* dag.position).finalizedRound <= epoch * EPOCH_ROUNDS + 5) yield* Effect.sleep("5 millis")
        yield* Pruning.once
      }
    })
    const node = Layer.provide(world.node(directory, settings), logging("info,storage=debug", lines))
    yield* Effect.provide(finalizes, node)
    return lines
  }).pipe(Effect.provide(world.platform), Effect.scoped)

it("logs one line per epoch at info while the node is healthy, with the figures an operator asks for", async () => {
  const all = await Effect.runPromise(untilEpoch(3))
  expect(all.map(({ message }) => message)).toContain("old vertices pruned")
  const lines = all.filter(({ level }) => level !== "debug")
  const begins = lines.filter(({ message }) => message === "epoch begins")
  expect(begins).toMatchObject(
    [2, 3, 4].map((epoch) => ({
      level: "info",
      module: "staking",
      annotations: { epoch, round: (epoch - 1) * EPOCH_ROUNDS + 1, members: 1, hasSeat: true },
    })),
  )
  const [first] = begins
  if (first === undefined) return expect.unreachable()
  expect(lines.slice(lines.indexOf(first)).map(({ message }) => message)).toEqual(begins.map(({ message }) => message))
})
