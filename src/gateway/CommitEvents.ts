/** The interface's events for commits, from the archive. */
import { Effect, Either, Schema } from "effect"
import type { DatabaseFailed } from "../archive/ArchiveError.js"
import type { Row, Statements } from "../archive/Postgres.js"
import type { ValidatorOf } from "../node/reads/State.js"
import * as Natural from "../protocol/numbers/Natural.js"
import * as Vertex from "../protocol/vertex/Vertex.js"
import { TransactionType } from "../rpc/api/Core.js"
import type { Event } from "../rpc/api/Events.js"
import * as PublicEvents from "../rpc/handlers/PublicEvents.js"
import * as Column from "./Column.js"

export interface CommitEvents {
  readonly index: number
  readonly leaderRound: Natural.Round
  /** Every vertex in order, with its transactions that had an effect. */
  readonly events: ReadonlyArray<Event>
}

const VERTICES = `select v.commit_index, c.leader_round, v.position, substring(v.bytes for ${Vertex.HEAD_BYTES})
  from commits c join vertices v on v.commit_index = c.commit_index
  where c.commit_index between $1 and $2 order by v.commit_index, v.position`

const TRANSACTIONS = `select commit_index, vertex_position, hash, type, sender, recipient, failure is null
  from transactions where commit_index between $1 and $2 order by commit_index, sequence`

const typeIn = Schema.decodeUnknownSync(TransactionType)

const transactionOf = (row: Row): Event =>
  PublicEvents.transaction({
    hash: Column.hash(row, 2),
    transaction_type: typeIn(row[3]),
    from: Column.address(row, 4),
    to: Column.nullable(row, 5, Column.address) ?? undefined,
    applied: row[6] === true,
  })

const vertexOf = (row: Row, validatorOf: ValidatorOf): Event => {
  const { header, transactionCount } = Either.getOrThrow(Vertex.decodeHead(Column.bytes(row, 3)))
  return PublicEvents.vertex(header, transactionCount, validatorOf)
}

/** For the commits in this range that exist. */
export const read = (
  { rows }: Statements,
  first: number,
  last: number,
  validatorOf: ValidatorOf,
): Effect.Effect<ReadonlyArray<CommitEvents>, DatabaseFailed> =>
  Effect.gen(function* () {
    const vertices = yield* rows(VERTICES, [first, last])
    const transactions = (yield* rows(TRANSACTIONS, [first, last])).values()
    let transaction = transactions.next()
    /** Both lists are in order of execution, so a vertex's transactions come next. */
    const inVertex = (commit: number, position: number): ReadonlyArray<Event> => {
      const events: Array<Event> = []
      const isHere = (row: Row) => Column.integer(row, 0) === commit && Column.integer(row, 1) === position
      for (; !transaction.done && isHere(transaction.value); transaction = transactions.next())
        events.push(transactionOf(transaction.value))
      return events
    }
    const commits = new Map<number, { readonly leaderRound: Natural.Round; readonly events: Array<Event> }>()
    for (const row of vertices) {
      const index = Column.integer(row, 0)
      const commit = commits.get(index) ?? { leaderRound: Natural.round(Column.integer(row, 1)), events: [] }
      commits.set(index, commit)
      commit.events.push(vertexOf(row, validatorOf), ...inVertex(index, Column.integer(row, 2)))
    }
    return [...commits].map(([index, commit]) => ({ index, ...commit }))
  })
