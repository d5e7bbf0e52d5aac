/** A signer: validators' keys with a record of what they have signed, in its own directory, behind a port. */
import { FileSystem } from "@effect/platform"
import { Data, Deferred, Effect, Either, Option, Queue, Runtime, type Scope } from "effect"
import { nodeClock } from "../network/tls/NodeClock.js"
import * as NodeProof from "../network/tls/NodeProof.js"
import * as Genesis from "../protocol/epoch/Genesis.js"
import type * as Keys from "../protocol/identity/Keys.js"
import type { PeerId } from "../replica/messages/Peer.js"
import { DataDirectory, type NotOpened } from "../storage/files/DataDirectory.js"
import * as FileMark from "../storage/files/FileMark.js"
import * as HeldFiles from "../storage/files/HeldFiles.js"
import * as KeyFile from "../storage/files/KeyFile.js"
import type { KeyFileError } from "../storage/files/OwnFile.js"
import type { OpenError } from "../storage/files/StorageError.js"
import * as Integrity from "../storage/Integrity.js"
import * as SignerSchema from "../storage/schema/Signer.js"
import * as Database from "../storage/sqlite/Database.js"
import { WriterThread } from "../storage/sqlite/WriterThread.js"
import * as Meta from "../storage/tables/Meta.js"
import * as SignOnce from "../storage/tables/SignOnce.js"
import type { HeldKey } from "./HeldKey.js"
import type * as Line from "./Line.js"
import { type Event, Listener } from "./Listener.js"
import * as SigningKeys from "./SigningKeys.js"

export interface Opened {
  /** The signer's identity, which nodes specify with its address. */
  readonly identity: Keys.SecretKey
  readonly keys: SigningKeys.SigningKeys
  /** Ends if its files leave their directory. */
  readonly lost: Effect.Effect<never, SignerLost>
}

/** What the signer signs is no longer recorded in its directory. */
export class SignerLost extends Data.TaggedError("SignerLost")<{ readonly finding: string }> {
  override get message(): string {
    return (
      `${this.finding}: the signer's directory was deleted, replaced or unmounted while it ran; put it back, or follow ` +
      "docs/operations/signer.md#the-signers-directory"
    )
  }
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
    yield* SignOnce.recognize(database, yield* FileMark.of(file))
    const identity = yield* KeyFile.loadOrCreate(directory.fileOf("signerKey"))
    const lost = HeldFiles.watch(yield* HeldFiles.of(directory, ["lock", "signer"])).pipe(
      Effect.flatMap((finding) => new SignerLost({ finding })),
      Effect.provideService(FileSystem.FileSystem, yield* FileSystem.FileSystem),
    )
    return { identity, keys: SigningKeys.make(database, Genesis.hash(genesis)), lost }
  })

/** A node on the list, once for each key with which the signer signs for it. */
export interface Served {
  readonly node: PeerId
  readonly signer: HeldKey
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
  /** Ends only if the disk refuses a write, the directory is lost, or a key is out of reach. */
  readonly failed: Effect.Effect<never, SigningKeys.SigningFailed | SignerLost>
}

const inWords = ({ _tag, ...facts }: Event): Effect.Effect<void> => {
  switch (_tag) {
    case "Connected":
      return Effect.annotateLogs(Effect.logInfo("a node is connected"), facts)
    case "Disconnected":
      return Effect.annotateLogs(Effect.logWarning("a node is disconnected"), facts)
    case "NotServed":
      return Effect.annotateLogs(Effect.logWarning("a node is not served"), facts)
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
    const signers = new Map<PeerId, Array<HeldKey>>()
    for (const { node, signer } of served) signers.set(node, [...(signers.get(node) ?? []), signer])
    const fork = Runtime.runFork(yield* Effect.runtime<never>())
    const failure = yield* Deferred.make<never, SigningKeys.SigningFailed>()
    const lines = yield* Queue.dropping<Effect.Effect<void>>(LINES)
    yield* Effect.forkScoped(Effect.forever(Effect.flatten(Queue.take(lines))))

    const settle = (task: Effect.Effect<void, SigningKeys.SigningFailed>) =>
      fork(Effect.catchAll(task, (error) => Deferred.fail(failure, error)))

    const sign = (node: PeerId, { publicKey, bytes }: Line.Ask): Promise<Either.Either<Keys.Signature, string>> =>
      new Promise((answered) => {
        const held = signers.get(node) ?? []
        const signer = held.find((each) => each.publicKey === publicKey)
        if (signer === undefined) return answered(Either.left("the signer does not sign with this key for this node"))
        const others = held.filter((each) => each !== signer).map((each) => each.publicKey)
        settle(
          Effect.map(keys.sign({ node, signer, others, bytes }), (answer) => {
            if (Either.isLeft(answer)) lines.unsafeOffer(refused(node, answer.left))
            answered(answer)
          }),
        )
      })

    const told = (node: PeerId, { publicKey, place }: Line.Told): Promise<void> =>
      new Promise((kept) => {
        const isHeld = signers.get(node)?.some((each) => each.publicKey === publicKey) === true
        settle(Effect.map(isHeld ? keys.told(publicKey, place) : Effect.void, kept))
      })

    const listener = new Listener({
      key: identity,
      genesisHash: Genesis.hash(genesis),
      nodes: new Map([...signers].map(([node, held]) => [node, held.map(({ publicKey }) => publicKey)])),
      clock: nodeClock,
      sign,
      told,
      logged: (event) => lines.unsafeOffer(inWords(event)),
    })
    yield* Effect.acquireRelease(
      Effect.tryPromise({
        try: () => listener.start(listen),
        catch: (error) => new NoPort({ ...listen, reason: error instanceof Error ? error.message : String(error) }),
      }),
      () => Effect.promise(() => listener.stop()),
    )
    return {
      port: listener.port,
      id: NodeProof.idOf(identity),
      failed: Effect.raceFirst(Deferred.await(failure), options.lost),
    }
  })

/** A summary of what is known about a key. */
export const known = ({ keys }: Opened, publicKey: Keys.PublicKey) =>
  Effect.map(keys.memoryOf(publicKey), Option.fromNullable)
