/**
 * DAGs drawn as text. One line a round, one column a member:
 *
 *       A      B      C      D
 *   1   .     [.]     .      .        [ ] the round's leader slot
 *   2  ABC    ABC    ABC     -        parents in the round before; - no vertex
 *   3   =      =    [=]      =        = every vertex of the round before, the first of each slot
 *   4  ABC  ABC/ABc  ABC    BC+D1     / a second vertex of the slot (an equivocation); c names C's second vertex
 *                                     + an older parent with its round
 *
 * Weights stand in the headline: `A:5 B:1`; without, everybody has 1. A round without brackets has its leader at A.
 */
import type { Committee, Schedule } from "../../src/consensus/dag/Committee.js"
import type { Opening } from "../../src/consensus/output/Opening.js"
import * as Limits from "../../src/protocol/numbers/Limits.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Parent } from "../../src/protocol/vertex/Header.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import { openingOf, recordOf } from "./TestCommittee.js"
import { parentOf, VertexBuilder } from "./VertexBuilder.js"

export interface Picture {
  readonly opening: Opening
  readonly committee: Committee
  readonly schedule: Schedule
  /** In drawing order: parents first. */
  readonly vertices: ReadonlyArray<Vertex>
  /** `A1` the first vertex of A in round 1, `a1` the second. */
  readonly vertex: (name: string) => Vertex
  readonly nameOf: (vertex: Vertex) => string
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

const letterOf = (seat: number, isSecond: boolean): string => {
  const letter = LETTERS[seat] ?? "?"
  return isSecond ? letter.toLowerCase() : letter
}

class Drawing {
  readonly builder: VertexBuilder
  readonly named = new Map<string, Vertex>()
  readonly leaders = new Map<number, number>()
  readonly drawn: Array<Vertex> = []

  constructor(weights: ReadonlyArray<number>) {
    if (weights.length > Limits.COMMITTEE_MEMBERS) throw new Error("too many columns")
    this.builder = new VertexBuilder(openingOf(recordOf(weights)))
  }

  line(round: number, cells: ReadonlyArray<string>): void {
    if (cells.length !== this.builder.committee.size) throw new Error(`round ${round} has ${cells.length} cells`)
    for (const [seat, cell] of cells.entries()) this.#cell(round, seat, cell)
  }

  #cell(round: number, seat: number, cell: string): void {
    const isLeader = cell.startsWith("[") && cell.endsWith("]")
    if (isLeader) this.leaders.set(round, seat)
    const content = isLeader ? cell.slice(1, -1) : cell
    for (const [i, text] of content.split("/").entries()) {
      if (text === "-") continue
      const parents = this.#parents(round, text)
      const vertex = this.builder.make(seat, round, parents, i === 0 ? {} : { timestamp: secondStamp(round) })
      this.named.set(`${letterOf(seat, i > 0)}${round}`, vertex)
      this.drawn.push(vertex)
    }
  }

  #parents(round: number, text: string): ReadonlyArray<Parent> {
    const [fresh = "", ...older] = text.split("+")
    const names =
      fresh === "="
        ? [...this.named.keys()].filter((name) => name.slice(1) === String(round - 1) && /[A-Z]/.test(name))
        : [...fresh].filter((letter) => letter !== ".").map((letter) => `${letter}${round - 1}`)
    return [...names, ...older].map((name) => parentOf(this.vertex(name)))
  }

  vertex(name: string): Vertex {
    const vertex = this.named.get(name)
    if (vertex === undefined) throw new Error(`${name} is not drawn yet`)
    return vertex
  }
}

/** Another timestamp makes another vertex. */
const secondStamp = (round: number) => Natural.timestamp(round + 1_000)

const weightsOf = (headline: string): ReadonlyArray<number> =>
  headline
    .trim()
    .split(/\s+/)
    .map((column) => Number(column.split(":")[1] ?? 1))

/** Reads a picture. */
export const draw = (text: string): Picture => {
  const [headline = "", ...lines] = text.split("\n").filter((line) => line.trim() !== "")
  const drawing = new Drawing(weightsOf(headline))
  for (const line of lines) {
    const [round = "", ...cells] = line.trim().split(/\s+/)
    drawing.line(Number(round), cells)
  }
  const names = new Map([...drawing.named].map(([name, vertex]) => [vertex.header.hash, name]))
  return {
    opening: drawing.builder.opening,
    committee: drawing.builder.committee,
    schedule: { leaderOf: (round) => drawing.leaders.get(round) ?? 0 },
    vertices: drawing.drawn,
    vertex: (name) => drawing.vertex(name),
    nameOf: ({ header }) => names.get(header.hash) ?? header.hash,
  }
}
