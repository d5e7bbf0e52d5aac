/**
 * Collects the signatures under one epoch's checkpoints, and compares signed checkpoints with this node's own results.
 */

import type { Checkpoint, CheckpointSignature, SignedCheckpoint } from "../protocol/epoch/Checkpoint.js"
import type { Address } from "../protocol/identity/Address.js"
import type { Hash } from "../protocol/identity/Hash.js"
import type { Signature } from "../protocol/identity/Keys.js"
import type { CommitIndex } from "../protocol/numbers/Natural.js"
import { type ExecutedCommit, judgeCheckpoint, type Rollback } from "./commit/Rollback.js"
import type { Committee } from "./dag/Committee.js"

/** Checkpoints without a quorum that one validator can keep alive, and signed ones kept for comparison. */
const MAX_PENDING = 8

interface Candidate {
  readonly checkpoint: Checkpoint
  readonly signatures: Map<Address, Signature>
}

export interface Finding {
  readonly final: SignedCheckpoint | null
  readonly rollback: Rollback | null
}

const NO_FINDING: Finding = { final: null, rollback: null }

const byValidator = (a: CheckpointSignature, b: CheckpointSignature): number => (a.validator < b.validator ? -1 : 1)

export class CheckpointQuorum {
  readonly committee: Committee
  readonly #commits = new Map<CommitIndex, ExecutedCommit>()
  readonly #own = new Map<CommitIndex, Checkpoint>()
  /** This node's checkpoint that closes the epoch; no other follows it. */
  #ownClosing: Checkpoint | null = null
  readonly #candidates = new Map<Hash, Candidate>()
  /**
   * Checkpoints signed by a quorum: the latest, the closing one, and those whose commit this node has not executed yet.
   */
  readonly #signed = new Map<CommitIndex, SignedCheckpoint>()
  #latest: SignedCheckpoint | null = null

  constructor(committee: Committee) {
    this.committee = committee
  }

  /** The final checkpoint of the highest commit. */
  get latest(): SignedCheckpoint | null {
    return this.#latest
  }

  /** The checkpoint that closes the epoch, once a quorum has signed it. */
  get closing(): SignedCheckpoint | null {
    return this.#latest?.checkpoint.nextEpoch === null ? null : this.#latest
  }

  /** Number of the epoch's commits kept for comparing checkpoints. */
  get commits(): number {
    return this.#commits.size
  }

  get pending(): number {
    return this.#candidates.size
  }

  /** A validator's signature under a checkpoint, with or without a quorum. */
  signatureOf(checkpoint: Checkpoint, validator: Address): Signature | undefined {
    const signed = this.#signed.get(checkpoint.commitIndex)
    return signed?.checkpoint.hash === checkpoint.hash
      ? signed.signatures.find((signature) => signature.validator === validator)?.signature
      : this.#candidates.get(checkpoint.hash)?.signatures.get(validator)
  }

  record(executed: ExecutedCommit): Finding {
    this.#commits.set(executed.commit.index, executed)
    return this.#judge(executed.commit.index)
  }

  build(checkpoint: Checkpoint): Finding {
    const before = this.#own.get(checkpoint.commitIndex)
    if (before !== undefined && before.hash !== checkpoint.hash) {
      throw new Error(
        `commit ${checkpoint.commitIndex} has two checkpoints here, ${before.hash} and ${checkpoint.hash}`,
      )
    }
    this.#own.set(checkpoint.commitIndex, checkpoint)
    if (checkpoint.nextEpoch !== null) this.#ownClosing = checkpoint
    return this.#judge(checkpoint.commitIndex)
  }

  #judge(index: CommitIndex): Finding {
    const signed = this.#signed.get(index)
    return signed === undefined ? NO_FINDING : { final: null, rollback: this.#rollback(signed.checkpoint) }
  }

  #rollback(checkpoint: Checkpoint): Rollback | null {
    const { commitIndex } = checkpoint
    const closing = this.#ownClosing
    const isBehindClose = closing !== null && commitIndex > closing.commitIndex
    return judgeCheckpoint(
      checkpoint,
      this.#commits.get(commitIndex),
      isBehindClose ? closing : this.#own.get(commitIndex),
    )
  }

  /** Whether this validator's signature under the checkpoint would add anything. If not, it need not be verified. */
  isNews(checkpoint: Checkpoint, validator: Address): boolean {
    if (checkpoint.epoch !== this.committee.record.epoch || this.committee.seatOf(validator) === undefined) return false
    // A quorum has signed other content for this commit. A quorum for this one too would be a rollback of finality.
    const signed = this.#signed.get(checkpoint.commitIndex)
    if (signed === undefined ? this.#isPast(checkpoint) : signed.checkpoint.hash === checkpoint.hash) return false
    return this.#candidates.get(checkpoint.hash)?.signatures.has(validator) !== true
  }

  /** Adds a verified signature of a member of this committee. */
  add(checkpoint: Checkpoint, { validator, signature }: CheckpointSignature): Finding {
    if (!this.isNews(checkpoint, validator)) return NO_FINDING
    let candidate = this.#candidates.get(checkpoint.hash)
    if (candidate === undefined) {
      this.#makeRoom(validator)
      candidate = { checkpoint, signatures: new Map() }
      this.#candidates.set(checkpoint.hash, candidate)
    }
    candidate.signatures.set(validator, signature)
    return this.#weigh(candidate)
  }

  #isPast(checkpoint: Checkpoint): boolean {
    return this.#latest !== null && checkpoint.commitIndex <= this.#latest.checkpoint.commitIndex
  }

  /** Drops the oldest checkpoints of a validator that signs everything. */
  #makeRoom(validator: Address): void {
    const kept = [...this.#candidates.values()].filter(({ signatures }) => signatures.has(validator))
    const oldest = kept.at(-MAX_PENDING)
    if (oldest === undefined) return
    oldest.signatures.delete(validator)
    if (oldest.signatures.size === 0) this.#candidates.delete(oldest.checkpoint.hash)
  }

  #weigh({ checkpoint, signatures }: Candidate): Finding {
    const { members } = this.committee.record
    const weight = members.reduce((sum, member) => (signatures.has(member.address) ? sum + member.weight : sum), 0)
    if (!this.committee.isQuorum(weight)) return NO_FINDING
    const final: SignedCheckpoint = {
      checkpoint,
      signatures: [...signatures].map(([validator, signature]) => ({ validator, signature })).sort(byValidator),
    }
    const rollback = this.#rollback(checkpoint)
    if (this.#signed.has(checkpoint.commitIndex)) return { final: null, rollback }
    this.#keep(final)
    return { final, rollback }
  }

  #keep(final: SignedCheckpoint): void {
    const { commitIndex } = final.checkpoint
    this.#signed.set(commitIndex, final)
    this.#latest = final
    for (const [hash, { checkpoint }] of this.#candidates) {
      if (checkpoint.commitIndex <= commitIndex) this.#candidates.delete(hash)
    }
    for (const index of this.#signed.keys()) {
      const isJudged = this.#commits.has(index) && this.#own.has(index)
      if (index !== commitIndex && (isJudged || this.#signed.size > MAX_PENDING)) this.#signed.delete(index)
    }
  }
}
