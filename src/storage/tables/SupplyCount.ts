/**
 * Counts the supply in the file again, in a new thread for each count, so that other work continues and nothing is kept
 * in between.
 */
import { Effect } from "effect"
import * as Threads from "#threads"
import type { Counted } from "./SupplyProgram.js"

/** Fails if the file could not be read. */
export const of = (file: string): Effect.Effect<Counted, Error> =>
  Effect.async<Counted, Error>((resume) => {
    const thread = Threads.start("storage/tables/SupplyProgram", file)
    thread.once("message", (counted: Counted) => resume(Effect.succeed(counted)))
    thread.once("error", (error) => resume(Effect.fail(error)))
    thread.once("exit", () => resume(Effect.fail(new Error("the thread that counts has ended"))))
    return Effect.promise(() => thread.terminate())
  })
