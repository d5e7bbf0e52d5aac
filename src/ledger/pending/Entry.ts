/** A pending transaction with the mempool's data about it. */
import type { Round, Timestamp } from "../../protocol/numbers/Natural.js"
import * as Charges from "../../protocol/transaction/Charges.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"

/** Fee-exempt transactions have reserved places, so no fee can crowd them out. */
export type Lane = "paying" | "exempt"

export const laneOf = ({ operation }: Transaction): Lane => (Charges.isExempt(operation._tag) ? "exempt" : "paying")

export interface Entry {
  readonly transaction: Transaction
  readonly lane: Lane
  /** The amount reserved from its sender's balance: fee and amount, as of its arrival. */
  readonly spending: number
  readonly receivedAt: Timestamp
  /** The node's round at its arrival, from which its age in rounds is counted. */
  readonly sinceRound: Round
  /** Rises with every arrival. */
  readonly arrival: number
}

/** Written out because a spread object is slower to read, and comparing entries is the mempool's hot path. */
export const make = ({ transaction, spending, receivedAt, sinceRound, arrival }: Omit<Entry, "lane">): Entry => ({
  transaction,
  lane: laneOf(transaction),
  spending,
  receivedAt,
  sinceRound,
  arrival,
})
