/** A pool and its contents. */
import { Either } from "effect"
import type { PendingTransactions } from "../../../src/ledger/pending/PendingTransactions.js"
import type { Execution, Outcome } from "../../../src/ledger/rules/Execution.js"
import * as Limits from "../../../src/protocol/numbers/Limits.js"
import * as Natural from "../../../src/protocol/numbers/Natural.js"
import * as Sats from "../../../src/protocol/numbers/Sats.js"
import type { Transaction } from "../../../src/protocol/transaction/Transaction.js"
import { Chain, person } from "../builders.js"
import { addressOf, World } from "./World.js"

export const at = Natural.timestamp(1_000_000)

export const round = Natural.round(10)

export const everybody = {
  round,
  maxBytes: Limits.VERTEX_BYTES,
  freshBytes: Limits.VERTEX_BYTES,
  isAssigned: () => true,
  hasTurn: () => true,
}

export const rich = (...names: ReadonlyArray<string>): World => {
  const world = new World()
  for (const name of names) world.set(addressOf(name), 0, 1_000_000_000)
  return world
}

export const told = (answer: ReturnType<PendingTransactions["submit"]>): string =>
  Either.match(answer, { onLeft: ({ _tag }) => _tag, onRight: (taken) => taken })

export const submit = (pool: PendingTransactions, ...transactions: ReadonlyArray<Transaction>): ReadonlyArray<string> =>
  transactions.map((transaction) => told(pool.submit(transaction, at, round)))

export const idsOf = (transactions: ReadonlyArray<Transaction>): ReadonlyArray<string> =>
  transactions.map(({ id }) => id)

/** An execution in which these transactions had these outcomes. */
export const executionOf = (outcomes: ReadonlyArray<Outcome>): Execution => {
  const { vertices, ...execution } = new Chain({}).commit([{ by: person("val") }])
  const [vertex] = vertices
  if (vertex === undefined) throw new Error("one vertex expected")
  return { ...execution, vertices: [{ ...vertex, transactions: outcomes }] }
}

export const applied: Outcome = {
  _tag: "Applied",
  fee: Sats.ZERO,
  toTreasury: Sats.ZERO,
  taken: Sats.ZERO,
  proposalId: null,
}

export const cheapest = (transaction: Transaction): number =>
  transaction.fee + Math.max(1, Math.ceil(transaction.fee / 10))

export const names = ["ann", "ben", "cleo", "dan"]
