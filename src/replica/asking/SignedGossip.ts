/**
 * Signed messages from outside of vertices that this node puts into its own: evidence against members, and heartbeats
 * of validators without a seat. Decides which are useful, kept and relayed.
 */

import type { CheckpointSignature } from "../../protocol/epoch/Checkpoint.js"
import type { Epoch, Round } from "../../protocol/numbers/Natural.js"
import type { Evidence } from "../../protocol/vertex/Evidence.js"
import type { Heartbeat } from "../../protocol/vertex/Heartbeat.js"
import type { LiveState } from "../live/LiveState.js"
import { EvidencePool } from "../signing/EvidencePool.js"
import { HeartbeatPool } from "../signing/HeartbeatPool.js"
import { Relaying } from "./Relaying.js"

/** Nodes execute the same commits within a few of each other. */
export const COMMITS_AHEAD = 16

/** What this node knows of the commit that a heartbeat names. */
type Naming =
  /** Executed here, and recent enough to be named. */
  | { readonly _tag: "Executed"; readonly leaderRound: Round }
  /** Not executed yet, but close to the last executed one. */
  | { readonly _tag: "Ahead" }
  | { readonly _tag: "Wrong" }
  /** Too old or too far ahead. */
  | { readonly _tag: "Unknown" }

/** The use of a heartbeat. `Ahead`: known once this node has executed the commit. `Wrong`: no honest node relays it. */
export type UseOfHeartbeat = "Wanted" | "Known" | "Ahead" | "Wrong"

export class SignedGossip {
  readonly evidence = new EvidencePool()
  readonly heartbeats = new HeartbeatPool()
  readonly #relaying = new Relaying()
  readonly #live: () => LiveState

  constructor(live: () => LiveState) {
    this.#live = live
  }

  get held() {
    return { relayed: this.#relaying.size, evidence: this.evidence.size, heartbeats: this.heartbeats.size }
  }

  get #rules() {
    return this.#live().core.epoch.opening.record.rules
  }

  get #round(): Round {
    return this.#live().core.epoch.dag.highestRound
  }

  /** Its use if its signature is valid. Changes nothing. */
  useOfHeartbeat(heartbeat: Heartbeat): UseOfHeartbeat {
    const naming = this.#namingOf(heartbeat)
    if (naming._tag === "Wrong") return "Wrong"
    if (naming._tag === "Unknown" || !this.#isCandidate(heartbeat)) return "Known"
    if (naming._tag === "Ahead") return "Ahead"
    return this.#relaying.wantsHeartbeat(heartbeat, naming.leaderRound, this.#rules) ? "Wanted" : "Known"
  }

  /** Whether it is useful if its signature is valid. Changes nothing. */
  wantsEvidence(evidence: Evidence): boolean {
    return this.evidence.wants(evidence) && this.#relaying.wantsEvidence(evidence) && this.#isProof(evidence)
  }

  /** Whether a signature that the consensus can use is useful. Changes nothing. */
  wantsSignature({ validator }: CheckpointSignature): boolean {
    return this.#relaying.wantsSignature(validator, this.#round, this.#rules)
  }

  /** Returns whether to relay it. */
  hearHeartbeat(heartbeat: Heartbeat): boolean {
    const naming = this.#namingOf(heartbeat)
    if (naming._tag !== "Executed" || this.useOfHeartbeat(heartbeat) !== "Wanted") return false
    const { seat } = this.#live().core.epoch
    if (seat !== undefined) this.heartbeats.add(heartbeat, this.#round)
    this.#relaying.heartbeat(heartbeat, naming.leaderRound)
    return true
  }

  keepEvidence(evidence: Evidence): boolean {
    if (!this.wantsEvidence(evidence)) return false
    this.#relaying.evidence(evidence)
    return this.evidence.add(evidence)
  }

  heardSignature({ validator }: CheckpointSignature): void {
    this.#relaying.signature(validator, this.#round, this.#rules)
  }

  #namingOf({ commitIndex, commitHash }: Heartbeat): Naming {
    const { read } = this.#live().ledger
    const ahead = commitIndex - read.head.index
    if (ahead > 0) return { _tag: ahead <= COMMITS_AHEAD ? "Ahead" : "Unknown" }
    const commit = read.recentCommit(commitIndex)
    if (commit === undefined) return { _tag: "Unknown" }
    return commit.hash === commitHash ? { _tag: "Executed", leaderRound: commit.leaderRound } : { _tag: "Wrong" }
  }

  /**
   * Whether the ledger would count it: the validator has no seat and enough stake for one. Others must not fill this
   * node's memory.
   */
  #isCandidate({ validator }: Heartbeat): boolean {
    const { read } = this.#live().ledger
    return read.mayBeat(validator) && !read.stake(read.accountOf(validator)).isInCommittee
  }

  #isProof(evidence: Evidence): boolean {
    const { base, epoch, author } = evidence.first
    const { core, ledger } = this.#live()
    const { opening, committee } = core.epoch
    // The ledger learns an epoch's base with its first commit and until then accepts any; the core knows the running
    // epoch's base earlier. The base of a later epoch is unknown, so evidence on a wrong base would displace the real
    // one.
    if (epoch > opening.record.epoch) return false
    return epoch === opening.record.epoch
      ? base === opening.base && committee.seatOf(author) !== undefined
      : ledger.read.isPunishable(evidence)
  }

  included(heartbeats: ReadonlyArray<Heartbeat>): void {
    for (const heartbeat of heartbeats) {
      if (this.#namingOf(heartbeat)._tag === "Executed") this.heartbeats.included(heartbeat)
    }
  }

  executed(): void {
    const { read } = this.#live().ledger
    this.evidence.settle((evidence) => read.isPunishable(evidence))
  }

  /** Evidence from epochs before `oldest` no longer counts. */
  forgetBefore(oldest: Epoch): void {
    this.evidence.forgetBefore(oldest)
    this.#relaying.forgetBefore(oldest, this.#round)
  }

  /** The state was replaced: no heartbeat names a commit of it. */
  clear(): void {
    this.heartbeats.clear()
  }
}
