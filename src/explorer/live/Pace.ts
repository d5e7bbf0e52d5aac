/** How a figure that grows again and again has grown lately, and so when it should have grown once more. Pure. */

/** Moments of the page's own clock, in milliseconds. */
export interface Pace {
  /** When it grew last, or when it was first looked at. */
  readonly movedAt: number
  /** How long it took each time, newest last. */
  readonly gapsMs: ReadonlyArray<number>
}

const GAPS_KEPT = 20

/** The longest delay after which it is shown as old, with half a second for whoever looks once in a while. */
const GRACE_MS = 2_500

export const begin = (now: number): Pace => ({ movedAt: now, gapsMs: [] })

/** As long as it has lately taken at most: rounds of a network far apart come together and then none for seconds. */
const expectedMs = ({ gapsMs }: Pace, leastMs: number): number => Math.max(leastMs, ...gapsMs)

/** It should have moved and did not. `leastMs`: how far apart its moves are when everything is well. */
export const isOverdue = (pace: Pace, leastMs: number, now: number): boolean =>
  now - pace.movedAt > expectedMs(pace, leastMs) + GRACE_MS

/** A standstill says nothing of how it moves otherwise. */
export const moved = (pace: Pace, leastMs: number, now: number): Pace => ({
  movedAt: now,
  gapsMs: isOverdue(pace, leastMs, now) ? pace.gapsMs : [...pace.gapsMs, now - pace.movedAt].slice(-GAPS_KEPT),
})
