/** Rows written together: one statement per table, however many rows there are. */
import { Effect } from "effect"
import { BinaryArray } from "./BinaryArray.js"
import type { Statements } from "./Postgres.js"

/** The type of a cell, by the kind of its column. */
interface Cells {
  readonly bigint: number
  readonly integer: number
  readonly smallint: number
  readonly numeric: number
  readonly boolean: boolean
  readonly text: string
  readonly bytea: Uint8Array
  /** Bytes held as hexadecimal digits. */
  readonly hex: string
  /** Milliseconds since 1970. */
  readonly instant: number
  readonly postingKind: string
}

type Kind = keyof Cells

export type Columns = Readonly<Record<string, Kind>>

export type Row<C extends Columns> = { readonly [Name in keyof C]: Cells[C[Name]] | null }

interface Encoding<Cell> {
  /** PostgreSQL's type for the parameter. */
  readonly cast: string
  /** The element type's number, which PostgreSQL never changes. */
  readonly elementType: number
  readonly add: (array: BinaryArray, cell: Cell) => void
}

const EPOCH_OF_POSTGRES = Date.UTC(2000, 0, 1)

const ENCODINGS: { readonly [K in Kind]: Encoding<Cells[K]> } = {
  bigint: { cast: "bigint[]", elementType: 20, add: (array, cell) => array.int8(cell) },
  integer: { cast: "integer[]", elementType: 23, add: (array, cell) => array.int4(cell) },
  smallint: { cast: "smallint[]", elementType: 21, add: (array, cell) => array.int2(cell) },
  numeric: { cast: "text[]::numeric[]", elementType: 25, add: (array, cell) => array.text(String(cell)) },
  boolean: { cast: "boolean[]", elementType: 16, add: (array, cell) => array.boolean(cell) },
  text: { cast: "text[]", elementType: 25, add: (array, cell) => array.text(cell) },
  bytea: { cast: "bytea[]", elementType: 17, add: (array, cell) => array.bytes(cell) },
  hex: { cast: "bytea[]", elementType: 17, add: (array, cell) => array.hex(cell) },
  instant: {
    cast: "timestamptz[]",
    elementType: 1184,
    add: (array, cell) => array.bigInt8(BigInt(cell - EPOCH_OF_POSTGRES) * 1_000n),
  },
  // A custom type's number differs from database to database.
  postingKind: { cast: "text[]::posting_kind[]", elementType: 25, add: (array, cell) => array.text(cell) },
}

const encodingOf = <K extends Kind>(kind: K): Encoding<Cells[K]> => ENCODINGS[kind]

interface Column<C extends Columns> {
  readonly name: string
  readonly cast: string
  readonly add: (row: Row<C>) => void
  readonly finish: () => Uint8Array
}

const columnOf = <C extends Columns, Name extends keyof C & string>(columns: C, name: Name): Column<C> => {
  const array = new BinaryArray()
  const kind: C[Name] = columns[name]
  const { cast, elementType, add } = encodingOf(kind)
  return {
    name,
    cast,
    add: (row) => {
      const cell = row[name]
      if (cell === null) array.null()
      else add(array, cell)
    },
    finish: () => array.finish(elementType),
  }
}

export class Rows<C extends Columns> {
  readonly #table: string
  readonly #columns: ReadonlyArray<Column<C>>
  readonly #after: string
  #size = 0

  /** `after`: the end of the statement, such as how to treat existing rows. */
  constructor(table: string, columns: C, after = "") {
    this.#table = table
    this.#columns = Object.keys(columns).map((name) => columnOf(columns, name))
    this.#after = after
  }

  add(row: Row<C>): void {
    for (const column of this.#columns) column.add(row)
    this.#size++
  }

  /** Call at most once. */
  write({ rows }: Statements) {
    if (this.#size === 0) return Effect.void
    const names = this.#columns.map(({ name }) => name).join(", ")
    const arrays = this.#columns.map(({ cast }, i) => `$${i + 1}::${cast}`).join(", ")
    const text = `insert into ${this.#table} (${names}) select * from unnest(${arrays}) ${this.#after}`
    const values = this.#columns.map(({ finish }) => finish())
    return Effect.asVoid(rows(text, values))
  }
}
