/** The pending transactions of one account, at most a window of nonces, so methods here can examine them all. */

import type { Placed } from "../../collections/Heap.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { Nonce } from "../../protocol/numbers/Natural.js"
import type { Entry, Lane } from "./Entry.js"

/** A sender's last entry in a lane, which leaves first, and the value that the mempool loses with it. */
export interface Tail extends Placed {
  readonly sender: Sender
  readonly lane: Lane
  /** Null if the sender has nothing in the lane. */
  entry: Entry | null
  /**
   * The lowest fee among the lane's entries up to this one: none of them can be executed without those before it, so a
   * high fee after a low one protects neither. Below zero after a missing nonce, where nothing can be executed.
   */
  fee: number
  /** The latest arrival among those entries. */
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
  /** In the order of nonces. */
  readonly entries: Array<Entry> = []
  readonly tails: { readonly [L in Lane]: Tail }
  /** Number of its entries relayed on loan (`Credit`). */
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

  /** The first nonce without an entry. All entries below it can be executed. */
  get reach(): number {
    return this.#reach
  }

  /** All entries below this nonce can be executed and relayed. */
  get told(): number {
    return this.#told
  }

  #reachable(): number {
    let count = 0
    while (this.entries[count]?.transaction.nonce === this.next + count) count++
    return count
  }

  /**
   * Updates reach and tails. `allow` returns how many entries after the next one can be relayed. Returns the entries
   * that can be relayed from now on.
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
