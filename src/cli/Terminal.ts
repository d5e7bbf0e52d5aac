import { Context, Effect, Layer } from "effect"
import * as Words from "./Words.js"

/** Where the program speaks: results and help to stdout, complaints and logs to stderr. */
export class Terminal extends Context.Tag("udg/Terminal")<
  Terminal,
  {
    /** Whether styling is seen: on a terminal that can show it, unless NO_COLOR says otherwise. */
    readonly colours: { readonly stdout: boolean; readonly stderr: boolean }
    readonly writeError: (text: string) => void
  }
>() {}

/** A reader that went away (`udg --help | head -1`) is no reason to die with a stack trace. */
const forgive = () => {}

export const layer: Layer.Layer<Terminal> = Layer.effect(
  Terminal,
  Effect.gen(function* () {
    const plain = (yield* Words.variable("NO_COLOR")) !== "" || (yield* Words.variable("TERM")) === "dumb"
    process.stdout.on("error", forgive)
    process.stderr.on("error", forgive)
    return {
      colours: { stdout: process.stdout.isTTY === true && !plain, stderr: process.stderr.isTTY === true && !plain },
      writeError: (text) => void process.stderr.write(text),
    }
  }),
)
