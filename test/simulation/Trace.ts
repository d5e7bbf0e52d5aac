/**
 * A readable log of a run: one line per round, one column per validator, and the events of machines in between. It
 * keeps all events but only the vertices of the latest rounds.
 */
import type { Address } from "../../src/protocol/identity/Address.js"
import type { Header } from "../../src/protocol/vertex/Header.js"

const KEPT_ROUNDS = 60
const KEPT_EVENTS = 200

interface Row {
  /** By author: the hashes seen on the wire, each with its parents of the round before. */
  readonly seen: Map<Address, Map<string, Header>>
}

export interface Column {
  readonly name: string
  readonly address: Address
}

export class Trace {
  readonly #columns: ReadonlyArray<Column>
  readonly #rows = new Map<number, Row>()
  /** Round → the committed leader, as first reported. */
  readonly #committed = new Map<number, string>()
  readonly #leaders = new Map<number, Address>()
  readonly #events: Array<string> = []

  constructor(columns: ReadonlyArray<Column>) {
    this.#columns = columns
  }

  tell(atMs: number, event: string): void {
    this.#events.push(`${(atMs / 1_000).toFixed(3).padStart(9)} s  ${event}`)
    if (this.#events.length > KEPT_EVENTS) this.#events.shift()
  }

  saw(header: Header): void {
    let row = this.#rows.get(header.round)
    if (row === undefined) {
      row = { seen: new Map() }
      this.#rows.set(header.round, row)
      this.#rows.delete(header.round - KEPT_ROUNDS)
    }
    const own = row.seen.get(header.author)
    if (own === undefined) row.seen.set(header.author, new Map([[header.hash, header]]))
    else own.set(header.hash, header)
  }

  committed(round: number, leader: Address, hash: string): void {
    this.#committed.set(round, hash)
    this.#leaders.set(round, leader)
  }

  /** How many vertices of the next round name this one. */
  #votes(hash: string, round: number): number {
    let votes = 0
    for (const own of this.#rows.get(round + 1)?.seen.values() ?? []) {
      for (const { parents } of own.values()) if (parents.some((parent) => parent.hash === hash)) votes++
    }
    return votes
  }

  #cell(round: number, address: Address): string {
    const own = this.#rows.get(round)?.seen.get(address)
    if (own === undefined) return "."
    const committed = this.#committed.get(round)
    return [...own.keys()]
      .map((hash) => `${hash === committed ? "*" : ""}${hash.slice(0, 4)}/${this.#votes(hash, round)}`)
      .join("+")
  }

  /** The latest rounds, in columns under the validators' names. */
  print(): string {
    const rounds = [...this.#rows.keys()].sort((a, b) => a - b)
    const table = [
      ["round", ...this.#columns.map(({ name }) => name)],
      ...rounds.map((round) => [String(round), ...this.#columns.map(({ address }) => this.#cell(round, address))]),
    ]
    const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? []
    const lines = table.map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    return [
      "A cell: first digits of the vertex / how many vertices of the next round name it; * a committed leader, + an equivocation.",
      ...lines,
      "",
      ...this.#events,
    ].join("\n")
  }
}
