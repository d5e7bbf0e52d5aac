/** What a command found, for people: lines of a name and a value, and tables that fit the terminal. Pure. */
import { Option } from "effect"
import * as Visible from "../../client/Visible.js"
import * as Printable from "../settings/Printable.js"

export type Line = readonly [label: string, value: string]

const GAP = "  "

/** Every value on its own line, behind its name; nothing in it is cut, so that it can be copied. */
export const lines = (pairs: ReadonlyArray<Line>): string => {
  const width = Math.max(...pairs.map(([label]) => label.length))
  return pairs.map(([label, value]) => `${label.padEnd(width)}${GAP}${Visible.line(value)}`.trimEnd()).join("\n")
}

export interface Column {
  readonly title: string
  readonly align?: "right"
  /** How it gives way on a terminal that is too narrow: at its end, or in its middle. */
  readonly gives?: "end" | "middle"
}

const LEAST_WIDTH = 9

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, each) => total + each, 0)

/** The columns' widths, the widest that gives way narrowed first. */
const narrowed = (
  columns: ReadonlyArray<Column>,
  wanted: ReadonlyArray<number>,
  room: number,
): ReadonlyArray<number> => {
  const widths = [...wanted]
  const gaps = GAP.length * (columns.length - 1)
  while (sum(widths) + gaps > room) {
    const givers = columns.flatMap(({ gives }, i) => (gives !== undefined && (widths[i] ?? 0) > LEAST_WIDTH ? [i] : []))
    const widest = givers.sort((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0))[0]
    if (widest === undefined) return widths
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return widths
}

const cell = ({ align, gives }: Column, text: string, width: number): string => {
  const shown = gives === "middle" ? Printable.abbreviated(text, width) : Printable.cut(text, width)
  const padding = " ".repeat(Math.max(0, width - Printable.widthOf(shown)))
  return align === "right" ? padding + shown : shown + padding
}

/** A row for each entry; whole where nobody looks at it on a terminal. */
export const table = (
  columns: ReadonlyArray<Column>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  terminal: { readonly columns: Option.Option<number>; readonly isStyled: boolean },
): string => {
  const clean = rows.map((row) => row.map(Visible.line))
  const wanted = columns.map(({ title }, i) =>
    Math.max(title.length, ...clean.map((row) => Printable.widthOf(row[i] ?? ""))),
  )
  const widths = Option.match(terminal.columns, {
    onNone: () => wanted,
    onSome: (room) => narrowed(columns, wanted, room),
  })
  const row = (cells: ReadonlyArray<string>) =>
    columns
      .map((column, i) => cell(column, cells[i] ?? "", widths[i] ?? 0))
      .join(GAP)
      .trimEnd()
  const head = row(columns.map(({ title }) => title))
  return [terminal.isStyled ? `\u001b[1m${head}\u001b[0m` : head, ...clean.map(row)].join("\n")
}
