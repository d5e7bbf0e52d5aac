/** A pending transaction with what the pool knows about it. */
import type { Round, Timestamp } from "../../protocol/numbers/Natural.js"
import * as Charges from "../../protocol/transaction/Charges.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"

/** Transactions that may be free have places of their own, so that no fee can crowd them out. */
export type Lane = "paying" | "exempt"

export const laneOf = ({ operation }: Transaction): Lane => (Charges.isExempt(operation._tag) ? "exempt" : "paying")

export interface Entry {
  readonly transaction: Transaction
  readonly lane: Lane
  /** What it reserves of its sender's balance: fee and amount, as of its arrival. */
  readonly spending: number
  readonly receivedAt: Timestamp
  /** The round the node was in when it came: who waits long enough is proposed by anybody. */
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
