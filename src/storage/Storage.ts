/**
 * Everything that outlives the process. Each commit is one database transaction, so after any crash the files hold
 * exactly the state of some commit. A vertex signed here is on disk before any peer has it.
 */
import type { FileSystem } from "@effect/platform"
import type { SqlError } from "@effect/sql"
import { Context, Effect, Layer, Option, type Scope } from "effect"
import type { Opening } from "../consensus/output/Opening.js"
import * as Genesis from "../protocol/epoch/Genesis.js"
import type { Address } from "../protocol/identity/Address.js"
import type { NetworkId } from "../protocol/identity/Network.js"
import type { Vertex } from "../protocol/vertex/Vertex.js"
import * as Backup from "./Backup.js"
import type { DataDirectory } from "./files/DataDirectory.js"
import type { OlderSchema, OpenError } from "./files/StorageError.js"
import * as Integrity from "./Integrity.js"
import * as NodeSchema from "./schema/Node.js"
import * as SignedSchema from "./schema/Signed.js"
import * as Database from "./sqlite/Database.js"
import type { Sql } from "./sqlite/Sql.js"
import { WriterThread } from "./sqlite/WriterThread.js"
import * as Accounts from "./tables/Accounts.js"
import * as Checkpoints from "./tables/Checkpoints.js"
import * as ClosedStates from "./tables/ClosedStates.js"
import * as CommitBatch from "./tables/CommitBatch.js"
import * as Commits from "./tables/Commits.js"
import * as Epochs from "./tables/Epochs.js"
import * as Joins from "./tables/Joins.js"
import * as Meta from "./tables/Meta.js"
import * as PendingTransactions from "./tables/PendingTransactions.js"
import * as Records from "./tables/Records.js"
import * as SignedVertices from "./tables/SignedVertices.js"
import * as Statements from "./tables/Statements.js"
import * as StateReplacement from "./tables/StateReplacement.js"
import * as SupplyCount from "./tables/SupplyCount.js"
import * as Transactions from "./tables/Transactions.js"
import * as Vertices from "./tables/Vertices.js"

/** Where the data is stored. The value for a directory holds its lock. */
export type Location =
  | {
      readonly _tag: "Directory"
      readonly directory: DataDirectory
      /** Nothing waits for the disk; for data that is not needed after a power cut. */
      readonly isTemporary?: boolean
    }
  /** In memory, until the process ends. */
  | { readonly _tag: "Ephemeral" }

export interface Options {
  readonly location: Location
  /** The network of all the data. */
  readonly genesis: Genesis.Genesis
}

interface Kept {
  readonly node: Database.Database
  readonly signed: Database.Database
}

const openFile = (
  options: Database.Options,
  thread: WriterThread,
  genesis: Genesis.Genesis,
): Effect.Effect<Database.Database, OpenError, FileSystem.FileSystem | Scope.Scope> =>
  Effect.gen(function* () {
    const database = yield* Database.open(options, thread)
    yield* Meta.keepGenesis(database, genesis)
    return database
  })

/** A round adds one vertex, usually small, and a row in each of three indexes. */
const SIGNED_PAGE_BYTES = 1_024

/** Checks both files before it changes either. */
const openFiles = (
  { directory, isTemporary = false }: Extract<Location, { readonly _tag: "Directory" }>,
  genesis: Genesis.Genesis,
): Effect.Effect<Kept, OpenError, FileSystem.FileSystem | Scope.Scope> =>
  Effect.gen(function* () {
    const [database, own] = [directory.fileOf("database"), directory.fileOf("signed")]
    const [forNode, forSigned] = isTemporary ? (["none", "none"] as const) : (["process", "power"] as const)
    const node = { file: database, durability: forNode, migrations: NodeSchema.migrations }
    const signed = {
      ...{ file: own, durability: forSigned, pageBytes: SIGNED_PAGE_BYTES },
      migrations: SignedSchema.migrations,
    }
    const expected = Genesis.hash(genesis)
    // Starts while the files are checked.
    const thread = yield* WriterThread.make
    const version = yield* Integrity.check(database, NodeSchema.migrations, expected)
    yield* Integrity.check(own, SignedSchema.migrations, expected)
    yield* Backup.beforeMigration(database, version, NodeSchema.migrations)
    return { node: yield* openFile(node, thread, genesis), signed: yield* openFile(signed, thread, genesis) }
  })

/** Opens both files read-only and creates nothing: a directory without `signed.db` is a copy and stays one. */
const openFilesToRead = (
  directory: DataDirectory,
  genesis: Genesis.Genesis,
): Effect.Effect<Kept, OpenError | OlderSchema, FileSystem.FileSystem | Scope.Scope> =>
  Effect.gen(function* () {
    const expected = Genesis.hash(genesis)
    const signed = directory.fileOf("signed")
    return {
      node: yield* Integrity.openChecked(directory.fileOf("database"), NodeSchema.migrations, expected),
      signed: (yield* Integrity.isNew(signed))
        ? yield* Database.openInMemory(SignedSchema.migrations)
        : yield* Integrity.openChecked(signed, SignedSchema.migrations, expected),
    }
  })

const openMemory = (genesis: Genesis.Genesis): Effect.Effect<Kept, OpenError, Scope.Scope> =>
  Effect.gen(function* () {
    const node = yield* Database.openInMemory(NodeSchema.migrations)
    yield* Meta.keepGenesis(node, genesis)
    return { node, signed: yield* Database.openInMemory(SignedSchema.migrations) }
  })

/** What a round adds: a vertex that entered the DAG, or a commit. */
export type Entry =
  | { readonly _tag: "Inserted"; readonly vertex: Vertex }
  | { readonly _tag: "Commit"; readonly batch: CommitBatch.CommitBatch }

/** Writes the entries in order. */
const write = (sql: Sql, entries: ReadonlyArray<Entry>): Effect.Effect<void, SqlError.SqlError> =>
  Effect.forEach(
    entries,
    (entry) => {
      if (entry._tag === "Inserted") return Effect.sync(() => Vertices.insert(sql, entry.vertex))
      const { index, leaderRound } = entry.batch.commit
      const attributes = { commit: index, round: leaderRound }
      return Effect.withSpan(CommitBatch.write(sql, entry.batch), "commit", { attributes, captureStackTrace: false })
    },
    { discard: true },
  )

const make = ({ node, signed }: Kept, networkId: NetworkId, file: string | null) => {
  const signedVertices = SignedVertices.make(signed)
  const append = (entries: ReadonlyArray<Entry>) => node.write((sql) => write(sql, entries))
  return {
    accounts: Accounts.make(node),
    records: Records.make(node),
    commits: Commits.make(node),
    vertices: Vertices.make(node),
    transactions: Transactions.make(node, networkId),
    statements: Statements.make(node, networkId),
    checkpoints: Checkpoints.make(node),
    epochs: Epochs.make(node),
    closedStates: ClosedStates.make(node),
    joins: Joins.make(node),
    pending: PendingTransactions.make(node),
    signed: signedVertices,
    /** Counts the supply in the file again in its own thread; none if there is no file. */
    supply: Option.map(Option.fromNullable(file), SupplyCount.of),
    /** Appends vertices, and commits with their changes, record and transactions, in one transaction. */
    append,
    /** Starts a network with commit 0 and the epoch that it opens, in one transaction. */
    begin: (batch: CommitBatch.CommitBatch, opening: Opening) =>
      node.write((sql) => Effect.map(CommitBatch.write(sql, batch), () => Epochs.insert(sql, opening))),
    /**
     * Replaces the state by a fetched one, from which the epoch continues, in one transaction. On disk when it returns.
     */
    replaceState: (replacement: StateReplacement.Replacement) =>
      Effect.withSpan(
        node.writeSynced((sql) => StateReplacement.write(sql, replacement)),
        "join",
      ),
    /**
     * Returns once a vertex signed here and everything that it can reference is on disk; only then may a peer have it.
     * With null `companions`, that data is in the ledger's file, which is synced. `before` still has to be written
     * there.
     */
    keepOwn: (vertex: Vertex, companions: ReadonlyArray<Vertex> | null, before: ReadonlyArray<Entry> = []) =>
      Effect.gen(function* () {
        if (before.length > 0) yield* append(before)
        if (companions === null) yield* node.writeSynced(() => Effect.void)
        yield* signedVertices.keep(vertex, companions)
      }),
    /** The same for a vertex that will be signed elsewhere. */
    keepIntent: (vertex: Vertex, companions: ReadonlyArray<Vertex> | null, before: ReadonlyArray<Entry> = []) =>
      Effect.gen(function* () {
        if (before.length > 0) yield* append(before)
        if (companions === null) yield* node.writeSynced(() => Effect.void)
        yield* signedVertices.keepIntent(vertex, companions)
      }),
    /** Returns the space of pruned rows to the disk; for a node without other work. */
    compact: node.compact,
  }
}

export class Storage extends Context.Tag("udg/Storage")<Storage, ReturnType<typeof make>>() {}

/** Opens or creates the files, and closes them with the scope. */
export const layer = ({ location, genesis }: Options): Layer.Layer<Storage, OpenError, FileSystem.FileSystem> =>
  Layer.scoped(
    Storage,
    Effect.map(location._tag === "Directory" ? openFiles(location, genesis) : openMemory(genesis), (kept) =>
      make(kept, genesis.networkId, location._tag === "Directory" ? location.directory.fileOf("database") : null),
    ),
  )

/** Opens the files read-only: every write fails. */
export const layerToRead = (
  directory: DataDirectory,
  genesis: Genesis.Genesis,
): Layer.Layer<Storage, OpenError | OlderSchema, FileSystem.FileSystem> =>
  Layer.scoped(
    Storage,
    Effect.map(openFilesToRead(directory, genesis), (kept) =>
      make(kept, genesis.networkId, directory.fileOf("database")),
    ),
  )

/** The key under which a validator has a seat, as far as a directory's database knows. `held` is any of its keys. */
export const seatKeyOf = (
  directory: DataDirectory,
  held: Address,
): Effect.Effect<Option.Option<Address>, OpenError, FileSystem.FileSystem> =>
  Integrity.seatKeyOf(directory.fileOf("database"), NodeSchema.migrations, held)

/** The genesis in a directory's database, for when its file is missing. */
export const genesisOf = (
  directory: DataDirectory,
): Effect.Effect<Option.Option<Genesis.Genesis>, OpenError, FileSystem.FileSystem> =>
  Integrity.genesisOf(directory.fileOf("database"), NodeSchema.migrations)
