/**
 * A clock that is never set: it starts at the wall clock's time when the process starts, and then counts the
 * milliseconds that pass. Every wait and every limit uses it. It may stop while the machine is suspended.
 */
import { Clock, Effect } from "effect"
import * as Natural from "../protocol/numbers/Natural.js"

const NANOS_PER_MS = 1_000_000n

/** For plain code: whole milliseconds. */
export const now = (): number => Math.floor(performance.timeOrigin + performance.now())

/** The same from Effect's clock, which tests replace. */
export const unsafeCurrent = (clock: Clock.Clock): Natural.Timestamp =>
  Natural.timestamp(Number(clock.unsafeCurrentTimeNanos() / NANOS_PER_MS))

export const current = Clock.clockWith((clock) => Effect.sync(() => unsafeCurrent(clock)))

/** How far the wall clock is ahead of this one. The wall clock may be set at any moment. */
export const wallAhead = Effect.zipWith(Clock.currentTimeMillis, current, (wall, steady) => Math.round(wall) - steady)
