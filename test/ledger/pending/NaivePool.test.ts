/** The pool beside a naive one, over random lives. */
import { FastCheck } from "effect"
import { describe, expect, it } from "vitest"
import { LIFETIME_MS, PendingTransactions } from "../../../src/ledger/pending/PendingTransactions.js"
import * as Natural from "../../../src/protocol/numbers/Natural.js"
import type { Transaction } from "../../../src/protocol/transaction/Transaction.js"
import { NaivePool } from "./NaivePool.js"
import { applied, executionOf, idsOf, names, round, told } from "./Pool.js"
import { addressOf, exempt, paying, World } from "./World.js"

const action = FastCheck.oneof(
  {
    weight: 12,
    arbitrary: FastCheck.record({
      tag: FastCheck.constant("submit" as const),
      name: FastCheck.constantFrom(...names),
      nonce: FastCheck.nat(9),
      fee: FastCheck.oneof(FastCheck.nat(12), FastCheck.nat(2_000), FastCheck.nat(40)),
      isExempt: FastCheck.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: FastCheck.record({
      tag: FastCheck.constant("commit" as const),
      name: FastCheck.constantFrom(...names),
      nonces: FastCheck.nat(3),
      balance: FastCheck.nat(5_000),
    }),
  },
  {
    weight: 1,
    arbitrary: FastCheck.record({ tag: FastCheck.constant("wait" as const), ms: FastCheck.nat(LIFETIME_MS) }),
  },
)

describe("the pool beside its definition", () => {
  it("answers, keeps and orders the same, for any input", () => {
    let evicted = 0
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(action, { maxLength: 80 }),
        FastCheck.integer({ min: 1, max: 20 }),
        (actions, capacity) => {
          const world = new World()
          for (const name of names) world.set(addressOf(name), 0, 5_000)
          const pool = new PendingTransactions(world, capacity)
          const naive = new NaivePool(world, capacity)
          let now = 1
          for (const each of actions) {
            if (each.tag === "submit") {
              const transaction = (each.isExempt ? exempt : paying)(each.name, each.nonce, each.fee)
              const answer = naive.submit(transaction, now, 10)
              if (answer === "MempoolFull") evicted++
              expect(told(pool.submit(transaction, Natural.timestamp(now), round))).toBe(answer)
            } else if (each.tag === "commit") {
              const address = addressOf(each.name)
              const executed = naive.of(address).slice(0, Math.min(each.nonces, naive.reachable(address)))
              world.set(address, world.account(address).nonce + each.nonces, each.balance)
              const transactions = executed.map(({ transaction }) => transaction)
              const done = transactions.length > 0 ? transactions : [paying(each.name, 0, 1)]
              pool.evictExecuted(executionOf(done.map(() => applied)), [done])
              naive.review([address])
            } else {
              now += each.ms
              pool.expire(Natural.timestamp(now))
              naive.expire(now)
            }
            now++
            const byFee = naive.byFee()
            expect(pool.size).toBe(byFee.length)
            expect(idsOf(pool.top(100).map(({ transaction }) => transaction))).toEqual(byFee)
            expect(idsOf(pool.top(3).map(({ transaction }) => transaction))).toEqual(byFee.slice(0, 3))
            for (const name of names) {
              const address = addressOf(name)
              expect(pool.nextNonce(address)).toBe(world.account(address).nonce + naive.reachable(address))
            }
          }
        },
      ),
      { numRuns: 300 },
    )
    expect(evicted).toBeGreaterThan(50)
  })

  it("has the same transactions after a restart from drained ones", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(action, { maxLength: 60 }), (actions) => {
        const world = new World()
        for (const name of names) world.set(addressOf(name), 0, 5_000)
        const pool = new PendingTransactions(world, 12)
        const disk = new Map<string, { readonly transaction: Transaction; readonly receivedAt: Natural.Timestamp }>()
        for (const [i, each] of actions.entries()) {
          if (each.tag !== "submit") continue
          const transaction = (each.isExempt ? exempt : paying)(each.name, each.nonce, each.fee)
          pool.submit(transaction, Natural.timestamp(i), round)
          if (i % 3 > 0) continue
          const { added, removed } = i % 2 === 0 ? pool.drainWaiting() : pool.drain()
          for (const id of removed) disk.delete(id)
          for (const one of added) disk.set(one.transaction.id, one)
        }
        const { added, removed } = pool.drain()
        for (const id of removed) disk.delete(id)
        for (const one of added) disk.set(one.transaction.id, one)
        const again = new PendingTransactions(world, 12)
        again.restore(disk.values(), round)
        const both = [pool, again].map((each) => idsOf([...each.all].map(({ transaction }) => transaction)))
        expect(both[1]).toEqual(both[0])
        expect(again.hasChanges).toBe(false)
      }),
      { numRuns: 200 },
    )
  })
})
