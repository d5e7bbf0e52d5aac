/** What cannot be undone: a person is asked, and a script says so itself. */
import { Terminal as PlatformTerminal } from "@effect/platform"
import { Effect } from "effect"
import { Terminal } from "../terminal/Terminal.js"
import { wrongUsage } from "./WrongUsage.js"

export interface Question {
  /** A sentence: what is done. */
  readonly question: string
  /** What a script is told that has not said `--yes`. */
  readonly unsaid: string
  readonly unlessAgreed: string
  /** The script has said so. */
  readonly isSaid: boolean
}

export const ask = ({ question, unsaid, unlessAgreed, isSaid }: Question) =>
  Effect.gen(function* () {
    if (isSaid) return
    const { canAsk, writeError } = yield* Terminal
    if (!canAsk) return yield* wrongUsage(unsaid)
    writeError(`${question}\nType yes to go on: `)
    const typed = yield* Effect.flatMap(PlatformTerminal.Terminal, ({ readLine }) =>
      // Ctrl-C.
      Effect.catchAll(readLine, () => Effect.interrupt),
    )
    if (typed.trim().toLowerCase() !== "yes") return yield* wrongUsage(unlessAgreed)
  })
