/**
 * Limits the work that peers can cause for free, at once and in the long run. All peers share one budget, since a new
 * peer costs little. Each also has a small budget of its own, so a peer that drains the shared one does not lock out
 * the others.
 *
 * A budget stores the moment at which it will be full again, and is spent while that moment is too far ahead.
 */
import { Recent } from "../../collections/Recent.js"
import type { Timestamp } from "../../protocol/numbers/Natural.js"

/** All peers together. */
export const SHARED_BURST = 128
export const SHARED_EVERY_MS = 40
/** Each peer, before it draws on the shared budget. */
export const OWN_BURST = 8
const OWN_EVERY_MS = 1_000
/** Peers remembered, nearly all that a node can have. The one that spent longest ago is forgotten first. */
export const PEERS = 256

const isSpent = (backAt: number, now: Timestamp, burst: number, everyMs: number): boolean =>
  backAt - now > (burst - 1) * everyMs

export class PeerBudget {
  /** Ordered by last spending. */
  readonly #own = new Recent<string, number>(PEERS)
  #shared = 0

  get size(): number {
    return this.#own.size
  }

  #isOwnSpent(peer: string, now: Timestamp): boolean {
    return isSpent(this.#own.get(peer) ?? 0, now, OWN_BURST, OWN_EVERY_MS)
  }

  isSpent(peer: string, now: Timestamp): boolean {
    return isSpent(this.#shared, now, SHARED_BURST, SHARED_EVERY_MS) && this.#isOwnSpent(peer, now)
  }

  spend(peer: string, now: Timestamp): void {
    if (this.#isOwnSpent(peer, now)) {
      this.#shared = Math.max(this.#shared, now) + SHARED_EVERY_MS
      return
    }
    this.#own.set(peer, Math.max(this.#own.get(peer) ?? 0, now) + OWN_EVERY_MS)
  }
}
