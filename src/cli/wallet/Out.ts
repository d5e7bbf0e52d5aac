/** What a command found, said as asked for: in words, or as JSON for scripts. */
import { Console, Effect } from "effect"
import * as Printable from "../settings/Printable.js"
import { Terminal } from "../settings/Terminal.js"
import * as Sheet from "./Sheet.js"

const INDENT = 2

/** One value for a script, the node's own words under the node's own names; else lines for a person. */
export const lines = (asJson: boolean, value: unknown, pairs: () => ReadonlyArray<Sheet.Line>): Effect.Effect<void> =>
  Console.log(asJson ? Printable.json(value, INDENT) : Sheet.lines(pairs()))

interface Table {
  readonly columns: ReadonlyArray<Sheet.Column>
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
  /** What is said where there are no rows. */
  readonly none: string
}

export const table = (asJson: boolean, value: unknown, make: () => Table): Effect.Effect<void, never, Terminal> =>
  Effect.gen(function* () {
    if (asJson) return yield* Console.log(Printable.json(value, INDENT))
    const { columns, rows, none } = make()
    const terminal = yield* Terminal
    const look = { columns: terminal.columns(), isStyled: terminal.colours.stdout }
    return yield* Console.log(rows.length === 0 ? none : Sheet.table(columns, rows, look))
  })

/** A line of its own for each thing of a stream, which a script reads one by one. */
export const entry = (asJson: boolean, value: unknown, words: () => string): Effect.Effect<void> =>
  Console.log(asJson ? Printable.json(value) : words())
