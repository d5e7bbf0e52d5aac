/** Final rounds, vertices and checkpoints, from the archive. */
import { Effect, Either, Option } from "effect"
import { fromHex } from "#crypto"
import type { Row } from "../archive/Postgres.js"
import { type KnownVertex, type Outcome, RoundNotFound, VertexNotFound } from "../node/reads/Dag.js"
import * as Checkpoint from "../protocol/epoch/Checkpoint.js"
import type { NetworkId } from "../protocol/identity/Network.js"
import * as Natural from "../protocol/numbers/Natural.js"
import * as Vertex from "../protocol/vertex/Vertex.js"
import type * as Checkpoints from "../rpc/handlers/Checkpoints.js"
import type * as Dag from "../rpc/handlers/Dag.js"
import { Archive } from "./Archive.js"
import * as Column from "./Column.js"

/** Reads only the beginnings of vertices: the bodies of a full round are a hundred megabytes. */
export const ROUND = `select substring(v.bytes for ${Vertex.HEAD_BYTES}), (extract(epoch from c.time) * 1000)::bigint
  from vertices v join commits c using (commit_index) where v.round = $1 order by v.commit_index, v.position`

const headOf = (row: Row) => ({
  ...Either.getOrThrow(Vertex.decodeHead(Column.bytes(row, 0))),
  isFinalized: true,
})

const outcomesOf = (vertex: Vertex.Vertex, executed: ReadonlyArray<Row>): ReadonlyArray<Outcome> => {
  const outcomes = vertex.body.transactions.map((): Outcome => "no effect")
  for (const row of executed) outcomes[Column.integer(row, 0)] = row[1] === null ? "applied" : "failed"
  return outcomes
}

/** Only vertices that a commit ordered; only nodes have the others. */
export const dag = (networkId: NetworkId): Effect.Effect<Dag.Kept, never, Archive> =>
  Effect.map(Archive, (archive) => ({
    round: (round) =>
      Effect.gen(function* () {
        const rows = yield* archive.read(({ rows }) => rows(ROUND, [round]))
        const finalizedRound = archive.finalizedRound()
        if (rows.length === 0 && round > finalizedRound)
          return yield* new RoundNotFound({ round, because: "not reached" })
        const times = rows.map((row) => Column.integer(row, 1))
        return {
          round,
          isFinalized: round <= finalizedRound,
          finalizedAt: times.length === 0 ? null : Natural.timestamp(Math.max(...times)),
          vertices: rows.map(headOf),
        }
      }),
    vertex: (hash) =>
      Effect.gen(function* () {
        const found = yield* archive.snapshot(({ rows }) =>
          Effect.gen(function* () {
            const [row] = yield* rows("select bytes, commit_index, position from vertices where hash = $1", [
              fromHex(hash),
            ])
            if (row === undefined) return Option.none()
            const vertex = Either.getOrThrow(Vertex.decode(networkId, Column.bytes(row, 0)))
            const executed = yield* rows(
              "select position, failure from transactions where commit_index = $1 and vertex_position = $2",
              [Column.integer(row, 1), Column.integer(row, 2)],
            )
            return Option.some<KnownVertex>({ vertex, outcomes: outcomesOf(vertex, executed) })
          }),
        )
        return Option.isSome(found) ? found.value : yield* new VertexNotFound({ hash })
      }),
  }))

const listed = (which: string): string => `select k.signed,
    (select (extract(epoch from c.time) * 1000)::bigint from commits c where c.leader_round = k.round limit 1)
  from checkpoints k where k.round < $1${which} order by k.round desc limit $2`

export const LISTED = listed("")
export const CLOSING = listed(" and k.is_closing")

/** Every checkpoint signed by a quorum. */
export const checkpoints: Effect.Effect<Checkpoints.Kept, never, Archive> = Effect.map(Archive, (archive) => {
  const signedIn = (row: Row) => Either.getOrThrow(Checkpoint.decodeSigned(Column.bytes(row, 0)))
  const found = (where: string, ...values: ReadonlyArray<number | Uint8Array>) =>
    Effect.map(
      archive.read(({ rows }) => rows(`select signed from checkpoints ${where}`, values)),
      ([row]) => Option.map(Option.fromNullable(row), (row) => ({ ...signedIn(row), hasQuorum: true })),
    )
  return {
    before: (round, limit, isClosing) =>
      Effect.map(
        archive.read(({ rows }) => rows(isClosing ? CLOSING : LISTED, [round, limit])),
        (all) =>
          all.map((row) => ({
            signed: signedIn(row),
            time: Column.nullable(row, 1, (row, i) => Natural.timestamp(Column.integer(row, i))),
          })),
      ),
    latest: found("order by round desc limit 1"),
    at: (round) => found("where round = $1", round),
    byHash: (hash) => found("where hash = $1 limit 1", fromHex(hash)),
    closing: (epoch) => found("where is_closing and epoch = $1 limit 1", epoch),
  }
})
