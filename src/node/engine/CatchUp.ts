/** The progress of fetching missing vertices, for the log and the health report. */
import { Effect } from "effect"
import type { Epoch, Round, Timestamp } from "../../protocol/numbers/Natural.js"
import * as Log from "../log/Log.js"

export interface Position {
  readonly epoch: Epoch
  /** The highest round of which this node has a quorum of vertices. */
  readonly round: Round
  /** The highest round that a quorum is known to have reached. */
  readonly reachedRound: Round
}

export interface Progress extends Position {
  /** Of the rounds missing at the beginning. */
  readonly percent: number
  readonly roundsPerSecond: number
  readonly etaSeconds: number | null
}

const log = Log.for("sync")

/** Fewer rounds are not a lag: a few vertices are always in transit. */
const BEHIND_ROUNDS = 10

export class CatchUp {
  #first: { readonly epoch: Epoch; readonly round: Round; readonly at: Timestamp } | null = null
  #last: Progress | null = null

  /** As of the last check; null if nothing is missing. */
  get progress(): Progress | null {
    return this.#last
  }

  /** Logs the progress and the end. Call periodically. */
  look({ epoch, round, reachedRound }: Position, now: Timestamp): Effect.Effect<void> {
    if (reachedRound - round < BEHIND_ROUNDS) return this.#ended(round, now)
    const first = this.#first?.epoch === epoch ? this.#first : { epoch, round, at: now }
    this.#first = first
    const fetched = round - first.round
    const roundsPerSecond = Math.round((fetched * 1_000) / Math.max(1, now - first.at))
    this.#last = {
      epoch,
      round,
      reachedRound,
      percent: Math.floor((fetched * 100) / (reachedRound - first.round)),
      roundsPerSecond,
      etaSeconds: roundsPerSecond <= 0 ? null : Math.ceil((reachedRound - round) / roundsPerSecond),
    }
    return log.info("fetching vertices", { ...this.#last })
  }

  #ended(round: Round, now: Timestamp): Effect.Effect<void> {
    const first = this.#first
    this.#first = null
    this.#last = null
    if (first === null) return Effect.void
    return log.info("caught up", { round, seconds: Math.round((now - first.at) / 100) / 10 })
  }
}
