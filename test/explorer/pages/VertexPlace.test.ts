import { expect, it } from "vitest"
import * as Place from "../../../src/explorer/pages/VertexPlace.js"
import type * as Dag from "../../../src/rpc/api/Dag.js"

type Vertex = (typeof Dag.Columns.Type)["columns"][number]["vertices"][number]

const vertex = (hash: string, validator: number, rest: Partial<Vertex> = {}) =>
  ({ hash, validator, tx_count: 0, commit_index: null, parents: [], older_parents: [], ...rest }) as Vertex

const answer = (epochs: ReadonlyArray<number>, rounds: ReadonlyArray<ReadonlyArray<Vertex>>) =>
  ({
    dag_round: 9,
    finalized_round: 1,
    validators: [],
    columns: rounds.map((vertices, i) => ({
      round: i + 1,
      epoch: epochs[i],
      timestamp: null,
      finalized: false,
      leader: { validator: 1, verdict: "committed" },
      vertices,
    })),
  }) as unknown as typeof Dag.Columns.Type

it("finds children in the next round and, by an older parent, in later ones", () => {
  const place = Place.of(
    "a",
    answer(
      [1, 1, 1],
      [
        [vertex("a", 0, { commit_index: 4 as never }), vertex("b", 1)],
        [vertex("c", 0, { parents: [0, 1] }), vertex("d", 1, { parents: [1] })],
        [vertex("e", 1, { parents: [0], older_parents: [{ round: 1 as never, validator: 0 }] })],
      ],
    ),
  )
  expect(place).toEqual({ commit: 4, isDropped: false, leads: null, children: ["c", "e"] })
})

it("shows the leader, and vertices dropped by a closed epoch", () => {
  const columns = answer([1, 2], [[vertex("b", 1)], [vertex("c", 0)]])
  expect(Place.of("b", columns)).toEqual({ commit: null, isDropped: true, leads: "committed", children: [] })
  expect(Place.of("c", columns)?.isDropped).toBe(false)
  expect(Place.of("x", columns)).toBeUndefined()
})
