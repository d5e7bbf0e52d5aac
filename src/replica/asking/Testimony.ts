/**
 * What others sign outside of vertices, and this node puts into its own: evidence against members, and heartbeats of
 * validators without a seat. Decides which of it is useful, which is kept, and which gossip relays.
 */
import type { Checkpoint, CheckpointSignature } from "../../protocol/epoch/Checkpoint.js"
import type { Epoch } from "../../protocol/numbers/Natural.js"
import { MIN_STAKE_SATS } from "../../protocol/numbers/Sats.js"
import type { Commit } from "../../protocol/vertex/Commit.js"
import type { Evidence } from "../../protocol/vertex/Evidence.js"
import type { Heartbeat } from "../../protocol/vertex/Heartbeat.js"
import type { LiveState } from "../live/LiveState.js"
import { EvidencePool } from "../signing/EvidencePool.js"
import { COMMITS_AHEAD, HeartbeatPool, type Naming } from "../signing/HeartbeatPool.js"
import { Relaying } from "./Relaying.js"

export class Testimony {
  readonly evidence = new EvidencePool()
  readonly heartbeats = new HeartbeatPool()
  readonly #relaying = new Relaying()
  readonly #live: () => LiveState

  constructor(live: () => LiveState) {
    this.#live = live
  }

  /** How many items each part holds. */
  get held() {
    return { relayed: this.#relaying.size, evidence: this.evidence.size, heartbeats: this.heartbeats.size }
  }

  /** Whether it would be of use, if its signature holds. Changes nothing. */
  wantsHeartbeat(heartbeat: Heartbeat): boolean {
    return this.#relaying.isNewHeartbeat(heartbeat, this.#candidateNaming(heartbeat))
  }

  /** The same. */
  wantsEvidence(evidence: Evidence): boolean {
    return this.evidence.wants(evidence) && this.#isProof(evidence)
  }

  /** Returns whether gossip is to relay it, as the next two do. */
  hearHeartbeat(heartbeat: Heartbeat): boolean {
    const { seat, dag } = this.#live().core.epoch
    const naming = this.#candidateNaming(heartbeat)
    if (seat !== undefined) this.heartbeats.add(heartbeat, dag.highestRound, naming)
    return this.#relaying.heartbeat(heartbeat, naming)
  }

  hearEvidence(evidence: Evidence): boolean {
    return this.keepEvidence(evidence) && this.#relaying.evidence(evidence)
  }

  relays(checkpoint: Checkpoint, signature: CheckpointSignature): boolean {
    return this.#relaying.checkpointSignature(checkpoint, signature)
  }

  /** Whether it is news. */
  keepEvidence(evidence: Evidence): boolean {
    return this.#isProof(evidence) && this.evidence.add(evidence)
  }

  /** What this node knows of the commit that a heartbeat names. */
  #namingOf({ commitIndex, commitHash }: Heartbeat): Naming {
    const { read } = this.#live().ledger
    if (commitIndex > read.head.index) return commitIndex - read.head.index <= COMMITS_AHEAD ? "ahead" : "none"
    return read.recentCommit(commitIndex)?.hash === commitHash ? "executed" : "none"
  }

  /** The same, but "none" for a validator whose stake is too small for a seat: it must not fill this node's memory. */
  #candidateNaming(heartbeat: Heartbeat): Naming {
    const { stakedAmount } = this.#live().ledger.read.stake(heartbeat.validator)
    return stakedAmount < MIN_STAKE_SATS ? "none" : this.#namingOf(heartbeat)
  }

  #isProof(evidence: Evidence): boolean {
    const { base, epoch, author } = evidence.first
    const { core, ledger } = this.#live()
    const { opening, committee } = core.epoch
    // The ledger learns an epoch's base with its first commit; of the running one the core knows it before.
    return epoch === opening.record.epoch
      ? base === opening.base && committee.seatOf(author) !== undefined
      : ledger.read.isPunishable(evidence)
  }

  /** These heartbeats are in a vertex. */
  included(heartbeats: ReadonlyArray<Heartbeat>): void {
    for (const heartbeat of heartbeats) {
      if (this.#namingOf(heartbeat) === "executed") this.heartbeats.included(heartbeat)
    }
  }

  executed(commit: Commit): void {
    const { read } = this.#live().ledger
    this.heartbeats.executed(commit)
    this.evidence.settle((evidence) => read.isPunishable(evidence))
  }

  /** Evidence of epochs before `oldest` counts no more. */
  forgetBefore(oldest: Epoch): void {
    this.evidence.forgetBefore(oldest)
  }

  /** The state was replaced: no heartbeat names a commit of it. */
  clear(): void {
    this.heartbeats.clear()
  }
}
