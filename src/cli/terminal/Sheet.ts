/** Results for people: lines of a label and a value, and tables that fit the terminal. Pure. */
import { Option } from "effect"
import * as Visible from "../../client/Visible.js"
import * as Paint from "./Paint.js"
import * as Printable from "./Printable.js"

/** Text that is copied, such as a command or what was signed: it stays on one line, however long. */
interface Whole {
  readonly whole: string
}

export const whole = (text: string): Whole => ({ whole: text })

/** Several values get a line each, below the label. A line without a value is left out. */
export type Line = readonly [
  label: string,
  value: string | Whole | ReadonlyArray<string> | null | undefined,
  paint?: Paint.Paint | undefined,
]

const GAP = "  "

/** What every terminal has room for. */
const COLUMNS = 80

/** The lines that a value takes, each at most that wide if it can be broken. */
const linesOf = (value: Line[1], room: number): ReadonlyArray<string> => {
  if (value === null || value === undefined) return []
  if (typeof value === "object" && "whole" in value) return [Visible.line(value.whole)]
  const values = typeof value === "string" ? [value] : value
  return values.flatMap((each) => Printable.wrapped(Visible.line(each), room))
}

const laidOut = (pairs: ReadonlyArray<Line>, indent: string, columns: number, isStyled: boolean): string => {
  const given = pairs.filter(([, value]) => linesOf(value, columns).length > 0)
  const width = Math.max(...given.map(([label]) => label.length))
  const room = columns - indent.length - width - GAP.length
  const shown = given.flatMap(([label, value, paint]) =>
    linesOf(value, room).map((text, i) => ({
      label: i === 0 ? label : "",
      text: isStyled ? (paint ?? Paint.plain)(text) : text,
    })),
  )
  return shown.map(({ label, text }) => `${indent}${label.padEnd(width)}${GAP}${text}`.trimEnd()).join("\n")
}

/** Long values are broken at spaces, but no word is cut, so that every hash can be copied. */
export const lines = (pairs: ReadonlyArray<Line>, isStyled: boolean): string => laidOut(pairs, "", COLUMNS, isStyled)

/** As the node shows what it starts with. Nothing is broken: a command among it can be copied whole. */
export const indented = (pairs: ReadonlyArray<Line>, isStyled = false): string =>
  laidOut(pairs, GAP, Number.POSITIVE_INFINITY, isStyled)

export interface Column {
  readonly title: string
  readonly align?: "right"
  /** Where a value is cut if the terminal is too narrow. */
  readonly cutAt?: "end" | "middle"
  readonly paint?: Paint.Paint
}

const LEAST_WIDTH = 9

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, each) => total + each, 0)

/** The columns' widths; of those that may be cut, the widest is narrowed first. */
const narrowed = (
  columns: ReadonlyArray<Column>,
  wanted: ReadonlyArray<number>,
  room: number,
): ReadonlyArray<number> => {
  const widths = [...wanted]
  const gaps = GAP.length * (columns.length - 1)
  while (sum(widths) + gaps > room) {
    const cuttable = columns.flatMap(({ cutAt }, i) =>
      cutAt !== undefined && (widths[i] ?? 0) > LEAST_WIDTH ? [i] : [],
    )
    const widest = cuttable.sort((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0))[0]
    if (widest === undefined) return widths
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return widths
}

const cell = (
  { align, cutAt, paint = Paint.plain }: Column,
  text: string,
  width: number,
  isStyled: boolean,
): string => {
  const shown = cutAt === "middle" ? Printable.abbreviated(text, width) : Printable.cut(text, width)
  const padding = " ".repeat(Math.max(0, width - Printable.widthOf(shown)))
  const painted = isStyled ? paint(shown) : shown
  return align === "right" ? padding + painted : painted + padding
}

/** One row per entry; nothing is cut unless the output is a terminal. */
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
  const row = (cells: ReadonlyArray<string>, isStyled: boolean) =>
    columns
      .map((column, i) => cell(column, cells[i] ?? "", widths[i] ?? 0, isStyled))
      .join(GAP)
      .trimEnd()
  const head = row(
    columns.map(({ title }) => title),
    false,
  )
  const { isStyled } = terminal
  return [isStyled ? Paint.strong(head) : head, ...clean.map((cells) => row(cells, isStyled))].join("\n")
}
