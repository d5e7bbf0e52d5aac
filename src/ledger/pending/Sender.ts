/** The pending transactions of one account: at most a nonce window of them, so everything here may examine them all. */

import type { Placed } from "../../collections/Heap.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { Nonce } from "../../protocol/numbers/Natural.js"
import type { Entry, Lane } from "./Entry.js"

/** A sender's last entry in a lane, which leaves first, and the value that the pool loses with it. */
export interface Tail extends Placed {
  readonly sender: Sender
  readonly lane: Lane
  /** None while the sender has nothing in the lane. */
  entry: Entry | null
  /**
   * The lowest fee among the entries of the lane up to this one: none of them can be executed without those before it,
   * so a high fee after a low one protects neither. Below zero after a missing nonce, where nothing can be executed.
   */
  fee: number
  /** The latest arrival among the same entries. */
  arrival: number
}

export const GAP_FEE = -1

const NONE: ReadonlyArray<Entry> = []

/** Cheapest first; among equals, the latest. */
export const leavesBefore = (a: Tail, b: Tail): boolean => (a.fee !== b.fee ? a.fee < b.fee : a.arrival > b.arrival)

export class Sender {
  readonly address: Address
  /** The account's next nonce on finalized state. */
  next: Nonce
  /** In the order of their nonces. */
  readonly entries: Array<Entry> = []
  readonly tails: { readonly [L in Lane]: Tail }
  /** How many of its entries others are told of on loan (`Credit`). */
  lent = 0
  #reach: number
  #told: number
  #spending = 0
  #exempt = 0

  constructor(address: Address, next: Nonce) {
    this.address = address
    this.next = next
    this.#reach = next
    this.#told = next
    const tail = (lane: Lane): Tail => ({ sender: this, lane, entry: null, fee: 0, arrival: 0, place: -1 })
    this.tails = { paying: tail("paying"), exempt: tail("exempt") }
  }

  /** Fees and amounts of all entries. */
  get spending(): number {
    return this.#spending
  }

  get exemptCount(): number {
    return this.#exempt
  }

  at(nonce: Nonce): Entry | undefined {
    return this.entries.find(({ transaction }) => transaction.nonce === nonce)
  }

  add(entry: Entry): void {
    const { nonce } = entry.transaction
    let at = this.entries.length
    while ((this.entries[at - 1]?.transaction.nonce ?? 0) > nonce) at--
    this.entries.splice(at, 0, entry)
    this.#spending += entry.spending
    if (entry.lane === "exempt") this.#exempt++
  }

  remove(entry: Entry): void {
    const at = this.entries.indexOf(entry)
    if (at < 0) return
    this.entries.splice(at, 1)
    this.#spending -= entry.spending
    if (entry.lane === "exempt") this.#exempt--
  }

  /** The first nonce without an entry: those of lower nonces can be executed. */
  get reach(): number {
    return this.#reach
  }

  /** Others are told of the entries before this nonce, all of which can be executed. */
  get told(): number {
    return this.#told
  }

  /** How many entries follow the finalized nonce without a gap. */
  #reachable(): number {
    let count = 0
    while (this.entries[count]?.transaction.nonce === this.next + count) count++
    return count
  }

  /**
   * Brings reach and tails up to date with the entries. `allow`: of how many of those after the next one others may be
   * told. Returns those of which others are to be told from now on.
   */
  rank(allow: (wanted: number) => number): ReadonlyArray<Entry> {
    const { paying, exempt } = this.tails
    const reachable = this.#reachable()
    const toldBefore = Math.max(0, this.#told - this.next)
    const told = Math.min(reachable, 1 + allow(Math.max(0, reachable - 1)))
    this.#reach = this.next + reachable
    this.#told = this.next + told
    paying.entry = null
    exempt.entry = null
    for (const [i, entry] of this.entries.entries()) {
      const tail = entry.lane === "paying" ? paying : exempt
      const isFirst = tail.entry === null
      const fee = i < reachable ? entry.transaction.fee : GAP_FEE
      tail.fee = isFirst ? fee : Math.min(tail.fee, fee)
      tail.arrival = isFirst ? entry.arrival : Math.max(tail.arrival, entry.arrival)
      tail.entry = entry
    }
    return told > toldBefore ? this.entries.slice(toldBefore, told) : NONE
  }
}
