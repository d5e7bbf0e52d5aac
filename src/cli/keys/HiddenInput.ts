/** Reads lines without echo. Closing the scope always restores the terminal. */
import { Effect, Option } from "effect"

/** Cursor keys and terminal reports arrive as escape sequences, which do not belong to a passphrase. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: an escape sequence begins with one
const escapes = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|O.|)/g

const ENTER = /^[\r\n]$/
const CTRL_C = "\u0003"
const CTRL_D = "\u0004"
const CTRL_U = "\u0015"
const BACKSPACE = /^[\u007f\b]$/
const CONTROL = /^\p{Cc}$/u

/** The current line. Text that is typed ahead is kept for the next prompt. */
class Keyboard {
  #line: Array<string> = []
  #ahead: Array<string> = []
  #listener: (() => void) | undefined
  #cancel: (() => void) | undefined

  readonly onData = (text: string): void => {
    this.#ahead.push(...text.replaceAll(escapes, "").replaceAll("\r\n", "\r"))
    if (this.#listener !== undefined) this.#listener()
    else if (this.#ahead.includes(CTRL_C)) this.#cancel?.()
  }

  /** Interrupts when Ctrl-C is typed between prompts. */
  readonly cancelled: Effect.Effect<never> = Effect.async<never>((resume) => {
    this.#cancel = () => resume(Effect.interrupt)
    return Effect.sync(() => {
      this.#cancel = undefined
    })
  })

  /** The terminal was closed. */
  readonly onEnd = (): void => this.onData(CTRL_C)

  /** Returns the complete line, none if it was cancelled, or undefined while it is unfinished. */
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
    // Raw mode turns echo off and delivers Ctrl-C as a character, so that the program always ends through this code.
    process.stdin.setRawMode(true).resume()
    return keyboard
  }),
  (keyboard) =>
    Effect.sync(() => {
      process.stdin.setRawMode(false).pause()
      process.stdin.off("data", keyboard.onData).off("end", keyboard.onEnd)
    }),
)

/** Shows the prompt. Ctrl-C interrupts, and so does Ctrl-D on an empty line. */
export type Ask = (prompt: string) => Effect.Effect<string>

const askWith =
  (keyboard: Keyboard): Ask =>
  (prompt) =>
    Effect.sync(() => process.stderr.write(prompt)).pipe(
      Effect.zipRight(keyboard.line),
      Effect.ensuring(Effect.sync(() => process.stderr.write("\n"))),
    )

/**
 * Lets `use` prompt any number of times. Echo stays off from the first prompt to the end, also between prompts, where
 * Ctrl-C interrupts too.
 */
export const asking = <A, E, R>(use: (ask: Ask) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.scoped(Effect.flatMap(open, (keyboard) => Effect.raceFirst(use(askWith(keyboard)), keyboard.cancelled)))
