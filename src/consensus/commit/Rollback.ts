/**
 * The conditions that end the node with exit code 100: its order contradicts itself or its records, or a quorum of the
 * committee in its epoch record has signed another history. Anything else that a peer sends costs only that peer its
 * score.
 */
import type { Checkpoint } from "../../protocol/epoch/Checkpoint.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { CommitIndex, Round } from "../../protocol/numbers/Natural.js"
import type { Commit } from "../../protocol/vertex/Commit.js"
import type { Contradiction } from "./Committer.js"
import type { Position } from "./Linearizer.js"

export interface ExecutedCommit {
  readonly commit: Commit
  readonly effectsDigest: Hash
}

export type Rollback =
  | Contradiction
  | { readonly _tag: "CommitIndexNotNext"; readonly last: CommitIndex; readonly found: CommitIndex }
  | { readonly _tag: "LeaderRoundNotRising"; readonly last: Round; readonly found: Round }
  | { readonly _tag: "CommitNotChained"; readonly last: Hash; readonly found: Hash }
  /** The stored vertices decide this commit differently from the recorded one. */
  | { readonly _tag: "CommitDecidedAnew"; readonly recorded: Commit; readonly decided: Commit }
  /** A recorded commit that the stored vertices do not decide. */
  | { readonly _tag: "CommitNotDecided"; readonly recorded: Commit }
  | {
      readonly _tag: "CheckpointOfOtherCommit"
      readonly checkpoint: Checkpoint
      readonly recorded: ExecutedCommit
    }
  | { readonly _tag: "CheckpointOfOtherContent"; readonly checkpoint: Checkpoint; readonly own: Checkpoint }

/** Condition (a): whether a commit follows the previous one. */
export const judgeCommit = (last: Position, commit: Commit): Rollback | null => {
  if (commit.index !== last.index + 1) {
    return { _tag: "CommitIndexNotNext", last: last.index, found: commit.index }
  }
  if (commit.leaderRound <= last.leaderRound) {
    return { _tag: "LeaderRoundNotRising", last: last.leaderRound, found: commit.leaderRound }
  }
  if (commit.previous !== last.hash) return { _tag: "CommitNotChained", last: last.hash, found: commit.previous }
  return null
}

/** Condition (a) at start: whether a commit decided again is the recorded one, whose record may not fit its hash. */
export const judgeRepeatedDecision = (recorded: Commit, decided: Commit): Rollback | null =>
  recorded.hash === decided.hash &&
  recorded.index === decided.index &&
  recorded.epoch === decided.epoch &&
  recorded.leaderRound === decided.leaderRound &&
  recorded.leaderHash === decided.leaderHash &&
  recorded.previous === decided.previous
    ? null
    : { _tag: "CommitDecidedAnew", recorded, decided }

/** Condition (b): whether a checkpoint signed by a quorum matches this node's own results, as far as known. */
export const judgeCheckpoint = (
  checkpoint: Checkpoint,
  recorded: ExecutedCommit | undefined,
  own: Checkpoint | undefined,
): Rollback | null => {
  if (
    recorded !== undefined &&
    (recorded.commit.hash !== checkpoint.commitHash || recorded.effectsDigest !== checkpoint.effectsDigest)
  ) {
    return { _tag: "CheckpointOfOtherCommit", checkpoint, recorded }
  }
  return own === undefined || own.hash === checkpoint.hash
    ? null
    : { _tag: "CheckpointOfOtherContent", checkpoint, own }
}
