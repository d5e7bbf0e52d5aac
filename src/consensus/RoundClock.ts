/**
 * When to make the next vertex. Nothing here has consensus meaning: a node with a wrong clock only helps less.
 *
 * From round r to r+1 when a quorum of r is present, the round interval has passed since the own vertex, and either r's
 * leader has arrived and r's vertices have decided the leader of r−1 by votes or blames, or the timeout is over. A node
 * that sees a quorum of a higher round jumps to it at once.
 *
 * A node that is late by less than a round would stay late, and all the others would wait for it in every round.
 * So the interval passes also from the moment in which a third of the weight had made r: somebody honest was among them
 * and has kept to the interval, hence no round comes sooner than an interval after the one before.
 */
import type { Round, Timestamp } from "../protocol/numbers/Natural.js"
import * as Natural from "../protocol/numbers/Natural.js"
import { divideFloor } from "../protocol/numbers/Sats.js"
import type { Committer } from "./commit/Committer.js"
import type { Dag } from "./dag/Dag.js"

export const MIN_TIMEOUT_MS = 250
export const MAX_TIMEOUT_MS = 10_000
const ROUNDS_PER_BACKOFF = 10
/** A leader with no vertex in this many rounds is not waited for. */
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

/** The own place in the rounds. */
export interface Own {
  /** Of the own last vertex; the one before the epoch's first when there is none. */
  readonly round: Round
  /** When it was made; none when nothing was ever made. */
  readonly madeAt: Timestamp | null
  /** Leader round of the last commit. */
  readonly lastCommitRound: Round
  /** The highest round that authors of a quorum are known to have reached, inserted here or not. */
  readonly reachedRound: Round
  /** The highest round that a third of the weight was seen to have made, and when that was. */
  readonly begun: { readonly round: Round; readonly at: Timestamp }
}

/** When this round began, as far as others have made it. */
const begunAt = ({ begun, round }: Own, intervalMs: number): number =>
  begun.round < round ? Number.POSITIVE_INFINITY : begun.at - (begun.round - round) * intervalMs

const hasFallenSilent = (dag: Dag, leader: number, round: Round): boolean => {
  if (round - SILENT_ROUNDS < dag.committee.firstRound) return false
  for (let back = 1; back <= SILENT_ROUNDS; back++) {
    if (dag.first(Natural.round(round - back), leader) !== undefined) return false
  }
  return true
}

/** Whether the round's leader has arrived, or is not waited for. */
export const hasLeader = (dag: Dag, round: Round): boolean => {
  const leader = dag.committee.leaderOf(round)
  return dag.first(round, leader) !== undefined || hasFallenSilent(dag, leader, round)
}

/** Whether round r tells all it is waited for: its leader, and the verdict of its vertices on the leader before. */
const isComplete = (dag: Dag, committer: Committer, round: Round): boolean =>
  hasLeader(dag, round) && (round === dag.committee.firstRound || committer.isVotedOn(Natural.round(round - 1)))

export interface Plan {
  readonly round: Round
  /** The round can be made from this moment on, if nothing else happens before. */
  readonly at: number
}

/** The round to make next and when, as things stand; none while no time alone would allow one. */
export const plan = (dag: Dag, committer: Committer, intervalMs: number, own: Own): Plan | null => {
  const quorum = dag.quorumRound
  // A quorum has gone on and its vertices are on their way here: a vertex for a round they left helps nobody.
  if (quorum < own.reachedRound - 1) return null
  const start = Math.max(quorum, dag.committee.firstRound)
  // Own rounds may be known that this node did not make: a copy of its key did, before it fell silent.
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
