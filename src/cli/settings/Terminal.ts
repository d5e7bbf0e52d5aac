import { Context, Deferred, Effect, Layer, Option } from "effect"
import * as Environment from "./Environment.js"

/** Where the program speaks: results and help to stdout, complaints and logs to stderr. */
export class Terminal extends Context.Tag("udg/Terminal")<
  Terminal,
  {
    /** Whether styling is seen: on a terminal that can show it, unless NO_COLOR says otherwise. */
    readonly colours: { readonly stdout: boolean; readonly stderr: boolean }
    readonly writeError: (text: string) => void
    /** Characters that a line of stdout has; none where it is no terminal. */
    readonly columns: () => Option.Option<number>
    /** Whether somebody sees stderr, on a terminal on which a line can be written over. */
    readonly isWatched: boolean
    /** Until nobody reads stdout any more. */
    readonly abandoned: Effect.Effect<void>
    /** Whether somebody can be asked: sees stderr, and types. */
    readonly canAsk: boolean
  }
>() {}

/** Nobody who reads stderr is waited for. */
const forgive = () => {}

export const layer: Layer.Layer<Terminal> = Layer.effect(
  Terminal,
  Effect.gen(function* () {
    const isDumb = (yield* Environment.variable("TERM")) === "dumb"
    const plain = isDumb || (yield* Environment.variable("NO_COLOR")) !== ""
    const isWatched = process.stderr.isTTY === true
    // A reader that went away (`udg --help | head -1`) is no reason to die with a stack trace.
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
