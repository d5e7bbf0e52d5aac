/** A command's result: lines for people or JSON for scripts. */
import { Console, Effect } from "effect"
import * as Printable from "./Printable.js"
import * as Sheet from "./Sheet.js"
import { Terminal } from "./Terminal.js"

const INDENT = 2

/** JSON output is the node's own answer with the node's field names. */
export const lines = (
  asJson: boolean,
  value: unknown,
  pairs: () => ReadonlyArray<Sheet.Line>,
): Effect.Effect<void, never, Terminal> =>
  Effect.flatMap(Terminal, ({ colours }) =>
    Console.log(asJson ? Printable.json(value, INDENT) : Sheet.lines(pairs(), colours.stdout)),
  )

interface Table {
  readonly columns: ReadonlyArray<Sheet.Column>
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
  /** Replaces an empty table. */
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

/** Lines with a table below them. */
export const sheet = (
  asJson: boolean,
  value: unknown,
  make: () => Table & { readonly lines: ReadonlyArray<Sheet.Line> },
): Effect.Effect<void, never, Terminal> =>
  Effect.gen(function* () {
    if (asJson) return yield* Console.log(Printable.json(value, INDENT))
    const { lines, ...rest } = make()
    const { colours } = yield* Terminal
    yield* Console.log(`${Sheet.lines(lines, colours.stdout)}\n`)
    return yield* table(false, value, () => rest)
  })

/** One item of a stream, on a line of its own so that scripts can read it immediately. */
export const entry = (asJson: boolean, value: unknown, words: () => string): Effect.Effect<void> =>
  Console.log(asJson ? Printable.json(value) : words())
