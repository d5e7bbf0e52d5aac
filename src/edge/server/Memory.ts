/**
 * For servers whose memory runs ahead of the disk. A response leaves once everything is written that was in memory when
 * it was made, so that a crash never takes back what a client was told.
 */
import { Clock, Effect } from "effect"
import * as Failure from "../definition/Failure.js"

export interface Memory {
  /** Names in `Versions` of the data in memory. Answers that depend on them come from memory. */
  readonly versions: ReadonlySet<string>
  /** Whether all of it is written. */
  readonly isWritten: () => boolean
  /** Returns once its current content is written. */
  readonly written: Effect.Effect<void>
}

const unwritten = new Failure.Unavailable({
  message: "the disk is slow: the data for this answer is not written yet; ask again",
  retry_after_seconds: 1,
})

/** The machine's clock, because a development network moves its own clock by years. */
const clock = Clock.make()

/** Fails if the disk takes longer. */
export const written = (memory: Memory, milliseconds: number): Effect.Effect<void, Failure.Unavailable> =>
  Effect.withClock(Effect.timeoutFail(memory.written, { duration: milliseconds, onTimeout: () => unwritten }), clock)
