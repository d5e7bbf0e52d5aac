/** Confirmation of an irreversible action: a user is asked, a script must pass `--yes`. */
import { Terminal as PlatformTerminal } from "@effect/platform"
import { Effect } from "effect"
import { Terminal } from "../terminal/Terminal.js"
import { wrongUsage } from "./WrongUsage.js"

export interface Question {
  /** A sentence that states what the command does. */
  readonly question: string
  /** The error for a script without `--yes`. */
  readonly unsaid: string
  readonly unlessAgreed: string
  /** Whether `--yes` was given. */
  readonly isSaid: boolean
}

export const ask = ({ question, unsaid, unlessAgreed, isSaid }: Question) =>
  Effect.gen(function* () {
    if (isSaid) return
    const { canAsk, writeError } = yield* Terminal
    if (!canAsk) return yield* wrongUsage(unsaid)
    writeError(`${question}\nType yes to continue: `)
    const typed = yield* Effect.flatMap(PlatformTerminal.Terminal, ({ readLine }) =>
      // Ctrl-C.
      Effect.catchAll(readLine, () => Effect.interrupt),
    )
    if (typed.trim().toLowerCase() !== "yes") return yield* wrongUsage(unlessAgreed)
  })
