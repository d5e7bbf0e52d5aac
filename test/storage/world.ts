/** Small values to store: a network, unsigned vertices, their commits, and a storage in a directory. */

import * as Reactivity from "@effect/experimental/Reactivity"
import { FileSystem } from "@effect/platform"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import { Effect, Layer, Option, type Scope } from "effect"
import type { YieldWrap } from "effect/Utils"
import { fromHex } from "#crypto"
import type { Opening } from "../../src/consensus/output/Opening.js"
import type { Execution } from "../../src/ledger/rules/Execution.js"
import { type Change, Changes } from "../../src/ledger/tables/Effects.js"
import * as Supply from "../../src/ledger/tables/Supply.js"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import * as Address from "../../src/protocol/identity/Address.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Keys from "../../src/protocol/identity/Keys.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as AccountRecord from "../../src/protocol/state/AccountRecord.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import * as Commit from "../../src/protocol/vertex/Commit.js"
import * as Header from "../../src/protocol/vertex/Header.js"
import * as Vertex from "../../src/protocol/vertex/Vertex.js"
import { DataDirectory } from "../../src/storage/files/DataDirectory.js"
import type { StorageError } from "../../src/storage/files/StorageError.js"
import * as Storage from "../../src/storage/Storage.js"
import * as Database from "../../src/storage/sqlite/Database.js"
import { WriterThread } from "../../src/storage/sqlite/WriterThread.js"
import type { CommitBatch } from "../../src/storage/tables/CommitBatch.js"
import type { CommitRecord } from "../../src/storage/tables/Commits.js"
import type { ExecutedTransaction, OrderedVertex } from "../../src/storage/tables/Transactions.js"
import * as Networks from "../support/Genesis.js"
import * as Stored from "../support/Stored.js"

export const networkId = "udg-storage-test" as NetworkId

const seed = (n: number): Uint8Array => {
  const bytes = new Uint8Array(32)
  new DataView(bytes.buffer).setUint32(0, n + 1)
  return bytes
}

export const key = (n: number): Keys.SecretKey => Option.getOrThrow(Keys.SecretKey.fromSeed(seed(n)))

/** The nth of many made-up addresses, which belong to no key. */
export const address = (n: number): Address.Address =>
  Hash.of("udg/address", seed(n)).slice(0, Address.BYTES * 2) as Address.Address

export const genesis = (id: NetworkId = networkId): Genesis.Genesis =>
  Networks.genesisOf({
    networkId: id,
    allocations: [{ address: address(1), amount: Sats.make(1_000) }],
    validators: [{ publicKey: key(0).publicKey, stake: Sats.MIN_STAKE_SATS, commissionPercent: 10 }],
  })

const unsigned = "0".repeat(Keys.SIGNATURE_BYTES * 2) as Keys.Signature

export const transfer = (from: number, to: number, nonce: number, memo = ""): Transaction.Transaction =>
  Transaction.make(
    networkId,
    {
      from: address(from),
      nonce: Natural.nonce(nonce),
      fee: Sats.make(1_000),
      operation: { _tag: "Transfer", to: address(to), amount: Sats.make(1), memo },
    },
    { _tag: "SingleKey", publicKey: key(0).publicKey, signature: unsigned },
  )

interface VertexParts {
  readonly epoch?: number
  readonly round: number
  readonly author?: Keys.PublicKey
  readonly timestamp?: number
  readonly transactions?: ReadonlyArray<Transaction.Transaction>
}

const author = key(0).publicKey

export const vertex = (parts: VertexParts): Vertex.Vertex => {
  const body = { ...Vertex.emptyBody, transactions: parts.transactions ?? [] }
  const content = {
    base: Genesis.hash(genesis()),
    epoch: Natural.epoch(parts.epoch ?? 1),
    round: Natural.round(parts.round),
    publicKey: parts.author ?? author,
    parents: [],
    timestamp: Natural.timestamp(parts.timestamp ?? 1_700_000_000_000 + parts.round * 500),
    coinbase: Sats.ZERO,
    bodyHash: Vertex.bodyHash(body),
  }
  return Vertex.make(
    Header.make(content, () => unsigned),
    body,
  )
}

export const commit = (index: number, parts: { epoch?: number; leaderRound?: number } = {}): CommitRecord => ({
  ...Commit.make({
    index: Natural.commitIndex(index),
    epoch: Natural.epoch(parts.epoch ?? 1),
    leaderRound: Natural.round(parts.leaderRound ?? index),
    leaderHash: Hash.of("udg/vertex-id", Uint8Array.of(index)),
    previous: Hash.of("udg/commit", Uint8Array.of(index - 1)),
  }),
  time: Natural.timestamp(1_700_000_000_000 + index * 500),
  effectsDigest: Hash.of("udg/effects", Uint8Array.of(index)),
})

/** A transaction that was applied and changed sender and recipient. */
export const applied = (transaction: Transaction.Transaction, position: number): ExecutedTransaction => ({
  transaction,
  position,
  outcome: { failure: null, proposalId: null, charged: null },
  participants: [
    ...new Set([transaction.from, ...(transaction.operation._tag === "Transfer" ? [transaction.operation.to] : [])]),
  ],
})

export const ordered = ({ header, body }: Vertex.Vertex): OrderedVertex => ({
  header,
  transactions: body.transactions.length,
  executed: body.transactions.map(applied),
})

export const account = (n: number, balance: number, nonce = 0): Change => ({
  kind: "Account",
  key: fromHex(address(n)),
  value: AccountRecord.encode({
    ...AccountRecord.empty,
    balance: Sats.make(balance),
    nonce: Natural.nonce(nonce),
  }),
})

export const proposalRecord = (id: number, value: Uint8Array | null): Change => ({
  kind: "Proposal",
  key: Binary.encode((writer) => writer.hex(id.toString(16).padStart(16, "0"))),
  value,
})

export const batch = (index: number, parts: Partial<CommitBatch> = {}): CommitBatch => ({
  commit: commit(index),
  changes: [],
  vertices: [],
  postings: [],
  settled: [],
  ...parts,
})

export const checkpoint = (round: number, parts: Partial<Checkpoint.Content> = {}): Checkpoint.Checkpoint =>
  Checkpoint.make({
    epoch: Natural.epoch(1),
    round: Natural.round(round),
    commitIndex: Natural.commitIndex(round),
    commitHash: commit(round).hash,
    effectsDigest: commit(round).effectsDigest,
    stateRoot: Hash.ZERO,
    totalSupply: Sats.make(1_000),
    nextEpoch: null,
    previous: Genesis.hash(genesis()),
    ...parts,
  })

const first: Opening = Stored.ofGenesis(genesis()).current.opening

/** The opening of an epoch with the committee of the genesis. */
export const opening = (epoch: number): Opening => ({
  ...first,
  base: Hash.of("udg/checkpoint-id", Uint8Array.of(epoch)),
  record: { ...first.record, epoch: Natural.epoch(epoch), firstRound: Natural.round(epoch * 240 + 1) },
  position: { ...first.position, leaderRound: Natural.round(epoch * 240) },
})

/** A file with its own writer thread. */
export const open = (options: Database.Options): Effect.Effect<Database.Database, StorageError, Scope.Scope> =>
  Effect.flatMap(WriterThread.make, (thread) => Database.open(options, thread))

export const temporaryDirectory = Effect.flatMap(FileSystem.FileSystem, (fileSystem) =>
  fileSystem.makeTempDirectoryScoped({ prefix: "udg-storage-" }),
)

/** Opens the storage of a directory, uses it, and closes it. */
export const inDirectory = <A, E, R>(
  path: string,
  use: (storage: Storage.Storage["Type"]) => Effect.Effect<A, E, R>,
  of: Genesis.Genesis = genesis(),
) =>
  Effect.scoped(
    Effect.gen(function* () {
      const directory = yield* DataDirectory.open(path)
      const context = yield* Layer.build(Storage.layer({ location: { _tag: "Directory", directory }, genesis: of }))
      return yield* Effect.flatMap(Storage.Storage, use).pipe(Effect.provide(context))
    }),
  )

/** The same in steps. */
export const within = <Step extends YieldWrap<Effect.Effect<unknown, unknown, unknown>>, A>(
  path: string,
  use: (storage: Storage.Storage["Type"]) => Generator<Step, A, never>,
) => inDirectory(path, (storage) => Effect.gen(() => use(storage)))

export const inMemory = <A, E, R>(use: (storage: Storage.Storage["Type"]) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(Storage.Storage, use).pipe(
    Effect.provide(Storage.layer({ location: { _tag: "Ephemeral" }, genesis: genesis() })),
  )

export const platform = NodeContext.layer

/** Changes a file like an operator with the `sqlite3` shell. */
export const withSqlite = <A, E>(file: string, use: (sql: SqliteClient.SqliteClient) => Effect.Effect<A, E>) =>
  Effect.scoped(Effect.flatMap(SqliteClient.make({ filename: file, disableWAL: true }), use)).pipe(
    Effect.provide(Reactivity.layer),
  )

export const sqlite = (file: string, statement: string) => withSqlite(file, (sql) => sql.unsafe(statement).values)

/** Prints a line for the parent process. */
export const print = (line: string) => Effect.sync(() => process.stdout.write(`${line}\n`))

export const inserted = (vertices: ReadonlyArray<Vertex.Vertex>): ReadonlyArray<Storage.Entry> =>
  vertices.map((vertex) => ({ _tag: "Inserted", vertex }))

/** The execution of a commit without changes. */
export const execution = (index: number): Execution => {
  const { time, effectsDigest, ...made } = commit(index)
  const nothing = { vertices: [], events: [], postings: [], changes: new Changes(0, new Uint8Array(0)) }
  return {
    ...{ commit: made, time, effectsDigest, ...nothing },
    totals: { ...Supply.zero, treasury: Sats.make(1_000), total: Sats.make(1_000) },
    ...{ isCheckpointDue: false, nextEpoch: null },
  }
}
