/** A signer: validators' keys with a record of what they have signed, in its own directory, behind a port. */
import type { FileSystem } from "@effect/platform"
import { Data, Deferred, Effect, Either, Option, Queue, Runtime, type Scope } from "effect"
import { nodeClock } from "../network/tls/NodeClock.js"
import * as NodeProof from "../network/tls/NodeProof.js"
import * as Genesis from "../protocol/epoch/Genesis.js"
import type * as Keys from "../protocol/identity/Keys.js"
import type { PeerId } from "../replica/messages/Peer.js"
import { DataDirectory, type NotOpened } from "../storage/files/DataDirectory.js"
import * as KeyFile from "../storage/files/KeyFile.js"
import type { KeyFileError } from "../storage/files/OwnFile.js"
import type { OpenError, StorageError } from "../storage/files/StorageError.js"
import * as Integrity from "../storage/Integrity.js"
import * as SignerSchema from "../storage/schema/Signer.js"
import * as Database from "../storage/sqlite/Database.js"
import { WriterThread } from "../storage/sqlite/WriterThread.js"
import * as Meta from "../storage/tables/Meta.js"
import { type Event, Listener } from "./Listener.js"
import * as SigningKeys from "./SigningKeys.js"

export interface Opened {
  /** The signer's identity, which nodes specify with its address. */
  readonly identity: Keys.SecretKey
  readonly keys: SigningKeys.SigningKeys
}

export type OpenFailed = NotOpened | OpenError | KeyFileError

/** Locks the directory until the scope ends. A new one has no record of any key. */
export const open = (
  path: string,
  genesis: Genesis.Genesis,
): Effect.Effect<Opened, OpenFailed, FileSystem.FileSystem | Scope.Scope> =>
  Effect.gen(function* () {
    const directory = yield* DataDirectory.open(path)
    const file = directory.fileOf("signer")
    const { migrations } = SignerSchema
    yield* Integrity.check(file, migrations, Genesis.hash(genesis))
    const thread = yield* WriterThread.make
    const database = yield* Database.open({ file, durability: "power", migrations }, thread)
    yield* Meta.keepGenesis(database, genesis)
    const identity = yield* KeyFile.loadOrCreate(directory.fileOf("signerKey"))
    return { identity, keys: SigningKeys.make(database, Genesis.hash(genesis)) }
  })

/** The validator's key for each node on the list. */
export interface Served {
  readonly node: PeerId
  readonly signer: Keys.Signer
}

export interface Options extends Opened {
  readonly genesis: Genesis.Genesis
  readonly served: ReadonlyArray<Served>
  readonly listen: { readonly host: string; readonly port: number }
}

/** The signer cannot listen at the configured address. */
export class NoPort extends Data.TaggedError("NoPort")<{
  readonly host: string
  readonly port: number
  readonly reason: string
}> {
  override get message(): string {
    return `cannot listen for nodes on ${this.host} port ${this.port}: ${this.reason}; give another --host or --port`
  }
}

export interface Serving {
  readonly port: number
  /** The KEY before the @, as nodes specify it. */
  readonly id: PeerId
  /** Ends only if the disk refuses a write. */
  readonly failed: Effect.Effect<never, StorageError>
}

const inWords = (event: Event): Effect.Effect<void> => {
  const { node, address } = event
  switch (event._tag) {
    case "Connected":
      return Effect.annotateLogs(Effect.logInfo("a node is connected"), { node, address })
    case "Disconnected":
      return Effect.annotateLogs(Effect.logWarning("a node is disconnected"), { node, address })
    case "NotServed":
      return Effect.annotateLogs(Effect.logWarning("a node is not served"), { node, address, reason: event.reason })
  }
}

/** A refusal means that two nodes ask, or one that was restored or compromised, so an operator has to know. */
const refused = (node: PeerId, reason: string) =>
  Effect.annotateLogs(Effect.logWarning("a statement is not signed"), { node, reason })

/** Log lines that can wait. Beyond that, a flood is not logged. */
const LINES = 256

export const serve = (options: Options): Effect.Effect<Serving, NoPort, Scope.Scope> =>
  Effect.gen(function* () {
    const { identity, keys, genesis, served, listen } = options
    const signers = new Map(served.map(({ node, signer }) => [node, signer]))
    const fork = Runtime.runFork(yield* Effect.runtime<never>())
    const failure = yield* Deferred.make<never, StorageError>()
    const lines = yield* Queue.dropping<Effect.Effect<void>>(LINES)
    yield* Effect.forkScoped(Effect.forever(Effect.flatten(Queue.take(lines))))

    const sign = (node: PeerId, bytes: Uint8Array): Promise<Either.Either<Keys.Signature, string>> =>
      new Promise((answered) => {
        const signer = signers.get(node)
        if (signer === undefined) return answered(Either.left("it is not on the list"))
        const asked = Effect.map(keys.sign({ node, signer, bytes }), (answer) => {
          if (Either.isLeft(answer)) lines.unsafeOffer(refused(node, answer.left))
          answered(answer)
        })
        // Not answered, because it is unknown what reached the disk.
        fork(Effect.catchAll(asked, (error) => Deferred.fail(failure, error)))
      })

    const listener = new Listener({
      key: identity,
      genesisHash: Genesis.hash(genesis),
      nodes: new Map(served.map(({ node, signer }) => [node, signer.publicKey])),
      clock: nodeClock,
      sign,
      logged: (event) => lines.unsafeOffer(inWords(event)),
    })
    yield* Effect.acquireRelease(
      Effect.tryPromise({
        try: () => listener.start(listen),
        catch: (error) => new NoPort({ ...listen, reason: error instanceof Error ? error.message : String(error) }),
      }),
      () => Effect.promise(() => listener.stop()),
    )
    return { port: listener.port, id: NodeProof.idOf(identity), failed: Deferred.await(failure) }
  })

/** A summary of what is known about a key. */
export const known = ({ keys }: Opened, publicKey: Keys.PublicKey) =>
  Effect.map(keys.memoryOf(publicKey), Option.fromNullable)
