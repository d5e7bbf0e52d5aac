/** A commit: a leader whose history is final, chained to the previous commit. */
import * as Binary from "../encoding/Binary.js"
import * as Hash from "../identity/Hash.js"
import type { CommitIndex, Epoch, Round } from "../numbers/Natural.js"

export interface Commit {
  readonly index: CommitIndex
  readonly epoch: Epoch
  readonly leaderRound: Round
  readonly leaderHash: Hash.Hash
  /** Hash of the previous commit. */
  readonly previous: Hash.Hash
  readonly hash: Hash.Hash
}

/** H("udg/commit", previous ‖ index ‖ epoch ‖ leader round ‖ leader hash). */
export const make = (content: Omit<Commit, "hash">): Commit => ({
  ...content,
  hash: Hash.of(
    "udg/commit",
    Binary.encode((writer) =>
      writer
        .hex(content.previous)
        .u64(content.index)
        .u64(content.epoch)
        .u64(content.leaderRound)
        .hex(content.leaderHash),
    ),
  ),
})
