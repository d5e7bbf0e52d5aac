/**
 * When to make the next vertex. Nothing here affects safety: a node with a wrong clock only contributes less.
 *
 * A node moves from round r to r+1 when a quorum of r is present, and either r's leader has arrived and r's vertices
 * have decided the leader of r−1 by votes or blames, or the timeout has expired. A node that sees a quorum of a higher
 * round jumps to that round at once. A third of the weight in r+1 includes an honest member, so a node that could make
 * r+1 follows at once too: it would otherwise stay late, and the others would wait for it in every round.
 *
 * Rounds follow the load. While somebody waits for a transaction, the next round comes as soon as the budget allows;
 * otherwise rounds are idle and save credit. Three rounds make a transaction final, so every third round waits until
 * all three are affordable. If there is work for more rounds than the budget has, they come in groups of three, and
 * transactions wait less in total than with evenly spaced rounds.
 */
import type { Round, Timestamp } from "../protocol/numbers/Natural.js"
import * as Natural from "../protocol/numbers/Natural.js"
import { divideFloor } from "../protocol/numbers/Sats.js"
import type { Committer } from "./commit/Committer.js"
import type { Dag } from "./dag/Dag.js"
import * as RoundBudget from "./RoundBudget.js"

export const MIN_TIMEOUT_MS = 250
const MAX_TIMEOUT_MS = 10_000
const ROUNDS_PER_BACKOFF = 10
/** The node does not wait for a leader with no vertex in this many rounds. */
const SILENT_ROUNDS = 3
/** From the vertex of a leader with a transaction to the vertices that certify that leader. */
const ROUNDS_TO_FINALITY = 3
/** A vertex this much later than a quorum's is still in time for the next round. */
const LEAST_GAP_MS = 10
/**
 * A single validator is its own quorum and could make a round for each transaction. Each transaction in its last vertex
 * delays the next by this much, to gather others: above a thousand a second, rounds soon come at the interval.
 */
const GATHERED_MS = 1
const IDLE_INTERVALS = 2
/** Idle rounds wait longer while there is credit to regain. */
const LONGEST_IDLE_INTERVALS = 5

/** The times that follow from the round interval. */
export interface Rate extends RoundBudget.Price {
  readonly intervalMs: number
  /** The minimum time between two vertices of this node, and its increase for each transaction in the first. */
  readonly gapMs: number
  readonly gatheredMs: number
  /** The maximum delay that the transactions in a vertex add to the next. */
  readonly longestGapMs: number
  /** The time between two idle rounds, with all credit and without. */
  readonly idleMs: number
  readonly longestIdleMs: number
}

/** The longest time between two rounds of a healthy network. */
export const longestIdleMs = (intervalMs: number): number => LONGEST_IDLE_INTERVALS * intervalMs

/**
 * How rounds are paced: within the budget, as on every shared network; at once where there is work, at any cost; or
 * evenly, at the interval. The last two are for networks that one developer has alone.
 */
export type Pace = "budget" | "at once" | "evenly"

export const rateOf = (intervalMs: number, members: number, pace: Pace): Rate => ({
  intervalMs,
  costMs: pace === "budget" ? intervalMs : 0,
  burstMs: intervalMs * (members === 1 ? RoundBudget.BURST_ROUNDS_ALONE : RoundBudget.BURST_ROUNDS),
  gapMs: members === 1 ? 0 : Math.min(LEAST_GAP_MS, intervalMs),
  gatheredMs: members === 1 ? GATHERED_MS : 0,
  longestGapMs: pace === "at once" ? Math.min(LEAST_GAP_MS, intervalMs) : intervalMs,
  idleMs: pace === "budget" ? IDLE_INTERVALS * intervalMs : intervalMs,
  longestIdleMs: pace === "budget" ? longestIdleMs(intervalMs) : intervalMs,
})

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

export interface Own {
  /** The round of this node's last vertex, or the round before the epoch's first. */
  readonly round: Round
  /** When that vertex was made; null if this node never made one. */
  readonly madeAt: Timestamp | null
  readonly lastCommitRound: Round
  /** The highest round that a quorum's members are known to have reached, with or without vertices inserted here. */
  readonly reachedRound: Round
  /** The highest round that a third of the weight is known to have made, and when that was seen. */
  readonly begun: { readonly round: Round; readonly at: Timestamp }
  readonly budget: RoundBudget.RoundBudget
  /** Whether somebody waits for a result of the next round. */
  readonly isAwaited: boolean
  readonly carried: number
}

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

/** Whether round r is complete: its leader has arrived, and its vertices have decided the previous leader. */
const isComplete = (dag: Dag, committer: Committer, round: Round): boolean =>
  hasLeader(dag, round) && (round === dag.committee.firstRound || committer.isVotedOn(Natural.round(round - 1)))

export interface Plan {
  readonly round: Round
  /** The earliest time for the round, unless something else happens first. */
  readonly at: number
  /** Whether it waits only for its time. */
  readonly isReady: boolean
}

/** When a node that has all it needs for this round makes it. */
const readyAt = ({ begun, budget, isAwaited, carried, madeAt }: Own, round: Round, rate: Rate): number => {
  const { paidUntil } = budget
  if (begun.round >= round) return begun.at
  const sinceMs = Math.min(madeAt ?? 0, begun.round === round - 1 ? begun.at : Number.POSITIVE_INFINITY)
  if (isAwaited) {
    const others = round % ROUNDS_TO_FINALITY === 0 ? ROUNDS_TO_FINALITY - 1 : 0
    const gapMs = Math.max(rate.gapMs, Math.min(rate.longestGapMs, carried * rate.gatheredMs))
    return Math.max((madeAt ?? 0) + gapMs, paidUntil + others * rate.costMs)
  }
  const fullAt = Math.min(paidUntil + rate.burstMs, sinceMs + rate.longestIdleMs)
  return Math.max(sinceMs + rate.idleMs, fullAt, paidUntil)
}

/** The next round to make and its time; null if no round would become possible by waiting alone. */
export const plan = (dag: Dag, committer: Committer, rate: Rate, own: Own): Plan | null => {
  const quorum = dag.quorumRound
  // A quorum has moved on and its vertices are on their way here. A vertex for a round they have left is useless.
  if (quorum < own.reachedRound - 1) return null
  const start = Math.max(quorum, dag.committee.firstRound)
  // Own rounds may exist that this node did not make: a copy of its key made them before falling silent.
  if (own.madeAt === null && start > own.round) return { round: Natural.round(start), at: 0, isReady: true }
  if (quorum > own.round) return { round: quorum, at: 0, isReady: true }
  if (quorum < own.round) return null
  const round = Natural.round(own.round + 1)
  // The round before the epoch's first has no vertices to wait for.
  const isReady = own.round < dag.committee.firstRound || isComplete(dag, committer, own.round)
  if (isReady) return { round, at: readyAt(own, round, rate), isReady }
  const { intervalMs } = rate
  const waitMs = Math.max(intervalMs, timeoutMs(intervalMs, own.round - own.lastCommitRound))
  return { round, at: Math.max((own.madeAt ?? 0) + waitMs, own.budget.paidUntil), isReady }
}
