/** How the replica is, for whoever asks after the node's health: what cannot be read from it at a single moment. */
import type { Output } from "../consensus/replica/Output.js"
import type * as Counter from "../protocol/Counter.js"

export interface Pulse {
  /** The highest round ever seen: never decreases. */
  readonly round: Counter.Round
  /** When that round was first seen. */
  readonly advancedAt: Counter.Timestamp
}

export class Vitals {
  #pulse: Pulse
  #hasForeignHeader: boolean
  #revision = 0

  constructor(round: Counter.Round, at: Counter.Timestamp, hasForeignHeader: boolean) {
    this.#pulse = { round, advancedAt: at }
    this.#hasForeignHeader = hasForeignHeader
  }

  get pulse(): Pulse {
    return this.#pulse
  }

  /** Somebody else signs with this node's key. */
  get hasForeignHeader(): boolean {
    return this.#hasForeignHeader
  }

  /** Another number whenever what there is to look at may have changed. */
  get revision(): number {
    return this.#revision
  }

  changed(): void {
    this.#revision++
  }

  /** The highest round the replica sees now; a fast sync may set it back. Says whether it was never seen before. */
  beat(round: Counter.Round, at: Counter.Timestamp): boolean {
    if (round <= this.#pulse.round) return false
    this.#pulse = { round, advancedAt: at }
    return true
  }

  given({ _tag }: Output): void {
    if (_tag === "ForeignOwnHeader") this.#hasForeignHeader = true
  }
}
