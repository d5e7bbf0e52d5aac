/**
 * For a server whose answers come from memory that runs ahead of its disk. An answer leaves once everything is written that was in
 * memory when it was made, so that no crash takes back what a client was told.
 */
import { Clock, Effect } from "effect"
import * as Failure from "../definition/Failure.js"

export interface Memory {
  /** The names in `Versions` of what is in it. Answers that are kept until one of them changes come from it. */
  readonly versions: ReadonlySet<string>
  /** Whether all of it is written. */
  readonly isWritten: () => boolean
  /** Returns once all that is in it now is written. */
  readonly written: Effect.Effect<void>
}

const unwritten = new Failure.Unavailable({
  message: "the disk is slow: what this answer would tell is not written yet; ask again",
  retry_after_seconds: 1,
})

/** By the machine's own clock: a network for developers sets its clock forward by years. */
const clock = Clock.make()

/** Fails if the disk takes longer than this. */
export const written = (memory: Memory, milliseconds: number): Effect.Effect<void, Failure.Unavailable> =>
  Effect.withClock(Effect.timeoutFail(memory.written, { duration: milliseconds, onTimeout: () => unwritten }), clock)
