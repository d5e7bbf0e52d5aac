/** Where an epoch begins, and which closing checkpoint opens it. */
import type { Closing } from "../../protocol/epoch/Checkpoint.js"
import type { EpochRecord } from "../../protocol/epoch/EpochRecord.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { Timestamp } from "../../protocol/numbers/Natural.js"
import type { Position } from "../commit/Linearizer.js"

/** The closing checkpoint that opens an epoch, and the commit that the epoch follows. */
export interface Opening {
  /** Content hash of that checkpoint. */
  readonly base: Hash
  readonly record: EpochRecord
  readonly position: Position
}

/** The opening that follows a closing checkpoint. `time` is that of its commit, from the state's Head. */
export const openingOf = (closing: Closing, time: Timestamp): Opening => ({
  base: closing.hash,
  record: closing.nextEpoch,
  position: { index: closing.commitIndex, hash: closing.commitHash, leaderRound: closing.round, time },
})
