/** What a node loads from its disk: its mempool, and the vertices that no commit has ordered yet. */
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import * as LiveState from "../../src/replica/live/LiveState.js"
import * as Stored from "../support/Stored.js"
import { addressOf, Cluster, coins, ROUND_MS, transfer } from "./Cluster.js"

const cluster = new Cluster({
  validators: { ann: 10_000, ben: 10_000, cleo: 10_000, dan: 10_000 },
  accounts: { alice: 1_000, bob: 1_000 },
})
cluster.start()
cluster.runRounds(8)
const paid = transfer("alice", 0, "bob", coins(10))
cluster.machine("ann").replica.submit(paid, cluster.now)
const ann = cluster.machine("ann")
while (ann.replica.held.included === 0) cluster.run(1)
const { disk } = ann

const begun = (...transactions: ReadonlyArray<ReturnType<typeof transfer>>) => {
  const { ledger, trie, views } = Either.getOrThrow(Stored.open(disk, { low: 0, high: 0 }))
  return LiveState.begin({
    ledger,
    trie,
    views,
    stored: { current: disk.current, previous: null, signed: [], companions: [] },
    guard: null,
    pending: transactions.map((transaction) => ({ transaction, receivedAt: cluster.now })),
    roundIntervalMs: ROUND_MS,
  })
}

describe("a starting node", () => {
  it("counts vertices without a commit as unordered, and does not propose their transactions again", () => {
    const { unordered, pool, core } = begun(paid)
    const ordered = new Set(ann.executed.flatMap(({ vertices }) => vertices.map(({ header }) => header.hash)))
    const open = disk.current.vertices.filter(({ header }) => !ordered.has(header.hash))
    const carriers = open.filter(({ body }) => body.transactions.some(({ id }) => id === paid.id))
    expect([open.length > 0, ordered.size > 0, carriers.length > 0]).toEqual([true, true, true])
    expect([unordered.size, core.epoch.dag.size]).toEqual([open.length, disk.current.vertices.length])
    expect([pool.get(paid.id)?.transaction, pool.isIncluded(paid)]).toEqual([paid, true])
  })

  it("reloads the pending transactions that its ledger accepts", () => {
    const tooDear = transfer("alice", 1, "bob", coins(1_000))
    const unknown = transfer("nobody", 0, "bob", 1)
    const [first, second] = [transfer("bob", 0, "alice", coins(600)), transfer("bob", 1, "alice", coins(600))]
    const { pool, ledger } = begun(tooDear, unknown, first)
    expect([tooDear, unknown, first].map(({ id }) => pool.get(id) !== undefined)).toEqual([false, false, true])
    // Earlier pending transactions count.
    expect(ledger.admission(second, 0)).toBeUndefined()
    expect(Either.isLeft(pool.submit(second, cluster.now, ann.replica.core.epoch.dag.highestRound))).toBe(true)
    expect(ledger.read.account(addressOf("bob")).balance).toBe(coins(1_000))
  })
})
