/** A data directory left by a program that knew the first four versions of the schema. */
import { Effect } from "effect"
import { fromHex } from "#crypto"
import type { Transaction } from "../../src/protocol/transaction/Transaction.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import * as NodeSchema from "../../src/storage/schema/Node.js"
import type { Sql } from "../../src/storage/sqlite/Sql.js"
import * as Commits from "../../src/storage/tables/Commits.js"
import * as Meta from "../../src/storage/tables/Meta.js"
import { given } from "./withStorage.js"
import * as world from "./world.js"

const address = (n: number) => fromHex(world.address(n))

export const VERSION = 4

/** Version 4 of the schema has one row per transaction and stores vertices whole. */
const write = (sql: Sql, index: number, { header, body, encoded }: Vertex, from: number): void => {
  Commits.append(sql, world.commit(index), 1)
  const hash = fromHex(header.hash)
  const author = fromHex(header.author)
  sql`insert into vertices (hash, epoch, round, author, timestamp, commit_index, position)
    values (${hash}, ${header.epoch}, ${header.round}, ${author}, ${header.timestamp}, ${index}, 0)`.run()
  sql`insert into vertex_bytes (vertex_id, bytes) select id, ${encoded} from vertices where hash = ${hash}`.run()
  sql`insert into transaction_vertices (id, hash, round, author, timestamp, commit_index, first_sequence)
    values (${index}, ${hash}, ${header.round}, ${author}, ${header.timestamp}, ${index}, ${from})`.run()
  for (const [position, { id, encoded }] of body.transactions.entries()) {
    const failure = position === 0 ? "NonceTooLow" : null
    sql`insert into transactions (hash, vertex_id, position, type, failure, failure_reason, bytes)
      values (${fromHex(id)}, ${index}, ${position}, 1, ${failure}, ${failure && "5 expected"}, ${encoded})`.run()
    for (const n of [1, 2]) {
      sql`insert into account_history (address, sequence) values (${address(n)}, ${from + position})`.run()
    }
  }
}

export const EACH = 3
const vertexOf = (round: number): Vertex =>
  world.vertex({ round, transactions: Array.from({ length: EACH }, (_, n) => world.transfer(1, 2, round * EACH + n)) })
export const [first, second, third] = [vertexOf(1), vertexOf(2), vertexOf(3)]
export const transactionsOf = (...vertices: ReadonlyArray<Vertex>): ReadonlyArray<Transaction> =>
  vertices.flatMap(({ body }) => body.transactions)

/** A directory with a version 4 database of two commits. */
export const directory = Effect.gen(function* () {
  const path = yield* world.temporaryDirectory
  const options = {
    file: `${path}/udg.db`,
    durability: "process",
    migrations: NodeSchema.migrations.slice(0, VERSION),
  } as const
  yield* Effect.scoped(
    Effect.gen(function* () {
      const database = yield* world.open(options)
      yield* Meta.keepGenesis(database, world.genesis())
      yield* database.run((sql) => {
        write(sql, 1, first, 1)
        write(sql, 2, second, 1 + EACH)
      })
    }),
  )
  return path
})

export const withFourthVersion = given(directory)
