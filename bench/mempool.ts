// The cost of a full mempool: admitting a transaction, filling a vertex, listing the highest fees, and settling a
// commit of five thousand. The ledger answers at once here; bench/ledger measures it.
import { Either } from "effect"
import { type Door, PendingTransactions } from "../src/ledger/pending/PendingTransactions.js"
import type { Execution } from "../src/ledger/rules/Execution.js"
import * as Hash from "../src/protocol/identity/Hash.js"
import type { NetworkId } from "../src/protocol/identity/Network.js"
import * as Limits from "../src/protocol/numbers/Limits.js"
import * as Natural from "../src/protocol/numbers/Natural.js"
import * as Sats from "../src/protocol/numbers/Sats.js"
import * as Transaction from "../src/protocol/transaction/Transaction.js"
import { keysOf } from "../test/consensus/TestCommittee.js"
import type { Figure, Suite } from "./Harness.js"

const NETWORK = "bench" as NetworkId
const NOW = Natural.timestamp(1_700_000_000_000)
const ROUND = Natural.round(10)
const REPETITIONS = 15

const SIGNATURE = "5".repeat(128) as Transaction.KeySignature["signature"]

const door = (nonce: number): Door => ({
  admission: () => undefined,
  hasEffect: () => true,
  spending: ({ fee }: Transaction.Transaction) => fee,
  account: () => ({ nonce: Natural.nonce(nonce), balance: Sats.MAX_SUPPLY }),
})

/** Transfers of these senders, `each` of every one, with unordered fees. */
const transfers = (senders: number, each: number, base = 1_000): ReadonlyArray<Transaction.Transaction> =>
  keysOf(senders).flatMap(({ address, publicKey }, i) =>
    Array.from({ length: each }, (_, nonce) =>
      Transaction.make(
        NETWORK,
        {
          from: address,
          nonce: Natural.nonce(nonce),
          fee: Sats.make(base + ((i * 7_919 + nonce * 104_729) % 10_007)),
          operation: { _tag: "Transfer", to: address, amount: Sats.make(1), memo: "" },
        },
        { _tag: "SingleKey", publicKey, signature: SIGNATURE },
      ),
    ),
  )

const full = (transactions: ReadonlyArray<Transaction.Transaction>): PendingTransactions => {
  const pool = new PendingTransactions(door(0))
  for (const transaction of transactions) Either.getOrThrow(pool.submit(transaction, NOW, ROUND))
  return pool
}

const executionOf = (transactions: ReadonlyArray<Transaction.Transaction>): Pick<Execution, "vertices"> => ({
  vertices: transactions.slice(0, 1).map(({ from }) => ({
    vertex: Hash.ZERO,
    author: from,
    minted: Sats.ZERO,
    transactions: transactions.map(({ fee }) => ({
      _tag: "Applied",
      fee,
      toTreasury: Sats.ZERO,
      taken: Sats.ZERO,
      proposalId: null,
    })),
  })),
})

/** Median milliseconds of the second step, with a fresh first one each time. */
const median = <A>(prepare: () => A, run: (prepared: A) => void): number => {
  const times = Array.from({ length: REPETITIONS }, () => {
    const prepared = prepare()
    const started = performance.now()
    run(prepared)
    return performance.now() - started
  }).sort((a, b) => a - b)
  return times[REPETITIONS >> 1] ?? 0
}

const figuresOf = (senders: number): ReadonlyArray<Figure> => {
  const who = `${senders} senders`
  const transactions = transfers(senders, Limits.MEMPOOL_TRANSACTIONS / senders)
  const better = transfers(2 * senders, 1, 50_000).slice(senders)
  const wish = {
    round: ROUND,
    maxBytes: Limits.VERTEX_BYTES,
    freshBytes: Limits.VERTEX_BYTES,
    isAssigned: () => true,
    hasTurn: () => true,
  }
  const fill = median(
    () => undefined,
    () => void full(transactions),
  )
  const evict = median(
    () => full(transactions),
    (pool) => {
      for (const transaction of better) pool.submit(transaction, NOW, ROUND)
    },
  )
  const choose = median(
    () => full(transactions),
    (pool) => void pool.choose(wish),
  )
  const top = median(
    () => full(transactions),
    (pool) => void pool.top(100),
  )
  const settle = median(
    () => {
      const pool = full(transactions)
      return { pool, chosen: pool.choose(wish) }
    },
    ({ pool, chosen }) => pool.evictExecuted(executionOf(chosen), [chosen]),
  )
  return [
    { name: `${who}: let in, each`, value: (fill * 1_000) / transactions.length, unit: "µs" },
    { name: `${who}: let into a full pool, each`, value: (evict * 1_000) / better.length, unit: "µs" },
    { name: `${who}: fill a vertex with 5 000`, value: choose, unit: "ms" },
    { name: `${who}: the best 100`, value: top, unit: "ms" },
    { name: `${who}: settle a commit of 5 000`, value: settle, unit: "ms" },
  ]
}

export const suite: Suite = {
  about: "the mempool with 10 000 pending transactions, of 10 000 and of 200 senders",
  figures: () => [10_000, 200].flatMap(figuresOf),
}
