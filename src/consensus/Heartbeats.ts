/** When a validator outside the committee sends a heartbeat: often enough that every quarter of an epoch has one. */

import type { EpochRecord } from "../protocol/epoch/EpochRecord.js"
import { divideFloor } from "../protocol/numbers/Sats.js"
import type { Commit } from "../protocol/vertex/Commit.js"

/** Four in each quarter, so three of them can be lost. */
const PER_EPOCH = 16

export const spacingOf = ({ epochRounds }: Pick<EpochRecord["rules"], "epochRounds">): number =>
  Math.max(1, divideFloor(epochRounds, PER_EPOCH))

export class Heartbeats {
  #everyRounds = 1
  #nextRound = 0

  constructor(record: EpochRecord) {
    this.open(record)
  }

  open({ firstRound, rules }: EpochRecord): void {
    this.#everyRounds = spacingOf(rules)
    this.#nextRound = firstRound
  }

  /** Whether to send a heartbeat that names this commit. */
  isDue({ leaderRound }: Commit): boolean {
    if (leaderRound < this.#nextRound) return false
    this.#nextRound = leaderRound + this.#everyRounds
    return true
  }
}
