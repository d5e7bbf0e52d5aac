/** The replica's vital signs, for the node's health: those that cannot be read from it at a single moment. */
import type * as Natural from "../../protocol/numbers/Natural.js"

export interface Pulse {
  /** The highest round ever seen: never decreases. */
  readonly round: Natural.Round
  /** When that round was first seen. */
  readonly advancedAt: Natural.Timestamp
}

export class Vitals {
  #pulse: Pulse
  #revision = 0

  constructor(round: Natural.Round, at: Natural.Timestamp) {
    this.#pulse = { round, advancedAt: at }
  }

  get pulse(): Pulse {
    return this.#pulse
  }

  /** Changes whenever the view may have changed. */
  get revision(): number {
    return this.#revision
  }

  changed(): void {
    this.#revision++
  }

  /** Records the highest round the replica sees now; a fast sync may set it back. Returns whether it is a new high. */
  beat(round: Natural.Round, at: Natural.Timestamp): boolean {
    if (round <= this.#pulse.round) return false
    this.#pulse = { round, advancedAt: at }
    return true
  }
}
