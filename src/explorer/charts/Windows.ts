/** The periods that a chart can show. */
import { signal } from "@preact/signals"

export interface Window {
  readonly name: string
  readonly label: string
  readonly range: "hour" | "day" | "year"
  readonly spanMs: number
  /** The time that one point covers; a few hundred points fit a screen's width. */
  readonly groupMs: number
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const hour = { name: "1 h", label: "the last hour", range: "hour", spanMs: HOUR, groupMs: 10_000 } as const

export const windows: ReadonlyArray<Window> = [
  { name: "5 min", label: "the last five minutes", range: "hour", spanMs: 5 * MINUTE, groupMs: 2_000 },
  hour,
  { name: "24 h", label: "the last day", range: "day", spanMs: DAY, groupMs: 5 * MINUTE },
  { name: "30 d", label: "the last thirty days", range: "year", spanMs: 30 * DAY, groupMs: 2 * HOUR },
  { name: "1 y", label: "the last year", range: "year", spanMs: 365 * DAY, groupMs: DAY },
]

/** Shared by all charts. */
export const chosen = signal<Window>(hour)
