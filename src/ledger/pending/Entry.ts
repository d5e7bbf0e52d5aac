/** A pending transaction with the pool's data about it. */
import type { Round, Timestamp } from "../../protocol/numbers/Natural.js"
import * as Charges from "../../protocol/transaction/Charges.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"

/** Transactions that may be free have places of their own, so that no fee can crowd them out. */
export type Lane = "paying" | "exempt"

export const laneOf = ({ operation }: Transaction): Lane => (Charges.isExempt(operation._tag) ? "exempt" : "paying")

export interface Entry {
  readonly transaction: Transaction
  readonly lane: Lane
  /** The amount it reserves of its sender's balance: fee and amount, as of its arrival. */
  readonly spending: number
  readonly receivedAt: Timestamp
  /** The node's round at its arrival: members in turn propose a transaction that has waited long enough. */
  readonly sinceRound: Round
  /** Rises with every arrival. */
  readonly arrival: number
}

/** Written out rather than spread: comparing entries is the hot path of the pool, and a spread object is slower to read. */
export const make = ({ transaction, spending, receivedAt, sinceRound, arrival }: Omit<Entry, "lane">): Entry => ({
  transaction,
  lane: laneOf(transaction),
  spending,
  receivedAt,
  sinceRound,
  arrival,
})
