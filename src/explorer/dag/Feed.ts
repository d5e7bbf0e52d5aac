/** Keeps the loaded part of the DAG up to date while it is shown. */
import { effect, signal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import * as Natural from "../../protocol/numbers/Natural.js"
import * as Live from "../live/Live.js"
import { isMissing, node } from "../live/Node.js"
import { Columns } from "./Columns.js"

export const columns = new Columns()
/** Changes with every change of `columns`. */
const changes = signal(0)

/** The minimum time between two requests. The picture glides, so rounds that arrive together do not show. */
const PAUSE_MS = 1_000
const FIRST_ROUNDS = 60
const OLDER_ROUNDS = 60
const MOST_AT_ONCE = 120
/** After a larger gap, the rounds in between are skipped until the reader scrolls to them. */
const LEAP_ROUNDS = 600

let watchers = 0
let isAsking = false
let askedAt = Number.NEGATIVE_INFINITY

const take = (answer: Parameters<Columns["merge"]>[0]): void => {
  if (columns.merge(answer)) changes.value += 1
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Asks only for rounds that can be new, because the request's cost depends on the rounds requested. */
const askNewest = async (): Promise<void> => {
  const from = columns.firstUnsettled
  const missing = Math.max(1, (Live.head.peek()?.round ?? 0) - from + 1)
  const isLeap = columns.size === 0 || missing > LEAP_ROUNDS
  const urlParams = isLeap
    ? { rounds: FIRST_ROUNDS }
    : { from: Natural.round(from), rounds: Math.min(MOST_AT_ONCE, missing) }
  const answer = await node.dag.columns({ urlParams })
  // Nobody asks for rounds before the leap again while they are loaded.
  if (isLeap) columns.dropUnsettled()
  take(answer)
}

/** Loads new rounds and merges calls that arrive meanwhile. */
const refresh = async (): Promise<void> => {
  if (isAsking || watchers === 0) return
  isAsking = true
  await pause(Math.max(0, askedAt + PAUSE_MS - performance.now()))
  askedAt = performance.now()
  try {
    await askNewest()
  } catch {
    // `Live` reports that the node does not answer; the next round retries.
  }
  isAsking = false
  if (columns.newest < (Live.head.peek()?.round ?? 0) && document.visibilityState === "visible") void refresh()
}

let isFilling = false
/** The first round that the node can still have. */
export const firstKept = signal(1)

/** The limit of one response, set by the node for vertices. */
const MOST_VERTICES = 3_000

const roundsAtOnce = (): number =>
  Math.max(1, Math.min(OLDER_ROUNDS, Math.floor(MOST_VERTICES / Math.max(1, columns.laneCount))))

/** Loads missing rounds in view, the newest first. */
export const want = async (first: number, last: number): Promise<void> => {
  const to = columns.missing(Math.max(first, firstKept.peek()), last)
  if (isFilling || to === undefined || !columns.hasRoomBefore) return
  isFilling = true
  const from = Math.max(firstKept.peek(), to - roundsAtOnce() + 1)
  try {
    take(await node.dag.columns({ urlParams: { from: Natural.round(from), rounds: to - from + 1 } }))
    if (columns.at(to) === undefined) firstKept.value = to + 1
  } catch (error) {
    if (isMissing(error)) firstKept.value = to + 1
  }
  isFilling = false
}

/** The loaded part of the DAG, kept up to date while the caller is on the page. */
export const useColumns = (): { readonly columns: Columns; readonly version: number } => {
  useEffect(() => {
    watchers += 1
    const stop = effect(() => {
      if (Live.head.value !== undefined) void refresh()
    })
    return () => {
      watchers -= 1
      stop()
    }
  }, [])
  return { columns, version: changes.value }
}
