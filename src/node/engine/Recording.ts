/**
 * A second place for everything that a follower executes, such as an archive's database. It has each commit before the
 * follower's own files do, so whatever it lacks after a crash, the follower executes again.
 */
import { Context, type Effect } from "effect"
import type { Write } from "../../replica/output/Write.js"
import type { RecordingFailed } from "../lifecycle/Ending.js"

export class Recording extends Context.Tag("udg/Recording")<
  Recording,
  {
    /** Before the first write; the follower's files end with this commit. */
    readonly begin: (commit: number) => Effect.Effect<void, RecordingFailed>
    /** Returns when the writes are there. They may be there already. */
    readonly record: (writes: ReadonlyArray<Write>) => Effect.Effect<void, RecordingFailed>
    /** The last commit that is there. */
    readonly recorded: () => number
  }
>() {}
