/**
 * A second place for everything a follower executes, such as an archive's database. It gets each commit before the
 * follower's own files, so after a crash the follower executes again whatever it lacks.
 */
import { Context, type Effect } from "effect"
import type { Write } from "../../replica/output/Write.js"
import type { RecordingFailed } from "../lifecycle/Ending.js"

export class Recording extends Context.Tag("udg/Recording")<
  Recording,
  {
    /** Called before the first write. The follower's files end with this commit. */
    readonly begin: (commit: number) => Effect.Effect<void, RecordingFailed>
    /** Returns once the writes are recorded. They may be already. */
    readonly record: (writes: ReadonlyArray<Write>) => Effect.Effect<void, RecordingFailed>
    readonly recorded: () => number
  }
>() {}
