/** A program for `Person.ts`: calls the program again and again in one process, whose start takes longer than most calls. */
import { Option } from "effect"
import { called } from "../InProcess.js"

export interface Call {
  readonly words: ReadonlyArray<string>
  /** Of the terminal; null where there is none. */
  readonly columns: number | null
}

process.on("message", async ({ words, columns }: Call) => {
  process.send?.(await called(words, Option.fromNullable(columns)))
})
