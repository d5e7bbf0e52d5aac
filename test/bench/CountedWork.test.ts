/**
 * The cost of a transfer in counts: hashes, conversions, messages, statements and bytes. Times differ between machines
 * and hours; counts do not. A change that makes a count grow must change it here.
 */
import { readdirSync, statSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { Worker } from "node:worker_threads"
import { Effect, Either, Schema } from "effect"
import { afterEach, expect, it, vi } from "vitest"
import * as MessageCodec from "../../src/network/MessageCodec.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import * as JsonForm from "../../src/protocol/transaction/JsonForm.js"
import * as TransactionJson from "../../src/protocol/transaction/TransactionJson.js"
import { startNode } from "../../src/testing/Testing.js"
import { addressOf, Cluster, transfer } from "../replica/Cluster.js"
import * as world from "../storage/world.js"
import * as Rest from "../support/Rest.js"

const counted = vi.hoisted(() => ({ hashes: 0, fromHex: 0 }))

vi.mock("../../src/protocol/crypto/HexDigits.js", async (original) => {
  const digits = await original<typeof import("../../src/protocol/crypto/HexDigits.js")>()
  return {
    write: (...args: Parameters<typeof digits.write>) => {
      counted.fromHex++
      digits.write(...args)
    },
  }
})

vi.mock("node:crypto", async (original) => {
  const crypto = await original<typeof import("node:crypto") & { hash?: (...args: ReadonlyArray<unknown>) => string }>()
  return {
    ...crypto,
    createHash: (...args: Parameters<typeof crypto.createHash>) => {
      counted.hashes++
      return crypto.createHash(...args)
    },
    hash: (...args: ReadonlyArray<unknown>) => {
      counted.hashes++
      return crypto.hash?.(...args)
    },
  }
})

const Sqlite = createRequire(import.meta.url)("better-sqlite3")

/** All statements that SQLite executes from now on. */
const countStatements = () => {
  const { prototype } = new Sqlite(":memory:").prepare("select 1").constructor
  const spies = ["run", "all"].map((name) => vi.spyOn(prototype, name))
  return () => spies.reduce((count, { mock }) => count + mock.calls.length, 0)
}

afterEach(() => void vi.restoreAllMocks())

const TRANSFERS = 1_000
const COMMITS = 5

const commitOf = (index: number) => {
  const transactions = Array.from({ length: TRANSFERS }, (_, n) => world.transfer(n, n + 1, index))
  const vertex = world.vertex({ round: index, transactions })
  const changes = Array.from({ length: TRANSFERS + 1 }, (_, n) => world.account(n, 5_000, index))
  const settled = transactions.map(({ id }) => id)
  return { vertex, batch: world.batch(index, { changes, vertices: [world.ordered(vertex)], settled }) }
}

const bytesOf = (folder: string): number =>
  readdirSync(folder).reduce((bytes, file) => bytes + statSync(join(folder, file)).size, 0)

const commits = (count: number) => Array.from({ length: count }, (_, i) => commitOf(i))

type Kept = Parameters<Parameters<typeof world.inMemory>[0]>[0]

const write = (storage: Kept, { vertex, batch }: ReturnType<typeof commitOf>) =>
  Effect.zipRight(storage.append(world.inserted([vertex])), storage.append([{ _tag: "Commit", batch: batch }]))

// In memory, because a database on disk runs its statements in another thread, which is not counted.
it(Rest.of("thousands of transfers", "a vertex of a thousand transfers and its commit take few statements"), () =>
  world
    .inMemory((storage) =>
      Effect.gen(function* () {
        for (const commit of commits(COMMITS)) {
          const count = countStatements()
          yield* write(storage, commit)
          expect(count()).toBeGreaterThan(10)
          expect(count()).toBeLessThanOrEqual(65)
          vi.restoreAllMocks()
        }
      }),
    )
    .pipe(Effect.provide(world.platform), Effect.runPromise),
)

it(Rest.of("thousands of transfers", "a transfer takes little disk space"), () =>
  Effect.gen(function* () {
    const path = yield* world.temporaryDirectory
    const [first = expect.fail(), ...others] = commits(1 + COMMITS)
    // Subtracts what every database has, and the space that each commit leaves free.
    yield* world.inDirectory(path, (storage) => write(storage, first))
    const before = bytesOf(path)
    yield* world.inDirectory(path, (storage) => Effect.forEach(others, (commit) => write(storage, commit)))
    expect((bytesOf(path) - before) / (TRANSFERS * COMMITS)).toBeLessThanOrEqual(260)
  }).pipe(Effect.provide(world.platform), Effect.scoped, Effect.runPromise),
)

it("a transfer takes few bytes, alone and in a vertex", () => {
  const transactions = Array.from({ length: TRANSFERS }, (_, n) => world.transfer(n, n + 1, 7))
  const alone = Math.max(...transactions.map(({ encoded }) => encoded.length))
  const together = world.vertex({ round: 1, transactions }).encoded.length / TRANSFERS
  expect(alone).toBeLessThanOrEqual(180)
  expect(together).toBeLessThanOrEqual(alone + 1)
})

it(
  Rest.of("a node under load", "a transfer takes few hashes, conversions and messages from its JSON to its commit"),
  async () => {
    const node = await startNode({ roundMs: 20, accounts: 50 })
    try {
      const payloads = Array.from({ length: 20 }, (_, nonce) =>
        node.accounts.map((account) => account.transfer({ to: account.address, amount: 1, fee: 1_000, nonce })),
      ).flat()
      const texts = vi.spyOn(Buffer.prototype, "toString")
      const messages = vi.spyOn(Worker.prototype, "postMessage")
      const figures = async () => {
        const { dag_round: rounds } = await node.client.core.status()
        const toHex = texts.mock.calls.filter(([encoding]) => encoding === "hex").length
        return { ...counted, rounds, toHex, messages: messages.mock.calls.length }
      }
      const idle = await figures()
      while ((await figures()).rounds < idle.rounds + 50) await sleep(100)
      const before = await figures()
      const hashes: Array<Hash> = []
      for (let i = 0; i < payloads.length; i += 500) {
        // Without the client, whose hashes for checking the response would be counted too.
        const answers = await fetch(`${node.url}/tx/submit`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(payloads.slice(i, i + 500)),
        })
        for (const { tx_hash } of (await answers.json()) as ReadonlyArray<{ tx_hash: Hash }>) hashes.push(tx_hash)
      }
      for (const hash of hashes.slice(-50)) await node.finalized(hash)
      const after = await figures()
      /** Per transfer, without the cost of rounds, of which a slow machine makes more. */
      const each = (name: keyof typeof after) => {
        const ofRound = (before[name] - idle[name]) / (before.rounds - idle.rounds)
        return (after[name] - before[name] - ofRound * (after.rounds - before.rounds)) / payloads.length
      }
      expect(each("hashes")).toBeLessThanOrEqual(1.8)
      expect(each("fromHex")).toBeLessThanOrEqual(6.5)
      expect(each("toHex")).toBeLessThanOrEqual(3.5)
      expect(each("messages")).toBeLessThanOrEqual(0.1)
    } finally {
      await node.stop()
    }
  },
)

const timeOf = (run: () => unknown): number => {
  const began = performance.now()
  for (let i = 0; i < 2_000; i++) run()
  return performance.now() - began
}

it("reading valid JSON costs a fraction of the library's time, which explains mistakes", () => {
  const json = JsonForm.toJson(world.transfer(1, 2, 3))
  const library = Schema.decodeUnknownEither(TransactionJson.TransactionJson, { onExcessProperty: "error" })
  // In turns, so that a busy moment affects both.
  const ratios = Array.from({ length: 15 }, () => {
    const one = timeOf(() => TransactionJson.decode(json))
    return timeOf(() => library(json)) / one
  }).sort((a, b) => a - b)
  expect(ratios[ratios.length >> 1]).toBeGreaterThan(2)
})

const NONCES = 20

it("four members announce a transfer to each other in few bytes", () => {
  const senders = Array.from({ length: 100 }, (_, n) => `sender ${n}`)
  const cluster = new Cluster({
    validators: { ann: 10_000, ben: 10_000, cleo: 10_000, dan: 10_000 },
    accounts: Object.fromEntries(senders.map((name) => [name, 10])),
    isMetered: true,
  })
  cluster.start()
  let told = 0
  cluster.passes = (_from, _to, message) => {
    told += MessageCodec.encode(message).length
    return true
  }
  const machineOf = (n: number) => cluster.machines[n % cluster.machines.length] ?? expect.fail()
  cluster.runRounds(5)
  const before = told
  for (let nonce = 0; nonce < NONCES; nonce++) {
    for (const [n, from] of senders.entries()) {
      const submitted = machineOf(n).replica.submit(transfer(from, nonce, from, 1), cluster.now)
      expect(Either.isRight(submitted)).toBe(true)
    }
    cluster.run(100)
  }
  cluster.runRounds(10)
  for (const { replica } of cluster.machines) expect(replica.read.account(addressOf("sender 0")).nonce).toBe(NONCES)
  const { encoded } = transfer("sender 0", 0, "sender 0", 1)
  // Each of the other nodes gets every transfer twice: announced, and in a vertex. Rounds add their own messages.
  const copies = (told - before) / (NONCES * senders.length) / encoded.length
  expect(copies / (cluster.machines.length - 1)).toBeLessThanOrEqual(2.2)
})
