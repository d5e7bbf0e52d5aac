/**
 * Ends connections on which nothing arrives any more. A peer that is there always says something: each side of a connection
 * asks for a sign of life every ten seconds. Without this, a line that lost its other end, or whose packets go nowhere, would
 * stay open for as long as the machine, or a relay in between, takes what is written to it.
 */
import type { MultiaddrConnection } from "@libp2p/interface"

export interface Limit {
  readonly tickMs: number
  /** How many ticks in a row may pass without a byte. */
  readonly ticks: number
}

/** A minute and a half: eight signs of life in a row are missing. */
export const STANDARD: Limit = { tickMs: 5_000, ticks: 18 }

export type Line = Pick<MultiaddrConnection, "timeline" | "abort">

/**
 * Counts ticks and not time: while this process stands still, whatever has arrived waits to be read, and only one tick passes.
 * So a stall of its own costs a node no peers. Neither does it count while this node itself does not want to read.
 */
export async function* watched<A>(source: AsyncIterable<A>, line: Line, limit: Limit): AsyncGenerator<A, undefined> {
  let silent = 0
  let isReading = true
  const timer = setInterval(() => {
    if (line.timeline.close !== undefined) clearInterval(timer)
    else if (isReading && ++silent > limit.ticks) line.abort(new Error("the connection has been silent for too long"))
  }, limit.tickMs).unref()
  try {
    for await (const piece of source) {
      silent = 0
      isReading = false
      yield piece
      isReading = true
    }
  } finally {
    clearInterval(timer)
  }
  return undefined
}
