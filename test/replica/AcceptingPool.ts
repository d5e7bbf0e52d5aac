import { Either } from "effect"
import { PendingTransactions } from "../../src/ledger/pending/PendingTransactions.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type { Transaction } from "../../src/protocol/transaction/Transaction.js"

/** A pool for which every account is rich, with these transactions. */
export const poolOf = (transactions: ReadonlyArray<Transaction>, round = Natural.round(1)): PendingTransactions => {
  const pool = new PendingTransactions({
    admission: () => undefined,
    hasEffect: () => true,
    spending: ({ fee }: Transaction) => fee,
    account: () => ({ nonce: Natural.nonce(0), balance: Sats.MAX_SUPPLY }),
  })
  for (const transaction of transactions) Either.getOrThrow(pool.submit(transaction, Natural.timestamp(1), round))
  return pool
}
