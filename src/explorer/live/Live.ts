/**
 * The node's events as they happen: one stream for the whole page, open while the page is visible. Pages follow `beat`,
 * which changes when there is something new to load, and at most every two seconds: a node answers a thousand requests per
 * minute and client, and a person reads no faster.
 */
import { signal } from "@preact/signals"
import type { Event } from "../../rpc/api/Events.js"
import { node } from "./Node.js"

export interface Head {
  readonly round: number
  readonly finalizedRound: number
}

export type TransactionEvent = Extract<Event, { readonly type: "transaction" }>

/** `connecting` until the first answer of the node. */
export const connection = signal<"connecting" | "live" | "lost">("connecting")
export const head = signal<Head | undefined>(undefined)
/** The transactions accepted or finalized last, newest first. */
export const transactions = signal<ReadonlyArray<TransactionEvent>>([])
/** How many alerts the node has sent: with each, its health is another one. */
export const alerts = signal(0)

/** Changes with the ledger. */
export const beat = signal(0)
/** Changes with every fifth beat, for data that changes seldom. */
export const slowBeat = signal(0)
/** For data that never changes. */
export const never = signal(0)

const BEAT_MS = 2_000
const SILENCE_MS = 4_000
const LONGEST_WAIT_MS = 15_000
const TRANSACTIONS_KEPT = 20

let heardAt = Number.NEGATIVE_INFINITY
let lastId: string | undefined
let isReading = false

const hear = (next: Head): void => {
  heardAt = performance.now()
  connection.value = "live"
  const { round, finalizedRound } = head.value ?? { round: -1, finalizedRound: -1 }
  if (next.round !== round || next.finalizedRound !== finalizedRound) head.value = next
}

const receive = (event: Event): void => {
  switch (event.type) {
    case "round":
      hear({ round: event.round, finalizedRound: event.finalized_round })
      return
    case "transaction":
      transactions.value = [event, ...transactions.value.filter(({ hash }) => hash !== event.hash)].slice(
        0,
        TRANSACTIONS_KEPT,
      )
      return
    case "alert":
      alerts.value += 1
      return
    case "vertex":
      return
    case "reset":
      transactions.value = []
      return
  }
}

const isVisible = (): boolean => document.visibilityState === "visible"

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Reads the stream while the page is visible, and opens it again when it ends. */
const readEvents = async (): Promise<void> => {
  if (isReading) return
  isReading = true
  let wait = 500
  while (isVisible()) {
    try {
      for await (const { id, event } of node.events(lastId)) {
        lastId = id
        wait = 500
        receive(event)
        // Streams are limited; a page in the background releases its own.
        if (!isVisible()) break
      }
    } catch {
      // The node may be stopping or starting; `ask` shows that to the reader, and this loop only tries again.
    }
    await pause(wait)
    wait = Math.min(2 * wait, LONGEST_WAIT_MS)
  }
  isReading = false
}

/** Asks the node if the stream is silent, because it is not available or nothing happens. */
const ask = async (): Promise<void> => {
  if (performance.now() - heardAt < SILENCE_MS) return
  try {
    const { dag_round: round, last_finalized_round: finalizedRound } = await node.core.status()
    hear({ round, finalizedRound })
  } catch {
    connection.value = "lost"
  }
}

let beaten = -1
let beats = 0

const tick = (): void => {
  if (!isVisible()) return
  void ask()
  beats += 1
  if (beats % 5 === 0) slowBeat.value += 1
  const finalized = head.value?.finalizedRound ?? -1
  if (finalized === beaten) return
  beaten = finalized
  beat.value += 1
}

export const start = (): void => {
  void ask()
  void readEvents()
  setInterval(tick, BEAT_MS)
  document.addEventListener("visibilitychange", () => {
    if (!isVisible()) return
    void readEvents()
    tick()
  })
}
