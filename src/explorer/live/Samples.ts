/** The node's figures since the page was opened: one sample with each beat. */
import { effect, signal } from "@preact/signals"
import * as Live from "./Live.js"
import { type Answer, node } from "./Node.js"

export type Status = Answer<"core", "status">

export interface Sample {
  readonly status: Status
  readonly at: number
}

const KEPT = 120

export const samples = signal<ReadonlyArray<Sample>>([])

let isAsking = false

const sample = async (): Promise<void> => {
  if (isAsking) return
  isAsking = true
  try {
    const status = await node.core.status()
    samples.value = [...samples.peek(), { status, at: performance.now() }].slice(-KEPT)
  } catch {
    // `Live` shows that the node does not answer; the next beat takes the next sample.
  }
  isAsking = false
}

/** Takes samples until the returned function is called. */
export const watch = (): (() => void) =>
  effect(() => {
    void Live.beat.value
    void sample()
  })

/** Rounds per second, over all samples. */
export const roundsPerSecond = (kept: ReadonlyArray<Sample>): number | undefined => {
  const [first] = kept
  const last = kept.at(-1)
  if (first === undefined || last === undefined || last.at - first.at < 1_000) return undefined
  return (1_000 * (last.status.dag_round - first.status.dag_round)) / (last.at - first.at)
}
