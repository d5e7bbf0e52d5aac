/**
 * When to make the next vertex. Nothing here affects consensus: a node with a wrong clock only contributes less.
 *
 * A node moves from round r to r+1 when a quorum of r is present, the round interval has passed since its own vertex,
 * and either r's leader has arrived and r's vertices have decided the leader of r−1 by votes or blames, or the timeout
 * has expired. A node that sees a quorum of a higher round jumps to that round at once.
 *
 * A node that is late by less than a round would stay late, and all the others would wait for it in every round. So
 * the interval may also be counted from the moment when a third of the weight had made r: at least one honest member
 * was among them and kept to the interval, so no round starts sooner than one interval after the round before.
 */
import type { Round, Timestamp } from "../protocol/numbers/Natural.js"
import * as Natural from "../protocol/numbers/Natural.js"
import { divideFloor } from "../protocol/numbers/Sats.js"
import type { Committer } from "./commit/Committer.js"
import type { Dag } from "./dag/Dag.js"

export const MIN_TIMEOUT_MS = 250
export const MAX_TIMEOUT_MS = 10_000
const ROUNDS_PER_BACKOFF = 10
/** The node does not wait for a leader with no vertex in this many rounds. */
const SILENT_ROUNDS = 3

/** 2 × interval, at least 250 ms, × 1.5 for every 10 rounds without a commit, at most 10 s. */
export const timeoutMs = (intervalMs: number, roundsWithoutCommit: number): number => {
  let timeout = Math.max(MIN_TIMEOUT_MS, 2 * intervalMs)
  for (
    let round = ROUNDS_PER_BACKOFF;
    round <= roundsWithoutCommit && timeout < MAX_TIMEOUT_MS;
    round += ROUNDS_PER_BACKOFF
  ) {
    timeout = divideFloor(timeout * 3, 2)
  }
  return Math.min(timeout, MAX_TIMEOUT_MS)
}

/** This node's place in the rounds. */
export interface Own {
  /** The round of this node's last vertex; the round before the epoch's first if there is none. */
  readonly round: Round
  /** When that vertex was made; none if this node never made one. */
  readonly madeAt: Timestamp | null
  /** Leader round of the last commit. */
  readonly lastCommitRound: Round
  /** The highest round that a quorum's members are known to have reached, with or without vertices inserted here. */
  readonly reachedRound: Round
  /** The highest round that a third of the weight is known to have made, and when that was seen. */
  readonly begun: { readonly round: Round; readonly at: Timestamp }
}

/** When this round began, judged by the vertices that others have made. */
const begunAt = ({ begun, round }: Own, intervalMs: number): number =>
  begun.round < round ? Number.POSITIVE_INFINITY : begun.at - (begun.round - round) * intervalMs

const hasFallenSilent = (dag: Dag, leader: number, round: Round): boolean => {
  if (round - SILENT_ROUNDS < dag.committee.firstRound) return false
  for (let back = 1; back <= SILENT_ROUNDS; back++) {
    if (dag.first(Natural.round(round - back), leader) !== undefined) return false
  }
  return true
}

/** Whether the round's leader has arrived or need not be waited for. */
export const hasLeader = (dag: Dag, round: Round): boolean => {
  const leader = dag.committee.leaderOf(round)
  return dag.first(round, leader) !== undefined || hasFallenSilent(dag, leader, round)
}

/** Whether round r is complete: its leader has arrived, and its vertices have decided the leader before. */
const isComplete = (dag: Dag, committer: Committer, round: Round): boolean =>
  hasLeader(dag, round) && (round === dag.committee.firstRound || committer.isVotedOn(Natural.round(round - 1)))

export interface Plan {
  readonly round: Round
  /** The round can be made from this moment on, unless something else happens first. */
  readonly at: number
}

/** The next round to make and the time to make it; none while the passage of time alone would not allow one. */
export const plan = (dag: Dag, committer: Committer, intervalMs: number, own: Own): Plan | null => {
  const quorum = dag.quorumRound
  // A quorum has moved on and its vertices are on their way here: a vertex for a round they have left is useless.
  if (quorum < own.reachedRound - 1) return null
  const start = Math.max(quorum, dag.committee.firstRound)
  // There may be own rounds that this node did not make: a copy of its key made them before falling silent.
  if (own.madeAt === null && start > own.round) return { round: Natural.round(start), at: 0 }
  if (quorum > own.round) return { round: quorum, at: 0 }
  if (quorum < own.round) return null
  const round = Natural.round(own.round + 1)
  // The round before the epoch's first has no vertices to wait for.
  const isReady = own.round < dag.committee.firstRound || isComplete(dag, committer, own.round)
  const timeout = timeoutMs(intervalMs, own.round - own.lastCommitRound)
  const madeAt = own.madeAt ?? 0
  const at = isReady ? Math.min(madeAt, begunAt(own, intervalMs)) + intervalMs : madeAt + Math.max(intervalMs, timeout)
  return { round, at }
}
