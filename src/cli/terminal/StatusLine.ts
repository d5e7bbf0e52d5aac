/** A line that stays below all other output on a terminal. */
import { Option } from "effect"
import * as Printable from "./Printable.js"

const CLEAR = "\r\u001b[K"
const USUAL_COLUMNS = 80

export interface Options {
  readonly write: (text: string) => void
  /** The terminal's width, if known. */
  readonly columns: () => Option.Option<number>
}

export class StatusLine {
  readonly #options: Options
  #shown = ""

  constructor(options: Options) {
    this.#options = options
  }

  /** Replaces the line; an empty text removes it. */
  show(text: string): void {
    const room = Option.getOrElse(this.#options.columns(), () => USUAL_COLUMNS)
    const next = Printable.cut(text, room - 1)
    if (next === "" && this.#shown === "") return
    this.#shown = next
    this.#options.write(CLEAR + next)
  }

  /** Writes whole lines above it. */
  write(text: string): void {
    this.#options.write(this.#shown === "" ? text : CLEAR + text + this.#shown)
  }
}
