/** An archive that holds only a genesis. */
import { Effect, type Redacted } from "effect"
import { fromHex } from "#crypto"
import * as Recorded from "../../src/archive/Archive.js"
import * as Migration from "../../src/archive/Migration.js"
import * as Postgres from "../../src/archive/Postgres.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"

/** Fills a new database. */
export const begin = (url: Redacted.Redacted<string>, genesis: Genesis.Genesis): Promise<void> =>
  Effect.gen(function* () {
    const database = yield* Postgres.open(url)
    yield* Migration.run(database)
    yield* database.rows("insert into network (genesis_hash, network_id) values ($1, $2)", [
      fromHex(Genesis.hash(genesis)),
      genesis.networkId,
    ])
    yield* Recorded.append(database, [Recorded.genesisOf(genesis)], [])
  }).pipe(Effect.scoped, Effect.runPromise)
