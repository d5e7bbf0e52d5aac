/**
 * Everything that outlives the process. Each commit is written in one transaction, so after any crash the files hold
 * exactly the state of some commit. Every vertex this validator signs is on disk before any peer has it.
 */
import type { FileSystem } from "@effect/platform"
import type { SqlError } from "@effect/sql"
import { Context, Effect, Layer, Option, type Scope } from "effect"
import type { Opening } from "../consensus/output/Opening.js"
import * as Genesis from "../protocol/epoch/Genesis.js"
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

/** Where the data is stored. A value of the directory kind holds its lock. */
export type Location =
  | {
      readonly _tag: "Directory"
      readonly directory: DataDirectory
      /** Nothing waits for the disk, for data that nobody needs after a power cut. */
      readonly isTemporary?: boolean
    }
  /** In memory, gone with the process. */
  | { readonly _tag: "Ephemeral" }

export interface Options {
  readonly location: Location
  /** The network everything belongs to. */
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

/** A round adds one vertex, which is small unless there is much to do, and a row to each of three indexes. */
const SIGNED_PAGE_BYTES = 1_024

/** Both files are checked before either is touched. */
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
    // It starts while the files are checked.
    const thread = yield* WriterThread.make
    const version = yield* Integrity.check(database, NodeSchema.migrations, expected)
    yield* Integrity.check(own, SignedSchema.migrations, expected)
    yield* Backup.beforeMigration(database, version, NodeSchema.migrations)
    return { node: yield* openFile(node, thread, genesis), signed: yield* openFile(signed, thread, genesis) }
  })

/** Opens both read-only and creates nothing: a directory without `signed.db` is a copy, and stays one. */
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

/** A vertex that has entered the DAG, or a commit: what each round adds. */
export type Entry =
  | { readonly _tag: "Inserted"; readonly vertex: Vertex }
  | { readonly _tag: "Commit"; readonly batch: CommitBatch.CommitBatch }

/** The statements of these entries, in their order. */
const write = (sql: Sql, entries: ReadonlyArray<Entry>): Effect.Effect<void, SqlError.SqlError> =>
  Effect.forEach(
    entries,
    (entry) => {
      if (entry._tag === "Inserted") return Effect.sync(() => Vertices.insert(sql, entry.vertex))
      const { index, leaderRound } = entry.batch.commit
      const attributes = { commit: index, round: leaderRound }
      return Effect.withSpan(CommitBatch.write(sql, entry.batch), "commit", { attributes })
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
    /** The supply in the file, counted again in a thread of its own; none where there is no file. */
    supply: Option.map(Option.fromNullable(file), SupplyCount.of),
    /** Vertices, and commits each with its changes, its record and its transactions: all or nothing. */
    append,
    /** Starts a network: commit 0 and the epoch it opens, all or nothing. */
    begin: (batch: CommitBatch.CommitBatch, opening: Opening) =>
      node.write((sql) => Effect.map(CommitBatch.write(sql, batch), () => Epochs.insert(sql, opening))),
    /** Replaces this state by the fetched one, from which the epoch continues: all or nothing. On disk when it returns. */
    replaceState: (replacement: StateReplacement.Replacement) =>
      Effect.withSpan(
        node.writeSynced((sql) => StateReplacement.write(sql, replacement)),
        "join",
      ),
    /**
     * Returns when a vertex signed here and everything that it may name is on disk: only then may a peer have it. Without
     * `companions` that is in the ledger's file, which is synced. `before`: what is still to be written there.
     */
    keepOwn: (vertex: Vertex, companions: ReadonlyArray<Vertex> | null, before: ReadonlyArray<Entry> = []) =>
      Effect.gen(function* () {
        if (before.length > 0) yield* append(before)
        if (companions === null) yield* node.writeSynced(() => Effect.void)
        yield* signedVertices.keep(vertex, companions)
      }),
    /** The same for a vertex that is to be signed elsewhere. */
    keepIntent: (vertex: Vertex, companions: ReadonlyArray<Vertex> | null, before: ReadonlyArray<Entry> = []) =>
      Effect.gen(function* () {
        if (before.length > 0) yield* append(before)
        if (companions === null) yield* node.writeSynced(() => Effect.void)
        yield* signedVertices.keepIntent(vertex, companions)
      }),
    /** Returns the space of pruned rows to the disk; for a node that does nothing else meanwhile. */
    compact: node.compact,
  }
}

export class Storage extends Context.Tag("udg/Storage")<Storage, ReturnType<typeof make>>() {}

/** Opens the files or creates them, and closes them with the scope. */
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

/** The genesis of a directory that has a database, for when its file is gone. */
export const genesisOf = (
  directory: DataDirectory,
): Effect.Effect<Option.Option<Genesis.Genesis>, OpenError, FileSystem.FileSystem> =>
  Integrity.genesisOf(directory.fileOf("database"), NodeSchema.migrations)
