/**
 * Event counters since this process began. `vertices`, `peers`, `checkpointBytes` and `checkpointProductionMs` are
 * current values.
 */

import { Histogram } from "../../collections/Histogram.js"
import type { Refusal } from "../../ledger/pending/PendingTransactions.js"
import type { Execution, Outcome } from "../../ledger/rules/Execution.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { CommitIndex, Round } from "../../protocol/numbers/Natural.js"
import type { Vertex } from "../../protocol/vertex/Vertex.js"
import type { Output } from "../../replica/output/Output.js"
import type { Write } from "../../replica/output/Write.js"
import type { NodeEvent } from "./NodeEvent.js"
import type { Participation } from "./Participation.js"

const NOTHING = {
  checkpointsProduced: 0,
  checkpointProductionMs: 0,
  checkpointBytes: 0,
  checkpointsCosigned: 0,
  checkpointQuorums: 0,
  checkpointValidationFailures: 0,
  fastSyncs: 0,
  checkpointsPersisted: 0,
  /** Final and recorded, applied or failed. */
  transactions: 0,
  /** In sats, of those transactions. */
  fees: 0,
  commits: 0,
  /** Final vertices of all members. */
  finalVertices: 0,
  ownVertices: 0,
  equivocations: 0,
  slashings: 0,
  /** On disk or being written, in all epochs. */
  vertices: 0,
  /** Messages and questions of peers dropped because of a bug. */
  judgingFailures: 0,
  /** Connected, as last reported by the network. */
  peers: 0,
}

export type Counts = Readonly<typeof NOTHING>

/** Upper bounds in seconds: from a few fast rounds up to a network that stalled for a while. */
const FINALITY_BOUNDS = [0.05, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 30, 60]
/** More than a committee makes in the rounds a leader can order; beyond it, the oldest are forgotten. */
const MOST_UNORDERED = 20_000

export const outcomesOf = ({ vertices }: Pick<Execution, "vertices">): Record<Outcome["_tag"], number> => {
  const counts = { Applied: 0, Failed: 0, NoEffect: 0 }
  for (const { transactions } of vertices) for (const { _tag } of transactions) counts[_tag]++
  return counts
}

const feesOf = ({ vertices }: Pick<Execution, "vertices">): number => {
  let fees = 0
  for (const { transactions } of vertices) for (const one of transactions) if (one._tag !== "NoEffect") fees += one.fee
  return fees
}

export interface Surroundings {
  /** On disk when the process began. */
  readonly vertices: number
  readonly participation: Participation
  /** Whether a vertex of this round arrives as it is made, rather than fetched later. */
  readonly isFresh: (round: Round) => boolean
  /** Monotonic milliseconds. */
  readonly now?: () => number
}

export class Counters {
  readonly #counts: typeof NOTHING
  readonly #isFresh: Surroundings["isFresh"]
  readonly #now: () => number
  readonly participation: Participation
  /** Seconds from a vertex's arrival until a commit ordered it. Without transactions it may be written later. */
  readonly finality = new Histogram(FINALITY_BOUNDS)
  readonly #refusals = new Map<Refusal["_tag"], number>()
  readonly #outcomes = { Applied: 0, Failed: 0, NoEffect: 0 }
  readonly #unordered = new Map<Hash, number>()
  /** Commit times of the checkpoints being built. */
  readonly #building = new Map<CommitIndex, number>()

  constructor({ vertices, participation, isFresh, now = () => performance.now() }: Surroundings) {
    this.#counts = { ...NOTHING, vertices }
    this.participation = participation
    this.#isFresh = isFresh
    this.#now = now
  }

  /** Live counts, not a copy. */
  get counts(): Counts {
    return this.#counts
  }

  get refusals(): ReadonlyMap<Refusal["_tag"], number> {
    return this.#refusals
  }

  get outcomes(): Readonly<Record<Outcome["_tag"], number>> {
    return this.#outcomes
  }

  putOut(output: Output): void {
    switch (output._tag) {
      case "Write":
        this.#written(output.write)
        return
      case "Broadcast":
        // The replica broadcasts only its own findings; gossip relays those of others.
        if (output.message._tag === "Evidence") this.#counts.equivocations++
        return
      case "Misbehaved":
        if (output.error._tag === "WrongState") this.#counts.checkpointValidationFailures++
        return
      case "Send":
      case "Serve":
      case "TakenIn":
      case "Joining":
      case "JoinStopped":
      case "Fatal":
    }
  }

  #written(write: Write): void {
    const counts = this.#counts
    switch (write._tag) {
      case "Executed":
        if (write.execution.isCheckpointDue) this.#building.set(write.execution.commit.index, this.#now())
        this.#ordered(write.vertices)
        return
      case "CheckpointBuilt":
        this.#built(write)
        return
      case "CheckpointFinal":
        counts.checkpointQuorums++
        return
      case "OwnVertex":
        counts.ownVertices++
        return
      case "Inserted":
        counts.vertices++
        this.#inserted(write.vertex.header)
    }
  }

  #ordered(vertices: ReadonlyArray<Vertex>): void {
    const now = this.#now()
    for (const { header } of vertices) {
      const since = this.#unordered.get(header.hash)
      if (since !== undefined) this.finality.add((now - since) / 1_000)
      this.#unordered.delete(header.hash)
    }
  }

  #inserted({ hash, round }: { readonly hash: Hash; readonly round: Round }): void {
    if (!this.#isFresh(round)) return
    this.#unordered.set(hash, this.#now())
    if (this.#unordered.size <= MOST_UNORDERED) return
    for (const oldest of this.#unordered.keys()) {
      this.#unordered.delete(oldest)
      return
    }
  }

  #built({ checkpoint, bytes, isCosigned }: Extract<Write, { readonly _tag: "CheckpointBuilt" }>): void {
    const counts = this.#counts
    const begun = this.#building.get(checkpoint.commitIndex)
    // This includes skipped ones.
    for (const index of this.#building.keys()) if (index <= checkpoint.commitIndex) this.#building.delete(index)
    counts.checkpointsProduced++
    counts.checkpointBytes = bytes
    if (begun !== undefined) counts.checkpointProductionMs = this.#now() - begun
    if (isCosigned) counts.checkpointsCosigned++
  }

  /** Counts events that are on disk. */
  published(event: NodeEvent): void {
    switch (event._tag) {
      case "CheckpointBuilt":
        this.#counts.checkpointsPersisted++
        return
      case "Executed":
        this.#executed(event)
        return
      case "Joined":
        this.#counts.fastSyncs++
        this.#began(event)
        return
      case "EpochStarted":
        this.#began(event)
        return
      case "CheckpointFinal":
      case "ForeignOwnHeader":
      case "TakenIn":
      case "Joining":
      case "RoundReached":
    }
  }

  #executed({ execution, vertices }: Extract<NodeEvent, { readonly _tag: "Executed" }>): void {
    const counts = this.#counts
    const outcomes = outcomesOf(execution)
    for (const tag of ["Applied", "Failed", "NoEffect"] as const) this.#outcomes[tag] += outcomes[tag]
    counts.transactions += outcomes.Applied + outcomes.Failed
    counts.fees += feesOf(execution)
    counts.commits++
    counts.finalVertices += vertices.length
    for (const { _tag } of execution.events) if (_tag === "Slashed") counts.slashings++
    this.participation.committed({
      leaderRound: execution.commit.leaderRound,
      headers: vertices.map(({ header }) => header),
    })
  }

  #began({ _tag, opening }: Extract<NodeEvent, { readonly _tag: "EpochStarted" | "Joined" }>): void {
    if (_tag === "Joined") this.participation.joined(opening.record)
    else this.participation.epochStarted(opening.record)
    // Nothing more of the previous epoch is ordered.
    this.#unordered.clear()
  }

  refused(reason: Refusal["_tag"]): void {
    this.#refusals.set(reason, (this.#refusals.get(reason) ?? 0) + 1)
  }

  connected(peers: number): void {
    this.#counts.peers = peers
  }

  checkpointRefused(): void {
    this.#counts.checkpointValidationFailures++
  }

  judgingFailed(): void {
    this.#counts.judgingFailures++
  }

  pruned(vertices: number): void {
    this.#counts.vertices -= vertices
  }
}
