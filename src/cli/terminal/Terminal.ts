import { Context, Deferred, Effect, Layer, Option } from "effect"
import * as Environment from "./Environment.js"

/** Results and help go to stdout, errors and logs to stderr. */
export class Terminal extends Context.Tag("udg/Terminal")<
  Terminal,
  {
    /** True on a terminal with styling, unless NO_COLOR is set. */
    readonly colours: { readonly stdout: boolean; readonly stderr: boolean }
    readonly writeError: (text: string) => void
    /** The width of stdout; none if it is not a terminal. */
    readonly columns: () => Option.Option<number>
    /** Whether stderr is a terminal on which a line can be overwritten. */
    readonly isWatched: boolean
    /** Completes when stdout's reader is gone. */
    readonly abandoned: Effect.Effect<void>
    /** Whether the user can be prompted: stderr and stdin are terminals. */
    readonly canAsk: boolean
  }
>() {}

/** stderr without a reader is ignored. */
const forgive = () => {}

export const layer: Layer.Layer<Terminal> = Layer.effect(
  Terminal,
  Effect.gen(function* () {
    const isDumb = (yield* Environment.variable("TERM")) === "dumb"
    const plain = isDumb || (yield* Environment.variable("NO_COLOR")) !== ""
    const isWatched = process.stderr.isTTY === true
    // A closed stdout (`udg --help | head -1`) must not cause a stack trace.
    const abandoned = yield* Deferred.make<void>()
    process.stdout.on("error", () => Deferred.unsafeDone(abandoned, Effect.void))
    process.stderr.on("error", forgive)
    return {
      colours: { stdout: process.stdout.isTTY === true && !plain, stderr: isWatched && !plain },
      writeError: (text) => void process.stderr.write(text),
      columns: () =>
        process.stdout.isTTY === true && process.stdout.columns > 0
          ? Option.some(process.stdout.columns)
          : Option.none(),
      abandoned: Deferred.await(abandoned),
      isWatched: isWatched && !isDumb,
      canAsk: isWatched && process.stdin.isTTY === true,
    }
  }),
)
