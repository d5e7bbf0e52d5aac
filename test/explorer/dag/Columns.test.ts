import { describe, expect, it } from "vitest"
import { Columns, type ColumnsAnswer } from "../../../src/explorer/dag/Columns.js"
import type * as Address from "../../../src/protocol/identity/Address.js"
import type * as Hash from "../../../src/protocol/identity/Hash.js"
import * as Natural from "../../../src/protocol/numbers/Natural.js"

const address = (digit: string): Address.Address => digit.repeat(40) as Address.Address

const answer = (
  rounds: ReadonlyArray<readonly [round: number, finalized: boolean, transactions?: number]>,
  validators = [address("a"), address("b")],
): ColumnsAnswer => ({
  dag_round: Natural.round(0),
  finalized_round: Natural.round(0),
  validators,
  columns: rounds.map(([round, finalized, transactions = 0]) => ({
    round: Natural.round(round),
    epoch: Natural.epoch(1),
    timestamp: finalized ? Natural.timestamp(round * 500) : null,
    finalized,
    leader: { validator: 1, verdict: finalized ? "committed" : "undecided" },
    vertices: [
      {
        hash: String(round).padStart(64, "0") as Hash.Hash,
        validator: 0,
        tx_count: transactions,
        commit_index: finalized ? Natural.commitIndex(round) : null,
        parents: [1],
        older_parents: [],
      },
    ],
  })),
})

describe("the known part of the DAG", () => {
  it("marks rounds that can still change", () => {
    const columns = new Columns()
    expect(columns.firstUnsettled).toBe(0)
    columns.merge(
      answer([
        [5, true],
        [6, true],
        [7, false],
        [8, false],
      ]),
    )
    expect(columns.firstUnsettled).toBe(7)
    columns.merge(
      answer([
        [7, true],
        [8, true],
      ]),
    )
    expect(columns.firstUnsettled).toBe(9)
  })

  it("asks again for a final round until its vertices are ordered too, with a limit", () => {
    const columns = new Columns()
    const late = answer([[5, true]])
    const [first] = late.columns
    if (first === undefined) throw new Error("no column")
    const unordered = { ...first, vertices: first.vertices.map((vertex) => ({ ...vertex, commit_index: null })) }
    columns.merge({ ...late, columns: [unordered] })
    columns.merge(answer([[6, true]]))
    expect(columns.firstUnsettled).toBe(5)
    columns.merge(answer([[30, true]]))
    expect(columns.firstUnsettled).toBe(31)
  })

  it("recognises news", () => {
    const columns = new Columns()
    expect(columns.merge(answer([[5, false]]))).toBe(true)
    const { version } = columns.at(5) ?? { version: 0 }
    expect(columns.merge(answer([[5, false]]))).toBe(false)
    expect(columns.at(5)?.version).toBe(version)
    expect(columns.merge(answer([[5, true]]))).toBe(true)
    expect(columns.at(5)).toMatchObject({ isFinalized: true, leader: { lane: 1, verdict: "committed" } })
  })

  it("keeps a validator in its lane when others appear, in any order of the response", () => {
    const columns = new Columns()
    columns.merge(answer([[5, true]], [address("b"), address("c")]))
    columns.merge(answer([[6, true]], [address("a"), address("b")]))
    expect(columns.lanes).toEqual([address("b"), address("c"), address("a")])
    expect(columns.at(5)?.dots[0]).toMatchObject({ lane: 0, parents: [1] })
    expect(columns.at(6)?.dots[0]).toMatchObject({ lane: 2, parents: [0] })
  })

  it("forgets the oldest beyond its limit", () => {
    const columns = new Columns()
    columns.merge(answer(Array.from({ length: 4_100 }, (_, i) => [i + 1, true] as const)))
    expect([columns.size, columns.oldest, columns.newest]).toEqual([4_000, 101, 4_100])
    expect(columns.hasRoomBefore).toBe(false)
  })

  it("lists the rounds it lacks, newest first", () => {
    const columns = new Columns()
    columns.merge(answer([4, 5, 8, 9].map((round) => [round, true] as const)))
    expect(columns.missing(1, 20)).toBe(7)
    expect(columns.missing(1, 5)).toBe(3)
    expect(columns.missing(4, 5)).toBeUndefined()
    expect(columns.missing(-3, 0)).toBeUndefined()
  })

  it("lacks the rounds that can still change once it has dropped them", () => {
    const columns = new Columns()
    columns.merge(
      answer([
        [1, true],
        [5, true],
        [6, false],
        [7, true],
        [8, false],
      ]),
    )
    columns.dropUnsettled()
    columns.merge(answer([[1_000, false]]))
    expect([5, 6, 7, 8, 1_000].filter((round) => columns.at(round) !== undefined)).toEqual([5, 7, 1_000])
    expect(columns.hasRoomBefore).toBe(true)
    expect(columns.missing(1, 8)).toBe(8)
    expect(columns.missing(1, 7)).toBe(6)
    columns.merge(
      answer([
        [6, true],
        [8, true],
      ]),
    )
    expect(columns.between(5, 8).map(({ isFinalized }) => isFinalized)).toEqual([true, true, true, true])
  })

  it("marks an epoch as over once a later one has begun", () => {
    const columns = new Columns()
    const {
      columns: [first, second],
      ...rest
    } = answer([
      [1, true],
      [2, false],
    ])
    if (first === undefined || second === undefined) throw new Error("two columns were answered")
    columns.merge({ ...rest, columns: [first] })
    const column = columns.at(1)
    if (column === undefined) throw new Error("the column was merged")
    expect(columns.isOver(column)).toBe(false)
    columns.merge({ ...rest, columns: [{ ...second, epoch: Natural.epoch(first.epoch + 1) }] })
    expect(columns.isOver(column)).toBe(true)
  })
})
