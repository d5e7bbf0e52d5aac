/** Vital signs for the health report that cannot be read from the replica at a single moment. */
import type * as Natural from "../../protocol/numbers/Natural.js"

export interface Pulse {
  /** The highest round ever seen; never decreases. */
  readonly round: Natural.Round
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

  /** Records the replica's highest round, which a fast sync may lower. Returns whether it is a new maximum. */
  beat(round: Natural.Round, at: Natural.Timestamp): boolean {
    if (round <= this.#pulse.round) return false
    this.#pulse = { round, advancedAt: at }
    return true
  }
}
