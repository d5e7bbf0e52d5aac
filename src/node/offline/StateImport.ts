/**
 * Builds a ledger from a state file like a fast sync: it checks every signature since the genesis, every piece against
 * the root, and the supply. The ledger is built aside and then moved into place, so an interrupted import leaves the
 * directory unchanged.
 */
import { join } from "node:path"
import { FileSystem } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import { Data, Effect, Either, Layer, Option } from "effect"
import { randomBytes } from "#crypto"
import { openingOf } from "../../consensus/output/Opening.js"
import * as HalfSipHash from "../../ledger/tables/HalfSipHash.js"
import { Assembly } from "../../ledger/trie/Assembly.js"
import type { SignedCheckpoint } from "../../protocol/epoch/Checkpoint.js"
import * as Genesis from "../../protocol/epoch/Genesis.js"
import * as AtomicFile from "../../storage/files/AtomicFile.js"
import { DataDirectory, FILES } from "../../storage/files/DataDirectory.js"
import * as GenesisFile from "../../storage/files/GenesisFile.js"
import * as StateFile from "../../storage/files/StateFile.js"
import { DirectoryUnusable } from "../../storage/files/StorageError.js"
import * as Storage from "../../storage/Storage.js"
import * as Loading from "../start/Loading.js"
import { provenFrom } from "./StateExport.js"

/** The file, the directory and the genesis do not match. */
export class CannotImport extends Data.TaggedError("CannotImport")<{ readonly message: string }> {}

/** Where the ledger is built: inside the data directory, so that it can be moved. */
const ASIDE = "udg.importing"

const named = ({ networkId }: Genesis.Genesis, hash: string): string => `${networkId} (${hash})`

/** The state must belong to the named genesis and to the one in the directory, if they exist. */
const requireGenesis = (path: string, directory: DataDirectory, file: Option.Option<string>, found: Genesis.Genesis) =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const there = directory.fileOf("genesis")
    const isThere = yield* Effect.orElseSucceed(fileSystem.exists(there), () => true)
    for (const source of [...Option.toArray(file), ...(isThere ? [there] : [])]) {
      const expected = yield* GenesisFile.load(source)
      const [its, ours] = [Genesis.hash(found), Genesis.hash(expected)]
      if (its !== ours) {
        return yield* new CannotImport({
          message: `${path} is the state of ${named(found, its)}, but ${source} is ${named(expected, ours)}; name the state file of that network`,
        })
      }
    }
    return isThere
  })

/** The state's checkpoint, proven by signatures from the genesis committee on, and the proof. */
export const provenTarget = (path: string, tableKey: HalfSipHash.Key, { genesis, chain }: StateFile.Opened) =>
  Effect.gen(function* () {
    const last = chain.at(-1)
    if (last === undefined) return yield* new CannotImport({ message: `${path} holds no checkpoint` })
    const proven = provenFrom(genesis, tableKey, last)
    proven.takeAtOnce(chain)
    const target = proven.provenNewest
    if (target === undefined) {
      return yield* new CannotImport({
        message: `${path}: checkpoint ${last.checkpoint.hash} is not signed by the committee that follows from its genesis; take the file from a node you trust`,
      })
    }
    return { target, proven: proven.proven }
  })

/** The file's state, every piece checked against the root, and its ledger. Also hands every piece to `keep`. */
export const assembled = <E, R>(
  path: string,
  file: StateFile.Opened,
  tableKey: HalfSipHash.Key,
  target: SignedCheckpoint,
  keep: (piece: Uint8Array) => Effect.Effect<void, E, R>,
) =>
  Effect.gen(function* () {
    const wrong = (reason: string) => new StateFile.StateFileError({ path, reason })
    const assembly = new Assembly(target.checkpoint.stateRoot)
    for (let piece = yield* file.next; Option.isSome(piece); piece = yield* file.next) {
      const accepted = assembly.accept(piece.value)
      if (Either.isLeft(accepted)) return yield* wrong(accepted.left.message)
      yield* keep(piece.value)
    }
    const { trie, heldRecords, records = "more" } = assembly
    if (trie === undefined) return yield* wrong(`it ends after ${heldRecords} of ${records} records`)
    const ledger = yield* Loading.ledgerOf(file.genesis.protocol, tableKey, { target, trie })
    return Either.isRight(ledger) ? { trie, ledger: ledger.right } : yield* wrong(ledger.left)
  })

/** Writes the state into an empty storage, piece by piece, for a node to start from. */
const fill = (path: string, file: StateFile.Opened) =>
  Effect.gen(function* () {
    const storage = yield* Storage.Storage
    const tableKey = HalfSipHash.keyFrom(randomBytes(HalfSipHash.KEY_BYTES))
    const { target, proven } = yield* provenTarget(path, tableKey, file)
    yield* storage.joins.begin(target)
    const { trie, ledger } = yield* assembled(path, file, tableKey, target, storage.joins.add)
    const opening = openingOf(target.checkpoint, ledger.read.head.time)
    yield* storage.replaceState({ target, proven, opening })
    yield* storage.compact
    return { genesis: file.genesis, target, records: trie.records }
  })

const build = (path: string, file: StateFile.Opened, aside: string) =>
  Effect.gen(function* () {
    const directory = yield* DataDirectory.open(aside)
    const storage = Storage.layer({ location: { _tag: "Directory", directory }, genesis: file.genesis })
    return yield* Effect.provide(fill(path, file), yield* Layer.build(storage))
  }).pipe(Effect.scoped)

/** SQLite would apply a leftover log to any database placed beside it. */
const hasContent = (file: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fileSystem) =>
    fileSystem.stat(file).pipe(
      Effect.map(({ size }) => size > 0n),
      Effect.orElseSucceed(() => false),
    ),
  )

/** The directory may contain keys and a genesis, but no ledger. */
export const importFrom = (path: string, into: string, genesisFile: Option.Option<string>) =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const directory = yield* DataDirectory.open(into)
    const unusable = Effect.mapError(
      (error: PlatformError) => new DirectoryUnusable({ directory: directory.path, reason: error.message }),
    )
    const database = directory.fileOf("database")
    const log = `${database}-wal`
    if ((yield* unusable(fileSystem.exists(database))) || (yield* hasContent(log))) {
      return yield* new CannotImport({
        message: `${directory.path} holds a ledger already; name another directory, or move ${FILES.database} away with its -wal and -shm`,
      })
    }
    const file = yield* StateFile.open(path)
    const hasGenesis = yield* requireGenesis(path, directory, genesisFile, file.genesis)
    const aside = join(directory.path, ASIDE)
    const clear = fileSystem.remove(aside, { recursive: true, force: true })
    yield* Effect.acquireRelease(unusable(clear), () => Effect.ignore(clear))
    const imported = yield* build(path, file, aside)
    if (!hasGenesis) yield* GenesisFile.write(directory.fileOf("genesis"), imported.genesis)
    // An empty log of another file.
    yield* unusable(fileSystem.remove(log, { force: true }))
    yield* unusable(AtomicFile.place(join(aside, FILES.database), database))
    return imported
  }).pipe(Effect.scoped, Effect.withSpan("import", { attributes: { path } }))
