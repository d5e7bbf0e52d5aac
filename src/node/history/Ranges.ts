/** How long figures are kept, and at what resolution: an hour by second, a day by minute, a year by hour. Pure. */

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

export interface Steps {
  readonly stepMs: number
  readonly spanMs: number
}

export const names = ["hour", "day", "year"] as const
export type Name = (typeof names)[number]

export const figures: Readonly<Record<Name, Steps>> = {
  hour: { stepMs: SECOND, spanMs: HOUR },
  day: { stepMs: MINUTE, spanMs: DAY },
  year: { stepMs: HOUR, spanMs: 365 * DAY },
}

/** For each of up to a hundred committee members, at a coarser resolution. */
export const attendance: Readonly<Record<Name, Steps>> = {
  hour: { stepMs: MINUTE, spanMs: HOUR },
  day: { stepMs: 30 * MINUTE, spanMs: DAY },
  year: { stepMs: DAY, spanMs: 365 * DAY },
}

/** Has the time at which its step began. */
export interface Dated {
  readonly at: number
}

/**
 * The point for `now`, created if necessary. Drops points that are too old and, since a wall clock can be set back,
 * points in the future.
 */
export const pointAt = <A extends Dated>(
  points: Array<A>,
  { stepMs, spanMs }: Steps,
  now: number,
  make: (at: number) => A,
): A => {
  const at = now - (now % stepMs)
  while ((points.at(-1)?.at ?? at) > at) points.pop()
  const kept = points.findIndex((point) => point.at > at - spanMs)
  points.splice(0, kept === -1 ? points.length : kept)
  const last = points.at(-1)
  if (last?.at === at) return last
  const point = make(at)
  points.push(point)
  return point
}
