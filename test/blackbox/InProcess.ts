/**
 * Calls the program in this process, without half a second of CPU to start another one. For the many cases that test
 * only output and exit code.
 */
import { Console, Effect, Option } from "effect"
import { Terminal } from "../../src/cli/terminal/Terminal.js"
import * as Udg from "../../src/cli/Udg.js"

export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export const udg = (...words: ReadonlyArray<string>): Promise<Outcome> => called(words, Option.none())

/** With stdout as wide as a terminal. */
export const called = async (words: ReadonlyArray<string>, columns: Option.Option<number>): Promise<Outcome> => {
  let stdout = ""
  let stderr = ""
  const terminal = Terminal.of({
    colours: { stdout: false, stderr: false },
    writeError: (text) => {
      stderr += text
    },
    columns: () => columns,
    isWatched: false,
    abandoned: Effect.never,
    canAsk: false,
  })
  const call = await Udg.find("0.0.0", words)
  const exit = await Udg.program(call).pipe(
    Effect.provideService(Terminal, terminal),
    (program) =>
      Console.consoleWith((console) =>
        Console.withConsole(program, {
          ...console,
          log: (text: unknown) =>
            Effect.sync(() => {
              stdout += `${text}\n`
            }),
        }),
      ),
    Effect.runPromiseExit,
  )
  return { code: Udg.exitCode(exit, call), stdout, stderr }
}
