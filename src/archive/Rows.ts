/** Rows to be written together: one statement for each table, however many rows there are. */
import { Effect } from "effect"
import type { Statements } from "./Postgres.js"

export type Cell = string | number | boolean | Uint8Array | null

/** A table's columns with their types, in the order of a row's cells. */
export class Rows {
  readonly #table: string
  readonly #columns: ReadonlyArray<readonly [name: string, type: string]>
  readonly #after: string
  readonly #cells: ReadonlyArray<Array<Cell>>

  /** `after` is what the statement ends with, such as what to do with a row that is there already. */
  constructor(table: string, columns: Readonly<Record<string, string>>, after = "") {
    this.#table = table
    this.#columns = Object.entries(columns)
    this.#after = after
    this.#cells = this.#columns.map(() => [])
  }

  add(...row: ReadonlyArray<Cell>): void {
    for (const [i, cells] of this.#cells.entries()) cells.push(row[i] ?? null)
  }

  get size(): number {
    return this.#cells[0]?.length ?? 0
  }

  write({ rows }: Statements) {
    if (this.size === 0) return Effect.void
    const names = this.#columns.map(([name]) => name).join(", ")
    const arrays = this.#columns.map(([, type], i) => `$${i + 1}::${type}[]`).join(", ")
    const text = `insert into ${this.#table} (${names}) select * from unnest(${arrays}) ${this.#after}`
    return Effect.asVoid(rows(text, this.#cells))
  }
}
