/**
 * Estimates how far this wall clock is from the committee's by the timestamps of arriving vertices, only to warn the
 * operator.
 */

import type { Committee } from "../../consensus/dag/Committee.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { Round, Timestamp } from "../../protocol/numbers/Natural.js"

/**
 * Each member's last vertices count, and among them the one that arrived fastest. After a standstill a node that has
 * just started hears some that were made before it, but fewer than a page of missing rounds would have.
 */
const REMEMBERED = 8

interface Heard {
  round: Round
  /** Timestamps relative to the steady clock on arrival. */
  readonly aheadMs: Array<number>
}

export class CommitteeClock {
  #heard = new Map<Address, Heard>()

  get size(): number {
    return this.#heard.size
  }

  /**
   * Another member's vertex has just arrived. Vertices of earlier rounds were fetched and say nothing about the clock.
   */
  hear(author: Address, round: Round, timestamp: Timestamp, now: Timestamp): void {
    const heard = this.#heard.get(author) ?? { round, aheadMs: [] }
    if (heard.aheadMs.length > 0 && round <= heard.round) return
    heard.round = round
    heard.aheadMs.push(timestamp - now)
    if (heard.aheadMs.length > REMEMBERED) heard.aheadMs.shift()
    this.#heard.set(author, heard)
  }

  keepOnly(committee: Committee): void {
    this.#heard = new Map([...this.#heard].filter(([author]) => committee.seatOf(author) !== undefined))
  }

  /**
   * How far this node's clock, which is `wallAheadMs` ahead of the steady one, is ahead of the median by weight; null
   * before enough vertices of a quorum have been heard. The median includes this node, so that a single wrong clock
   * among three does not pass for the right one.
   */
  aheadMs(committee: Committee, self: Address | null, wallAheadMs: number): number | null {
    const clocks: Array<{ readonly aheadMs: number; readonly weight: number }> = []
    let heard = 0
    for (const { address, weight } of committee.record.members) {
      const ahead = address === self ? [wallAheadMs] : this.#heard.get(address)?.aheadMs
      if (ahead === undefined || (address !== self && ahead.length < REMEMBERED)) continue
      heard += weight
      clocks.push({ aheadMs: Math.max(...ahead), weight })
    }
    if (clocks.length < 2 || !committee.isQuorum(heard)) return null
    clocks.sort((a, b) => a.aheadMs - b.aheadMs)
    let median = 0
    let below = 0
    for (const { aheadMs, weight } of clocks) {
      if (below * 2 < heard) median = aheadMs
      below += weight
    }
    return wallAheadMs - median
  }
}
