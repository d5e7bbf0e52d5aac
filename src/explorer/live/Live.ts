/**
 * The node's live state. One event stream serves all tabs of a browser with shared workers. Without them, and whenever
 * the stream is silent, the page polls. Nothing waits for the stream.
 *
 * Pages follow `beat`, which changes when there is something new to load, at most every two seconds: a node answers a
 * thousand requests per minute and client, and people read no faster.
 */
import { computed, signal } from "@preact/signals"
import { connect } from "../../client/Client.js"
import * as Events from "../../client/Events.js"
import * as Pace from "./Pace.js"

export interface Head {
  readonly round: number
  readonly finalizedRound: number
}

/** `connecting` until the node's first answer; `halted`: it answers, but no round becomes final. */
export const connection = signal<"connecting" | "live" | "halted" | "lost">("connecting")
export const head = signal<Head | undefined>(undefined)
/** The number of alerts so far. Each one can change the node's health. */
export const alerts = signal(0)
/** The normal interval between rounds. */
export const roundMs = signal(1_000)

/** Changes with the ledger. */
export const beat = signal(0)
/** Changes every ten seconds, even if nothing moves: for data that rarely changes, or changes without the ledger. */
export const slowBeat = signal(0)
/** Changes with both, for data that changes with the ledger, but also during a halt. */
export const anyBeat = computed(() => beat.value + slowBeat.value)
/** For data that never changes. */
export const never = signal(0)

const BEAT_MS = 2_000
const WATCH_MS = 500
const ASK_AFTER_MS = 1_000
/** A response that takes longer than two and a half seconds counts as none for readers of live figures. */
const LOST_AFTER_MS = ASK_AFTER_MS + 2_500

let heardAt = performance.now()
let pace = Pace.begin(heardAt)

const stillSince = signal(0)
/** Only a page that saw the last move knows since when a standstill lasts. */
let hasMoved = false

/** The calendar time since which nothing has moved that should; undefined while it moves. */
export const standstill = computed(() =>
  connection.value === "halted" || connection.value === "lost" ? stillSince.value : undefined,
)

export const sawLastMove = (): boolean => hasMoved

const momentOf = (at: number): number => Math.round(Date.now() - performance.now() + at)

const judge = (): void => {
  const now = performance.now()
  if (now - heardAt > LOST_AFTER_MS) lose()
  else if (head.peek() !== undefined && Pace.isOverdue(pace, roundMs.peek(), now)) {
    if (connection.peek() !== "halted") stillSince.value = momentOf(pace.movedAt)
    connection.value = "halted"
  } else if (head.peek() !== undefined) connection.value = "live"
}

const lose = (): void => {
  if (connection.peek() !== "lost") stillSince.value = momentOf(heardAt)
  connection.value = "lost"
}

const hear = (next: Head): void => {
  heardAt = performance.now()
  const before = head.peek()
  if (next.finalizedRound !== before?.finalizedRound) {
    pace = before === undefined ? Pace.begin(heardAt) : Pace.moved(pace, roundMs.peek(), heardAt)
    hasMoved = before !== undefined
  }
  if (next.round !== before?.round || next.finalizedRound !== before.finalizedRound) head.value = next
  judge()
}

const receive = (data: unknown): void => {
  const event = typeof data === "string" ? Events.read(data) : undefined
  if (event?.type === "round") hear({ round: event.round, finalizedRound: event.finalized_round })
  if (event?.type === "alert") alerts.value += 1
}

const isVisible = (): boolean => document.visibilityState === "visible"

const openStream = (): MessagePort | undefined => {
  try {
    return new SharedWorker(new URL("./Stream.ts", import.meta.url), { type: "module", name: "udg events" }).port
  } catch {
    // Shared workers are missing or forbidden in some browsers; the page then polls more often.
    return undefined
  }
}

const probe = connect(location.origin, { retries: 0, timeoutMs: 5_000 })
let isAsking = false

const ask = async (): Promise<void> => {
  if (isAsking) return
  isAsking = true
  const heardBefore = heardAt
  try {
    const { dag_round: round, last_finalized_round: finalizedRound } = await probe.core.status()
    // What the stream said meanwhile is newer.
    if (heardAt === heardBefore) hear({ round, finalizedRound })
  } catch {
    if (heardAt === heardBefore) lose()
  }
  isAsking = false
}

const watch = (): void => {
  if (!isVisible()) return
  if (performance.now() - heardAt >= ASK_AFTER_MS) void ask()
  judge()
}

let beaten = -1
let beats = 0

const tick = (): void => {
  if (!isVisible()) return
  beats += 1
  if (beats % 5 === 0) slowBeat.value += 1
  const finalized = head.value?.finalizedRound ?? -1
  if (finalized === beaten) return
  beaten = finalized
  beat.value += 1
}

export const start = (): void => {
  const stream = openStream()
  const readOn = (): void => stream?.postMessage("reading")
  if (stream !== undefined) stream.onmessage = ({ data }) => receive(data)
  void ask()
  readOn()
  setInterval(watch, WATCH_MS)
  setInterval(() => {
    // A page in the background releases the stream.
    if (isVisible()) readOn()
    tick()
  }, BEAT_MS)
  document.addEventListener("visibilitychange", () => {
    if (!isVisible()) return
    // The page heard nothing in the background, so its data is as old as when the reader left.
    heardAt = performance.now()
    pace = { ...pace, movedAt: heardAt }
    void ask()
    readOn()
    // The next tick counts as a fifth one.
    beats = -1
    tick()
  })
}
