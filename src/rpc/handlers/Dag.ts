import { Effect, Option } from "effect"
import {
  Dag,
  type KnownRound,
  type KnownVertex,
  type RoundNotFound,
  type VertexNotFound,
} from "../../node/reads/Dag.js"
import type { NoAnswer } from "../../node/reads/Lookup.js"
import { State, type ValidatorOf } from "../../node/reads/State.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { Round } from "../../protocol/numbers/Natural.js"
import * as Api from "../api/Dag.js"
import * as Columns from "./DagColumns.js"
import { group, type Of } from "./Group.js"

const roundOf = (
  { round, finalizedAt, isFinalized, vertices }: KnownRound,
  validatorOf: ValidatorOf,
): typeof Api.Round.Type => ({
  round,
  timestamp: finalizedAt,
  finalized: isFinalized,
  vertices: vertices.map(({ header, transactionCount }) => ({
    hash: header.hash,
    validator: validatorOf(header.author),
    reward: header.coinbase,
    tx_count: transactionCount,
    parent_count: header.parents.length,
  })),
})

const vertexOf = (
  { vertex: { header, body }, outcomes }: KnownVertex,
  validatorOf: ValidatorOf,
): typeof Api.Vertex.Type => ({
  hash: header.hash,
  round: header.round,
  validator: validatorOf(header.author),
  parent_count: header.parents.length,
  parents: header.parents.map(({ hash }) => hash),
  coinbase_reward: header.coinbase,
  timestamp: header.timestamp,
  finalized: outcomes !== null,
  transactions: body.transactions.map(({ operation, id, fee }, i) => ({
    type: operation._tag,
    hash: id,
    fee,
    outcome: outcomes?.[i] ?? null,
  })),
})

/** A source of rounds and vertices. */
export interface Kept {
  readonly round: (round: Round) => Effect.Effect<KnownRound, RoundNotFound | NoAnswer>
  readonly vertex: (hash: Hash) => Effect.Effect<KnownVertex, VertexNotFound | NoAnswer>
}

export const reads = (dag: Kept) =>
  Effect.map(
    State,
    ({ validatorOf }) =>
      ({
        round: ({ path }) => Effect.zipWith(dag.round(path.round), validatorOf, roundOf),
        vertex: ({ path }) => Effect.zipWith(dag.vertex(path.hash), validatorOf, vertexOf),
      }) satisfies Partial<Of<"dag">>,
  )

export const layer = group("dag", (handlers) =>
  Effect.gen(function* () {
    const dag = yield* Dag
    const { round, vertex } = yield* reads(dag)
    const { validatorOf } = yield* State

    return handlers
      .handle("round", round)
      .handle("vertex", vertex)
      .handle("columns", ({ urlParams: { from, rounds = Api.standardColumns } }) =>
        Effect.zipWith(dag.stretch(Option.fromNullable(from), rounds), validatorOf, Columns.of),
      )
  }),
)
