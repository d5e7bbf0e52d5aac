/** Reads typed lines without showing them. Closing the scope always restores the terminal. */
import { Effect, Option } from "effect"

/** Cursor keys and reports of the terminal arrive as escape sequences, which are no part of a passphrase. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: an escape sequence begins with one
const escapes = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|O.|)/g

const ENTER = /^[\r\n]$/
const CTRL_C = "\u0003"
const CTRL_D = "\u0004"
const CTRL_U = "\u0015"
const BACKSPACE = /^[\u007f\b]$/
const CONTROL = /^\p{Cc}$/u

/** The line typed so far. Text that is typed ahead waits for the next prompt. */
class Keyboard {
  #line: Array<string> = []
  #ahead: Array<string> = []
  #listener: (() => void) | undefined

  readonly onData = (text: string): void => {
    this.#ahead.push(...text.replaceAll(escapes, "").replaceAll("\r\n", "\r"))
    this.#listener?.()
  }

  /** The terminal was closed. */
  readonly onEnd = (): void => this.onData(CTRL_C)

  /** The complete line, none if it was cancelled, or undefined while it is unfinished. */
  #take(): Option.Option<string> | undefined {
    for (let key = this.#ahead.shift(); key !== undefined; key = this.#ahead.shift()) {
      if (ENTER.test(key)) return Option.some(this.#line.splice(0).join(""))
      if (key === CTRL_C || (key === CTRL_D && this.#line.length === 0)) return Option.none()
      if (key === CTRL_U) this.#line = []
      else if (BACKSPACE.test(key)) this.#line.pop()
      else if (!CONTROL.test(key)) this.#line.push(key)
    }
    return undefined
  }

  readonly line: Effect.Effect<string> = Effect.async<string>((resume) => {
    const look = () => {
      const taken = this.#take()
      if (taken === undefined) return
      this.#listener = undefined
      resume(Option.match(taken, { onNone: () => Effect.interrupt, onSome: Effect.succeed }))
    }
    this.#listener = look
    look()
    return Effect.sync(() => {
      this.#listener = undefined
    })
  })
}

const open = Effect.acquireRelease(
  Effect.sync(() => {
    const keyboard = new Keyboard()
    process.stdin.setEncoding("utf8").on("data", keyboard.onData).once("end", keyboard.onEnd)
    // Without echo, and with Ctrl-C as a character, so that the program always ends through this code.
    process.stdin.setRawMode(true).resume()
    return keyboard
  }),
  (keyboard) =>
    Effect.sync(() => {
      process.stdin.setRawMode(false).pause()
      process.stdin.off("data", keyboard.onData).off("end", keyboard.onEnd)
    }),
)

const answerTo = (keyboard: Keyboard, prompt: string): Effect.Effect<string> =>
  Effect.sync(() => process.stderr.write(prompt)).pipe(
    Effect.zipRight(keyboard.line),
    Effect.ensuring(Effect.sync(() => process.stderr.write("\n"))),
  )

/** Shows the prompt. Ctrl-C, and Ctrl-D on an empty line, interrupt. */
export const ask = (prompt: string): Effect.Effect<string> =>
  Effect.scoped(Effect.flatMap(open, (keyboard) => answerTo(keyboard, prompt)))

/** The same, and on for as long as the lines so far are not all: whoever pastes several lines types none into the shell. */
export const askLines = (
  prompt: string,
  more: (lines: ReadonlyArray<string>) => Option.Option<string>,
): Effect.Effect<ReadonlyArray<string>> =>
  Effect.gen(function* () {
    const keyboard = yield* open
    const lines = [yield* answerTo(keyboard, prompt)]
    for (let next = more(lines); Option.isSome(next); next = more(lines)) {
      lines.push(yield* answerTo(keyboard, next.value))
    }
    return lines
  }).pipe(Effect.scoped)

/** The same twice, the second time only if the first answer passes. */
export const askTwice = <E>(first: string, check: (line: string) => Effect.Effect<unknown, E>, second: string) =>
  Effect.gen(function* () {
    const keyboard = yield* open
    const typed = yield* Effect.tap(answerTo(keyboard, first), check)
    return [typed, yield* answerTo(keyboard, second)] as const
  }).pipe(Effect.scoped)
