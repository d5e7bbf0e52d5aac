/** Has the writer's tasks recorded first, for a follower that also records elsewhere. */
import { Effect, Option } from "effect"
import type { CommitIndex } from "../../protocol/numbers/Natural.js"
import type { RecordingFailed } from "../lifecycle/Ending.js"
import { Recording } from "./Recording.js"
import type { Listener, Task } from "./Writer.js"

export interface Recorder {
  readonly listener: Pick<Listener, "taking">
  /** Wraps a writer to count the tasks it has not taken yet. */
  readonly counting: (perform: (task: Task) => void) => (task: Task) => void
  /** The number of waiting tasks; 0 without a recording, since only that can be slower than the network. */
  readonly unwritten: () => number
}

const none: Recorder = { listener: {}, counting: (perform) => perform, unwritten: () => 0 }

/** `commit`: the last one in the node's files. */
export const make = (commit: CommitIndex): Effect.Effect<Recorder, RecordingFailed> =>
  Effect.gen(function* () {
    const recording = yield* Effect.serviceOption(Recording)
    if (Option.isNone(recording)) return none
    const { begin, record } = recording.value
    yield* begin(commit)
    let waiting = 0
    return {
      listener: {
        taking: (tasks) => {
          waiting -= tasks.length
          return record(tasks.flatMap((task) => (task._tag === "Write" ? [task.write] : [])))
        },
      },
      counting: (perform) => (task) => {
        waiting++
        perform(task)
      },
      unwritten: () => waiting,
    }
  })
