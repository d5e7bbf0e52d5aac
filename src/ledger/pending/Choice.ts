/** Which pending transactions go into this node's next vertex. */

import { Heap, type Placed } from "../../collections/Heap.js"
import type { Address } from "../../protocol/identity/Address.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import type { Round } from "../../protocol/numbers/Natural.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import type { Entry, Lane } from "./Entry.js"
import type { Inclusion, Inclusions } from "./Inclusions.js"
import type { Sender } from "./Sender.js"

/**
 * Until this many rounds after its arrival, a transaction is proposed only by the leader of each round, whose vertex
 * becomes final a round before the others. Two leaders have a chance, then the member assigned to the sender.
 */
export const FRESH_ROUNDS = 3
/** From this many rounds after its arrival, a different member each round proposes it as well. */
export const PATIENCE_ROUNDS = 6
/**
 * A vertex is usually ordered three rounds after its own. After this many rounds its transactions are proposed once
 * more, because an author could hold them back with vertices that are never ordered, such as late ones for old slots.
 * Only the member assigned to the sender and the leader of a round repeat them: in a network without commits everything
 * is overdue.
 */
export const OVERDUE_ROUNDS = 12
/** Fee-exempt transactions have a tenth of the vertex reserved, by number and by bytes. */
export const EXEMPT_PART = 10

export interface Allowance {
  readonly round: Round
  readonly maxBytes: number
  /** The part of `maxBytes` for fresh transactions; 0 if another node leads the round. */
  readonly freshBytes: number
  readonly isAssigned: (sender: Address) => boolean
  /** Whether it is this node's turn to propose the sender's older transactions. */
  readonly hasTurn: (sender: Address) => boolean
}

interface Cursor extends Placed {
  readonly sender: Sender
  readonly isAssigned: boolean
  at: number
  entry: Entry
}

/** Higher fee first; among equals, the earlier arrival. */
export const comesBefore = (a: Entry, b: Entry): boolean =>
  a.transaction.fee !== b.transaction.fee ? a.transaction.fee > b.transaction.fee : a.arrival < b.arrival

const cursorBefore = (a: Cursor, b: Cursor): boolean => comesBefore(a.entry, b.entry)

class Choice {
  readonly #allowance: Allowance
  readonly #inclusions: Inclusions
  readonly #chosen: Array<Transaction> = []
  readonly #heaps: { readonly [L in Lane]: Heap<Cursor> }
  #bytes = 0
  #freshBytes = 0
  #freshExemptBytes = 0
  #exempt = 0
  #exemptBytes = 0

  constructor(allowance: Allowance, inclusions: Inclusions, senders: Iterable<Sender>) {
    this.#allowance = allowance
    this.#inclusions = inclusions
    const cursors: { readonly [L in Lane]: Array<Cursor> } = { paying: [], exempt: [] }
    for (const sender of senders) {
      const cursor = this.#open(sender)
      if (cursor !== undefined) cursors[cursor.entry.lane].push(cursor)
    }
    this.#heaps = {
      paying: new Heap(cursorBefore, cursors.paying),
      exempt: new Heap(cursorBefore, cursors.exempt),
    }
  }

  /** A cursor at the first entry to propose: all earlier nonces are executed or will be before this vertex. */
  #open(sender: Sender): Cursor | undefined {
    const [first] = sender.entries
    if (first === undefined) return undefined
    const cursor = { sender, isAssigned: this.#allowance.isAssigned(sender.address), at: 0, entry: first, place: -1 }
    while (true) {
      const entry = sender.entries[cursor.at]
      if (entry === undefined || entry.transaction.nonce !== sender.next + cursor.at) return undefined
      const inclusion = this.#inclusions.of(entry.transaction)
      cursor.entry = entry
      if (this.#isDue(cursor, inclusion)) return cursor
      // A transaction in a vertex of this round or above could be executed after this vertex.
      if (inclusion === undefined || inclusion.first >= this.#allowance.round) return undefined
      cursor.at++
    }
  }

  #isFresh({ sinceRound }: Entry): boolean {
    return this.#allowance.round - sinceRound < FRESH_ROUNDS
  }

  /** Whether the cursor's entry belongs in this vertex. An inclusion means that another vertex already has it. */
  #isDue({ sender, isAssigned, entry }: Cursor, inclusion: Readonly<Inclusion> | undefined): boolean {
    const { round, freshBytes, hasTurn } = this.#allowance
    // Turns are only for transactions that nobody has proposed. A leader that also needed a turn would repeat only one
    // in a hundred overdue ones.
    if (inclusion !== undefined) return (isAssigned || freshBytes > 0) && round - inclusion.last >= OVERDUE_ROUNDS
    if (this.#isFresh(entry)) return freshBytes > 0
    return isAssigned || (round - entry.sinceRound >= PATIENCE_ROUNDS && hasTurn(sender.address))
  }

  #advance(cursor: Cursor): void {
    cursor.at++
    const entry = cursor.sender.entries[cursor.at]
    if (entry === undefined || entry.transaction.nonce !== cursor.sender.next + cursor.at) return
    cursor.entry = entry
    if (this.#isDue(cursor, this.#inclusions.of(entry.transaction))) this.#heaps[entry.lane].push(cursor)
  }

  #hasExemptPlace(): boolean {
    const { maxBytes } = this.#allowance
    return this.#exempt * EXEMPT_PART < Limits.VERTEX_TRANSACTIONS && this.#exemptBytes * EXEMPT_PART < maxBytes
  }

  #next(): Cursor | undefined {
    const { paying, exempt } = this.#heaps
    if (exempt.size > 0 && (this.#hasExemptPlace() || paying.size === 0)) return exempt.pop()
    return paying.pop()
  }

  /** Whether there is room for a fresh transaction. A tenth of that room, too, is reserved for fee-exempt ones. */
  #takeFresh(lane: Lane, length: number): boolean {
    const { freshBytes } = this.#allowance
    if (this.#freshBytes + length > freshBytes) return false
    if (lane === "exempt") {
      const isCrowding = (this.#freshExemptBytes + length) * EXEMPT_PART > freshBytes
      if (isCrowding && this.#heaps.paying.size > 0) return false
      this.#freshExemptBytes += length
    }
    this.#freshBytes += length
    return true
  }

  run(): ReadonlyArray<Transaction> {
    while (this.#chosen.length < Limits.VERTEX_TRANSACTIONS) {
      const cursor = this.#next()
      if (cursor === undefined) break
      const { transaction, lane } = cursor.entry
      const { length } = transaction.encoded
      // This transaction waits for the next vertex, with its sender's later ones. Those of other senders may fit.
      if (this.#bytes + length > this.#allowance.maxBytes) continue
      if (this.#isFresh(cursor.entry) && !this.#takeFresh(lane, length)) continue
      this.#chosen.push(transaction)
      this.#bytes += length
      if (lane === "exempt") {
        this.#exempt++
        this.#exemptBytes += length
      }
      this.#advance(cursor)
    }
    return this.#chosen
  }
}

/** Highest fee first, each sender's in the order of nonces, without those in a vertex about to be ordered. */
export const choose = (
  allowance: Allowance,
  inclusions: Inclusions,
  senders: Iterable<Sender>,
): ReadonlyArray<Transaction> => new Choice(allowance, inclusions, senders).run()
