/** Has what the writer takes recorded first, where a follower records it elsewhere too. */
import { Effect, Option } from "effect"
import type { CommitIndex } from "../../protocol/numbers/Natural.js"
import type { RecordingFailed } from "../lifecycle/Ending.js"
import { Recording } from "./Recording.js"
import type { Listener, Task } from "./Writer.js"

export interface Recorder {
  readonly listener: Pick<Listener, "taking">
  /** The same writer, of which it is counted what it has not taken yet. */
  readonly counting: (perform: (task: Task) => void) => (task: Task) => void
  /** How many tasks wait: none where nothing is recorded, since only that can be slower than the network. */
  readonly unwritten: () => number
}

const none: Recorder = { listener: {}, counting: (perform) => perform, unwritten: () => 0 }

/** The node's files end with this commit. */
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
