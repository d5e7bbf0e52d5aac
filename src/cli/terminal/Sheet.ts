/** Lays out results for people: labelled values, and tables that fit the terminal. Pure. */
import { Option } from "effect"
import * as Visible from "../../client/Visible.js"
import * as Paint from "./Paint.js"
import * as Printable from "./Printable.js"

/** Text to copy, such as a command or a signature. It stays on one line, whatever its length. */
interface Whole {
  readonly whole: string
}

export const whole = (text: string): Whole => ({ whole: text })

/** A list of values takes one line each. A line without a value is omitted. */
export type Line = readonly [
  label: string,
  value: string | Whole | ReadonlyArray<string> | null | undefined,
  paint?: Paint.Paint | undefined,
]

const GAP = "  "

/** The width that every terminal has. */
const COLUMNS = 80

/** The value's lines, each within the width where it can be broken. */
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

/** Breaks long values at spaces and never within a word, so that hashes can be copied. */
export const lines = (pairs: ReadonlyArray<Line>, isStyled: boolean): string => laidOut(pairs, "", COLUMNS, isStyled)

/** The layout of a node's start. Nothing is broken, so that commands can be copied whole. */
export const indented = (pairs: ReadonlyArray<Line>, isStyled = false): string =>
  laidOut(pairs, GAP, Number.POSITIVE_INFINITY, isStyled)

export interface Column {
  readonly title: string
  readonly align?: "right"
  /** Where to cut a value on a narrow terminal. */
  readonly cutAt?: "end" | "middle"
  readonly paint?: Paint.Paint
}

const LEAST_WIDTH = 9

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, each) => total + each, 0)

/** Column widths. The widest column that can be cut shrinks first. */
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

/** One row per entry. Cells are cut only on a terminal. */
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
