/** How the node can end, with the exit codes that tell a process manager whether to restart it. */
import { Data, Effect, type Either } from "effect"
import type { Rollback } from "../../consensus/commit/Rollback.js"
import type { ExecutionFault } from "../../ledger/ExecutionFault.js"
import type { SupplyInvariantViolated } from "../../ledger/tables/Supply.js"
import type { Checkpoint, SignedCheckpoint } from "../../protocol/epoch/Checkpoint.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { Epoch } from "../../protocol/numbers/Natural.js"
import type { Commit } from "../../protocol/vertex/Commit.js"
import type { PeerId } from "../../replica/messages/Peer.js"
import type { Fatal, JoinProblem } from "../../replica/output/Output.js"
import type { StorageError } from "../../storage/files/StorageError.js"
import type { AlreadySigned } from "../../storage/tables/SignedVertices.js"

const commit = ({ index, epoch, leaderRound, hash }: Commit): string =>
  `commit ${index} (epoch ${epoch}, leader round ${leaderRound}, hash ${hash})`

const checkpoint = ({ round, commitIndex, commitHash, effectsDigest, stateRoot, hash }: Checkpoint): string =>
  `checkpoint ${hash} of round ${round} (commit ${commitIndex}, ${commitHash}, effects ${effectsDigest}, state ${stateRoot})`

const describe = (rollback: Rollback): string => {
  switch (rollback._tag) {
    case "CommitIndexNotNext":
      return `commit ${rollback.found} was decided after commit ${rollback.last}`
    case "LeaderRoundNotRising":
      return `a commit of leader round ${rollback.found} was decided after one of round ${rollback.last}`
    case "CommitNotChained":
      return `a commit names ${rollback.found} as its predecessor, but that is ${rollback.last}`
    case "CommitDecidedAnew":
      return `the stored vertices decide ${commit(rollback.decided)}, recorded is ${commit(rollback.recorded)}`
    case "CommitNotDecided":
      return `the stored vertices do not decide the recorded ${commit(rollback.recorded)}`
    case "CheckpointOfOtherCommit":
      return (
        `a quorum signed ${checkpoint(rollback.checkpoint)}; recorded is ${commit(rollback.recorded.commit)} with ` +
        `effects ${rollback.recorded.effectsDigest}`
      )
    case "CheckpointOfOtherContent":
      return `a quorum signed ${checkpoint(rollback.checkpoint)}; built here is ${checkpoint(rollback.own)}`
    case "TwoCertified":
      return (
        `round ${rollback.round} has two certified leaders, ${rollback.certified.join(" and ")}: ` +
        "more than a third of the weight has signed two histories"
      )
    case "VerdictReversed":
      return `the vertices decide the leader of round ${rollback.round} again, which was ${rollback.committed ?? "skipped"}`
  }
}

/** A finalized round has changed. Exit code 100. */
export class FinalityRollback extends Data.TaggedError("FinalityRollback")<{ readonly rollback: Rollback }> {
  override get message(): string {
    return `finality rollback: ${describe(this.rollback)}`
  }
}

/** Money appeared or vanished. Exit code 101. */
export class SupplyViolation extends Data.TaggedError("SupplyViolation")<{
  readonly violation: SupplyInvariantViolated
}> {
  override get message(): string {
    return `supply invariant violated: ${this.violation.message}`
  }
}

/** An essential part threw while changing something other than the ledger, so the change may be half done. */
export class ApplyingFault extends Data.TaggedError("ApplyingFault")<{
  readonly component: string
  /** The part's current task; null if unknown. */
  readonly doing: string | null
  readonly cause: unknown
}> {
  override get message(): string {
    const { component, doing, cause } = this
    return `${doing === null ? component : `${component}, ${doing}`}: ${String(cause)}`
  }
}

/** A bug of the program or a fault of the machine. Exit code 102. */
export class InternalFault extends Data.TaggedError("InternalFault")<{
  readonly fault: ExecutionFault | ApplyingFault
}> {
  override get message(): string {
    const written = this.fault._tag === "ExecutionFault" ? "nothing of this commit was written, " : ""
    return `internal fault in ${this.fault.message}; ${written}please report this line`
  }
}

/** The network goes on by rules that this program does not know. Exit code 103. */
export class UpgradeNeeded extends Data.TaggedError("UpgradeNeeded")<{
  readonly epoch: Epoch
  readonly version: number
  readonly newest: number
}> {
  override get message(): string {
    return (
      `epoch ${this.epoch} runs by protocol version ${this.version}, and this program knows up to ${this.newest}; everything ` +
      "before it is stored: install a version that knows it, and start again, as docs/operations/upgrade.md says"
    )
  }
}

/** The stored state is not one that this program wrote. */
export class StateDamaged extends Data.TaggedError("StateDamaged")<{ readonly finding: string }> {
  override get message(): string {
    return `the stored state is damaged: ${this.finding}; restore a backup, or move it away and join the network again`
  }
}

/** The state is older than this node's own signatures, and only this node could make the vertices in between. */
export class StateBehind extends Data.TaggedError("StateBehind")<{
  readonly stored: Epoch
  readonly signed: Epoch
}> {
  override get message(): string {
    return (
      `udg.db ends in epoch ${this.stored}, but this validator, the only member of the committee, has signed in epoch ` +
      `${this.signed}; restore a newer copy of udg.db, or use --peer to name a node that has followed the network`
    )
  }
}

const NAMED_PEERS = 3

const claimedBy = (peers: ReadonlyArray<PeerId>): string => {
  const more = peers.length > NAMED_PEERS ? ` and ${peers.length - NAMED_PEERS} more` : ""
  return `${peers.slice(0, NAMED_PEERS).join(", ")}${more} ${peers.length === 1 ? "says" : "say"}`
}

const claimOf = ({ checkpoint: { epoch, hash } }: SignedCheckpoint): string => `${epoch} closed with ${hash}`

const pinOf = ({ checkpoint: { epoch, hash } }: SignedCheckpoint): string => `${epoch}:${hash}`

const describeJoin = (problem: JoinProblem): string => {
  switch (problem._tag) {
    case "TwoChains": {
      const { first, second, firstClaimants, secondClaimants } = problem
      return (
        `peers prove two histories: ${claimedBy(firstClaimants)} that epoch ${claimOf(first)}, ${claimedBy(secondClaimants)} that epoch ` +
        `${claimOf(second)}; ask an operator you trust, and start with --trust ${pinOf(first)} or --trust ${pinOf(second)}`
      )
    }
    case "UnreadableState":
      return `the state that closed epoch ${problem.epoch} cannot be read: ${problem.reason}`
  }
}

export class JoinStopped extends Data.TaggedError("JoinStopped")<{ readonly problem: JoinProblem }> {
  override get message(): string {
    return describeJoin(this.problem)
  }
}

/** This node's files are no longer in its data directory. */
export class DirectoryLost extends Data.TaggedError("DirectoryLost")<{ readonly finding: string }> {
  override get message(): string {
    return (
      `${this.finding}: the data directory was deleted, replaced or unmounted while the node ran, and everything written since is ` +
      "lost; put the directory back in its place, or restore a backup, and start again"
    )
  }
}

/** This follower's executions could not be recorded at their second place. */
export class RecordingFailed extends Data.TaggedError("RecordingFailed")<{ readonly reason: string }> {
  override get message(): string {
    return this.reason
  }
}

/** The node starts again, within its process, to sign with this key of its validator. */
export class KeyReplaced extends Data.TaggedError("KeyReplaced")<{ readonly address: Address }> {
  override get message(): string {
    return `the key ${this.address} replaces the validator's key`
  }
}

export type Ending =
  | FinalityRollback
  | SupplyViolation
  | InternalFault
  | UpgradeNeeded
  | StateDamaged
  | StateBehind
  | JoinStopped
  | DirectoryLost
  | RecordingFailed
  | KeyReplaced
  | AlreadySigned
  | StorageError

export const fromFatal = (fatal: Fatal): FinalityRollback | SupplyViolation | InternalFault | UpgradeNeeded => {
  switch (fatal._tag) {
    case "FinalityRollback":
      return new FinalityRollback({ rollback: fatal.rollback })
    case "SupplyInvariantViolated":
      return new SupplyViolation({ violation: fatal.violation })
    case "ExecutionFault":
      return new InternalFault({ fault: fatal.fault })
    case "UnknownVersion": {
      const { epoch, version, newest } = fatal
      return new UpgradeNeeded({ epoch, version, newest })
    }
  }
}

export const fromDamage = (damage: { readonly message: string }): StateDamaged =>
  new StateDamaged({ finding: damage.message })

export const sound = <A>(value: Either.Either<A, { readonly message: string }>): Effect.Effect<A, StateDamaged> =>
  Effect.mapError(value, fromDamage)

/**
 * The node of this directory ended with one of these codes, and its operator has not confirmed that it may run again.
 */
export class Halted extends Data.TaggedError("Halted")<{
  readonly directory: string
  readonly exitCode: number
  readonly reason: string
  /** Null if the halt file cannot be read. */
  readonly at: number | null
}> {
  override get message(): string {
    const { directory, exitCode, reason, at } = this
    const how =
      at === null
        ? `${reason}; the node may have ended with 100, 101 or 102`
        : `the node of ${directory} ended with ${exitCode} at ${new Date(at).toISOString()}: ${reason}`
    return (
      `${how}; do what ` + `docs/operations/exit-${exitCode}.md says, and then run udg recover --data-dir ${directory}`
    )
  }
}

/** 100, 101 and 102 mean: do not restart. 103 means: start a newer program. */
export const exitCodeOf = ({ _tag, exitCode }: { readonly _tag: string; readonly exitCode?: number }): number => {
  if (exitCode !== undefined) return exitCode
  switch (_tag) {
    case "FinalityRollback":
      return 100
    case "SupplyViolation":
      return 101
    case "InternalFault":
      return 102
    case "UpgradeNeeded":
      return 103
    default:
      return 1
  }
}
