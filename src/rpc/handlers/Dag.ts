import { Effect, Option } from "effect"
import { Dag, type KnownRound, type KnownVertex, type RoundNotFound } from "../../node/reads/Dag.js"
import * as Hash from "../../protocol/identity/Hash.js"
import * as Api from "../api/Dag.js"
import * as Failure from "../api/Failure.js"
import * as Answer from "../server/Answer.js"
import type * as Handlers from "../server/Handlers.js"
import * as Columns from "./DagColumns.js"
import * as Unreadable from "./Unreadable.js"

const roundOf = ({ round, finalizedAt, isFinalized, vertices }: KnownRound): typeof Api.Round.Type => ({
  round,
  timestamp: finalizedAt,
  finalized: isFinalized,
  vertices: vertices.map(({ header, transactionCount }) => ({
    hash: header.hash,
    validator: header.author,
    reward: header.coinbase,
    tx_count: transactionCount,
    parent_count: header.parents.length,
  })),
})

const vertexOf = ({ vertex: { header, body }, outcomes }: KnownVertex): typeof Api.Vertex.Type => ({
  hash: header.hash,
  round: header.round,
  validator: header.author,
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

const notFound = ({ round, because }: RoundNotFound): Failure.RoundNotFound =>
  because === "pruned"
    ? new Failure.RoundNotFound({ message: `round ${round} is pruned on this node`, reason: "pruned" })
    : new Failure.RoundNotFound({ message: `round ${round} is not reached yet`, reason: "not_reached" })

/** Rounds and vertices, wherever they are kept. */
export const reads = (dag: Pick<typeof Dag.Service, "round" | "vertex">) =>
  ({
    round: ({ path }) =>
      dag.round(path.round).pipe(
        Effect.map(roundOf),
        Effect.mapError((error) => (error._tag === "RoundNotFound" ? notFound(error) : error)),
        Unreadable.asDefect,
      ),
    vertex: ({ path }) =>
      dag.vertex(path.hash).pipe(
        // Once it is ordered, nothing about it changes any more.
        Effect.map((known) => (known.outcomes !== null ? Answer.forever(vertexOf(known)) : vertexOf(known))),
        Effect.catchTag("VertexNotFound", ({ hash }) =>
          Effect.fail(new Failure.VertexNotFound({ message: `no vertex ${Hash.short(hash)} on this node` })),
        ),
        Unreadable.asDefect,
      ),
  }) satisfies Partial<Handlers.Of<"dag">>

export const handlers = Effect.gen(function* () {
  const dag = yield* Dag

  return {
    ...reads(dag),
    columns: ({ query }) =>
      dag.stretch(Option.fromNullable(query.from), query.rounds ?? Api.standardColumns).pipe(
        Effect.map(Columns.of),
        Effect.mapError((error) => (error._tag === "RoundNotFound" ? notFound(error) : error)),
        Unreadable.asDefect,
      ),
  } satisfies Handlers.Of<"dag">
})
