/**
 * A server for `Person.ts`: one process that runs the program again and again, because a start takes longer than most
 * calls.
 */
import { Option } from "effect"
import { called } from "../InProcess.js"

export interface Call {
  readonly words: ReadonlyArray<string>
  /** Columns of the terminal; null without one. */
  readonly columns: number | null
}

process.on("message", async ({ words, columns }: Call) => {
  process.send?.(await called(words, Option.fromNullable(columns)))
})
