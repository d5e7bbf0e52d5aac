/**
 * What the node does as it happens. One stream of events serves all tabs of a browser that has shared workers; without
 * them, and whenever the stream is silent, the page asks. Nothing waits for the stream.
 *
 * Pages follow `beat`, which changes when there is something new to load, and at most every two seconds: a node answers a
 * thousand requests per minute and client, and a person reads no faster.
 */
import { computed, signal } from "@preact/signals"
import { connect } from "../../client/Client.js"
import * as Events from "../../client/Events.js"
import * as Pace from "./Pace.js"

export interface Head {
  readonly round: number
  readonly finalizedRound: number
}

/** `connecting` until the first answer of the node; `halted`: it answers, and no round becomes final. */
export const connection = signal<"connecting" | "live" | "halted" | "lost">("connecting")
export const head = signal<Head | undefined>(undefined)
/** How many alerts the node has sent: with each, its health is another one. */
export const alerts = signal(0)
/** How far apart rounds are when everything is well. */
export const roundMs = signal(1_000)

/** Changes with the ledger. */
export const beat = signal(0)
/** Changes with every fifth beat, for data that changes seldom. */
export const slowBeat = signal(0)
/** For data that never changes. */
export const never = signal(0)

const BEAT_MS = 2_000
const WATCH_MS = 500
const ASK_AFTER_MS = 1_000
/** An answer that takes longer than two and a half seconds is none, to somebody who looks at the figures. */
const LOST_AFTER_MS = ASK_AFTER_MS + 2_500

let heardAt = performance.now()
let pace = Pace.begin(heardAt)

const stillSince = signal(0)
/** Since when a standstill lasts is known only to a page that saw the last move. */
let hasMoved = false

/** Since when nothing on the page that should move has moved; none while it does. A moment of the calendar. */
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
    // Not every browser has shared workers, nor allows them everywhere; this page asks more often then.
    return undefined
  }
}

const probe = connect(location.origin, { retries: 0, timeoutMs: 5_000 })
let isAsking = false

const ask = async (): Promise<void> => {
  if (isAsking) return
  isAsking = true
  try {
    const { dag_round: round, last_finalized_round: finalizedRound } = await probe.core.status()
    hear({ round, finalizedRound })
  } catch {
    lose()
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
    // A page in the background lets the stream go.
    if (isVisible()) readOn()
    tick()
  }, BEAT_MS)
  document.addEventListener("visibilitychange", () => {
    if (!isVisible()) return
    // Nothing was heard in the background: what is on the page is as old as it was when the reader left.
    heardAt = performance.now()
    pace = { ...pace, movedAt: heardAt }
    void ask()
    readOn()
    tick()
  })
}
