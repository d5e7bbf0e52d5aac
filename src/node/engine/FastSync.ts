/** The progress of a fast sync, for the log every two seconds and for the health report. */
import { Effect } from "effect"
import type { Epoch, Timestamp } from "../../protocol/numbers/Natural.js"
import type { JoinProgress } from "../../replica/output/Output.js"
import * as Log from "../log/Log.js"
import type { NodeEvent } from "./NodeEvent.js"

export interface Progress {
  readonly epoch: Epoch
  readonly records: number
  readonly percent: number
  readonly recordsPerSecond: number
  readonly etaSeconds: number | null
}

const log = Log.for("sync")

const SAID_EVERY_MS = 2_000

export class FastSync {
  #first: { readonly progress: JoinProgress; readonly at: Timestamp } | null = null
  #last: JoinProgress | null = null
  #saidAt = 0

  progress(now: Timestamp): Progress | null {
    const first = this.#first
    const last = this.#last
    if (first === null || last === null) return null
    const { epoch, heldRecords, records } = last
    const seconds = Math.max(1, now - first.at) / 1_000
    const recordsPerSecond = Math.round((heldRecords - first.progress.heldRecords) / seconds)
    const missing = records === undefined ? null : records - heldRecords
    return {
      epoch,
      records: heldRecords,
      percent: records === undefined ? 0 : Math.floor((heldRecords * 100) / Math.max(1, records)),
      recordsPerSecond,
      etaSeconds: missing === null || recordsPerSecond <= 0 ? null : Math.ceil(missing / recordsPerSecond),
    }
  }

  published(event: NodeEvent, now: Timestamp): Effect.Effect<void> {
    if (event._tag === "Joining") return this.#moved(event.progress, now)
    return event._tag === "Joined" || event._tag === "EpochStarted" ? this.#ended(event, now) : Effect.void
  }

  #moved(progress: JoinProgress, now: Timestamp): Effect.Effect<void> {
    if (this.#last?.epoch !== progress.epoch) this.#first = { progress, at: now }
    this.#last = progress
    if (now - this.#saidAt < SAID_EVERY_MS) return Effect.void
    this.#saidAt = now
    return log.info("fetching the closing state of an epoch", () => ({ ...this.progress(now) }))
  }

  /** Also if the node has reached a later epoch without it. */
  #ended(event: Extract<NodeEvent, { readonly _tag: "Joined" | "EpochStarted" }>, now: Timestamp) {
    const first = this.#first
    const records = this.#last?.heldRecords
    this.#first = null
    this.#last = null
    if (event._tag === "EpochStarted") return Effect.void
    // All pieces may date from before a restart.
    const fetched = first === null ? {} : { records, seconds: Math.round((now - first.at) / 100) / 10 }
    return log.info("joined with the closing state of an epoch", { epoch: event.target.checkpoint.epoch, ...fetched })
  }
}
