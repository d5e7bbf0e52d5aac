/** The recent pace of a growing figure, which tells when it should have grown again. Pure. */

/** Times of the page's clock, in milliseconds. */
export interface Pace {
  /** When it last grew, or was first observed. */
  readonly movedAt: number
  /** Recent intervals, newest last. */
  readonly gapsMs: ReadonlyArray<number>
}

const GAPS_KEPT = 20

/** The delay after which data is shown as stale, with half a second for pages that check rarely. */
const GRACE_MS = 2_500

export const begin = (now: number): Pace => ({ movedAt: now, gapsMs: [] })

/** The longest recent interval: rounds of a distant network arrive in bursts with seconds in between. */
const expectedMs = ({ gapsMs }: Pace, leastMs: number): number => Math.max(leastMs, ...gapsMs)

/** Whether it should have moved. `leastMs` is the normal interval between moves. */
export const isOverdue = (pace: Pace, leastMs: number, now: number): boolean =>
  now - pace.movedAt > expectedMs(pace, leastMs) + GRACE_MS

/** A standstill does not count as an interval. */
export const moved = (pace: Pace, leastMs: number, now: number): Pace => ({
  movedAt: now,
  gapsMs: isOverdue(pace, leastMs, now) ? pace.gapsMs : [...pace.gapsMs, now - pace.movedAt].slice(-GAPS_KEPT),
})
