/** The network of a database. */
import { Effect, Option } from "effect"
import { fromHex } from "#crypto"
import * as Genesis from "../../protocol/epoch/Genesis.js"
import type * as Hash from "../../protocol/identity/Hash.js"
import { DatabaseDamaged, OtherGenesis, type StorageError } from "../files/StorageError.js"
import * as Column from "../sqlite/Column.js"
import type { Database } from "../sqlite/Database.js"

const genesisHashOf = (database: Database): Effect.Effect<Option.Option<Hash.Hash>, StorageError> =>
  database.first((row) => Column.hash(row, 0), "select value from meta where name = 'genesis_hash'")

/** The genesis for which the database was created; none in a new one. */
export const genesis = (database: Database): Effect.Effect<Option.Option<Genesis.Genesis>, StorageError> =>
  Effect.flatMap(
    database.first((row) => Column.bytes(row, 0), "select value from meta where name = 'genesis'"),
    Option.match({
      onNone: () => Effect.succeedNone,
      onSome: (bytes) =>
        Genesis.decode(bytes).pipe(
          Effect.mapError(({ message }) => new DatabaseDamaged({ file: database.file, finding: message })),
          Effect.asSome,
        ),
    }),
  )

/** Fails if the database belongs to another network. */
export const requireGenesis = (
  database: Database,
  expected: Hash.Hash,
): Effect.Effect<void, OtherGenesis | StorageError> =>
  Effect.flatMap(
    genesisHashOf(database),
    Option.match({
      onNone: () => Effect.void,
      onSome: (found) =>
        found === expected ? Effect.void : Effect.fail(new OtherGenesis({ file: database.file, found, expected })),
    }),
  )

/** Stores the database's network, once. */
export const keepGenesis = (database: Database, value: Genesis.Genesis): Effect.Effect<void, StorageError> =>
  Effect.flatMap(
    genesisHashOf(database),
    Option.match({
      onSome: () => Effect.void,
      onNone: () =>
        database.run((sql) => {
          sql`insert into meta (name, value) values ('genesis', ${Genesis.encode(value)})`.run()
          sql`insert into meta (name, value) values ('genesis_hash', ${fromHex(Genesis.hash(value))})`.run()
        }),
    }),
  )
