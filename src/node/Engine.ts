/**
 * The one fiber that owns the replica. Inputs come from a list, outputs are carried out in their order: messages at once,
 * what is to be kept by the writer, and what is to be told of it behind that. Between two inputs the replica gets slices
 * of background work, so that nothing holds the thread for long.
 */
import { Clock, Context, Duration, Effect, Layer, Option, PubSub, Stream } from "effect"
import { randomBytes } from "#crypto"
import type { Message } from "../consensus/replica/Message.js"
import type { Output } from "../consensus/replica/Output.js"
import type { Connection, PeerId } from "../consensus/replica/Peer.js"
import { type Accepted, Replica } from "../consensus/replica/Replica.js"
import * as HalfSipHash from "../ledger/HalfSipHash.js"
import type { Refusal } from "../ledger/PendingTransactions.js"
import { Network } from "../network/Network.js"
import * as Address from "../protocol/Address.js"
import * as Counter from "../protocol/Counter.js"
import type { Hash } from "../protocol/Hash.js"
import type { SecretKey } from "../protocol/Keys.js"
import type { Operation } from "../protocol/Operation.js"
import type { Sats } from "../protocol/Sats.js"
import * as Transaction from "../protocol/Transaction.js"
import * as Verification from "../protocol/Verification.js"
import * as EventLoop from "../storage/EventLoop.js"
import { Storage } from "../storage/Storage.js"
import type { StorageError } from "../storage/StorageError.js"
import * as Archive from "./Archive.js"
import { Configuration, type TrustedCheckpoint } from "./Configuration.js"
import { Counters } from "./Counters.js"
import { fromFatal, JoinStopped, type StateDamaged, type SupplyViolation } from "./Ending.js"
import { type Happening, isHappening } from "./Happening.js"
import { Home } from "./Home.js"
import { Inbox } from "./Inbox.js"
import * as Loading from "./Loading.js"
import * as Log from "./Log.js"
import * as Slice from "./Slice.js"
import { Supervisor } from "./Supervisor.js"
import * as Writer from "./Writer.js"

const log = Log.for("consensus")

/** To look at, not to feed. */
export type View = Pick<Replica, "read" | "pool" | "core" | "provenState" | "isJoining" | "isHalted">

export interface Pulse {
  /** The highest round ever seen: never decreases. */
  readonly round: Counter.Round
  /** When that round was first seen. */
  readonly advancedAt: Counter.Timestamp
}

/** What this node is to sign for somebody. */
export interface Asked {
  readonly key: SecretKey
  readonly fee: Sats
  readonly operation: Operation
}

export class Engine extends Context.Tag("udg/Engine")<
  Engine,
  {
    /** Looks at everything as of one moment. */
    readonly look: <A>(at: (view: View) => A) => Effect.Effect<A>
    /** The same for who is asked ten thousand times a second and has no fiber to spare. */
    readonly view: View
    /** Another number whenever what there is to look at may have changed. */
    readonly revision: () => number
    /** The door. */
    readonly submit: (transaction: Transaction.Transaction) => Effect.Effect<Accepted, Refusal>
    /** Signs with the sender's next nonce and takes it in: between finding the nonce and using it nothing happens. */
    readonly signAndSubmit: (asked: Asked) => Effect.Effect<Accepted, Refusal>
    /** A transaction that is executed, and its commit on its way to the disk. */
    readonly settling: (id: Hash) => Effect.Effect<Option.Option<Transaction.Transaction>>
    /** What happens from now on, each told when it is on the disk. */
    readonly happenings: Stream.Stream<Happening>
    readonly pulse: () => Pulse
    readonly counters: Counters
    /** Somebody else signs with this node's key. */
    readonly hasForeignHeader: Effect.Effect<boolean>
  }
>() {}

type Input =
  | { readonly _tag: "Message"; readonly from: PeerId; readonly message: Message }
  | { readonly _tag: "Connections"; readonly connections: ReadonlyArray<Connection> }
  | { readonly _tag: "Written"; readonly id: number }

/** Inputs taken in before others have the thread. */
const INPUTS_AT_ONCE = 64
const HAPPENINGS_KEPT = 4_096
/** Somewhat more than all mempools of a committee hold at once. */
const VERIFIED_TRANSACTIONS = 40_000
/** Peers' questions that the disk answers at the same time. */
const ANSWERS_AT_ONCE = 4

const badSignature: Refusal = {
  _tag: "InvalidSignature",
  reason: "a signature does not hold for these bytes and this key",
}

const now = Effect.map(Clock.currentTimeMillis, Counter.timestamp)

const pinOf = (trusted: Option.Option<TrustedCheckpoint>) =>
  Option.match(trusted, {
    onNone: () => null,
    onSome: ({ epoch, hash }) => ({ epoch: Counter.epoch(epoch), hash: hash as Hash }),
  })

const describe = ({ execution }: Extract<Happening, { readonly _tag: "Executed" }>) => ({
  commit: execution.commit.index,
  round: execution.commit.leaderRound,
  vertices: execution.vertices.length,
  transactions: execution.vertices.reduce((count, { transactions }) => count + transactions.length, 0),
})

/** How a replica's parts come from the disk. */
export type Load = typeof Loading.load

const opened = (load: Load) =>
  Effect.gen(function* () {
    const { genesis, validatorKey } = yield* Home
    const { trustedCheckpoint } = yield* Configuration
    const self = Option.map(validatorKey, ({ publicKey }) => Address.fromPublicKey(publicKey))
    const tableKey = HalfSipHash.keyFrom(randomBytes(HalfSipHash.KEY_BYTES))
    const { contents, opened } = yield* load(genesis, Option.getOrNull(self), tableKey)
    const options = {
      signer: Option.getOrNull(validatorKey),
      isValid: Verification.isValid,
      trust: pinOf(trustedCheckpoint),
      tableKey,
    }
    const [foreign] = contents.foreignHeaders
    return { replica: Replica.resume(options, contents, opened), hasForeignHeader: foreign !== undefined }
  })

const make = (load: Load) =>
  Effect.gen(function* () {
    const { networkId } = (yield* Home).genesis
    const storage = yield* Storage
    const network = yield* Network
    const supervisor = yield* Supervisor
    const happenings = yield* PubSub.sliding<Happening>(HAPPENINGS_KEPT)
    const answering = yield* Effect.makeSemaphore(ANSWERS_AT_ONCE)

    let { replica, hasForeignHeader } = yield* opened(load)
    const counters = new Counters()
    counters.vertices = yield* storage.vertices.count
    const inbox = new Inbox<Input>()
    const verified = new Verification.VerifiedTransactions(VERIFIED_TRANSACTIONS)
    const settling = new Map<Hash, Transaction.Transaction>()
    /** When the commits of checkpoints in the making were executed, by their index. */
    const building = new Map<number, number>()
    let revision = 0
    let pulse: Pulse = { round: replica.core.epoch.dag.highestRound, advancedAt: yield* now }

    const told = (happening: Happening) =>
      Effect.gen(function* () {
        if (happening._tag === "Executed") {
          for (const { body } of happening.vertices) for (const { id } of body.transactions) settling.delete(id)
          yield* log.debug("commit", () => describe(happening))
        } else if (happening._tag === "CheckpointBuilt") counters.checkpointsPersisted++
        else if (happening._tag === "Joined") counters.fastSyncs++
        revision++
        yield* PubSub.publish(happenings, happening)
      })

    const write = yield* Writer.start(storage, supervisor, {
      written: (id) => Effect.sync(() => inbox.push({ _tag: "Written", id })),
      told,
    })

    const holds = (from: PeerId, message: Message) =>
      Effect.gen(function* () {
        const checks = replica.checksOf(message, (transaction) => verified.has(networkId, transaction))
        if (checks.every(Verification.isValid)) return true
        if (message._tag === "CheckpointSignature") counters.checkpointValidationFailures++
        yield* network.misbehaved(from, `a ${message._tag} with a signature that does not hold`)
        return false
      })

    const takeIn = (input: Input, at: Counter.Timestamp) =>
      Effect.gen(function* () {
        switch (input._tag) {
          case "Message":
            return (yield* holds(input.from, input.message)) ? replica.receive(input.from, input.message, at) : []
          case "Connections":
            counters.peers = input.connections.length
            return replica.connected(input.connections, at)
          case "Written":
            return replica.written(input.id, at)
        }
      })

    const serve = ({ to, question }: Extract<Output, { readonly _tag: "Serve" }>) =>
      Archive.answer(storage, networkId, question).pipe(
        Effect.flatMap((answer) => network.send(to, answer)),
        Effect.catchAll((error) => supervisor.end(error)),
        answering.withPermits(1),
        Effect.forkDaemon,
        Effect.asVoid,
      )

    const count = (happening: Happening) => {
      if (happening._tag === "Executed" && happening.execution.isCheckpointDue) {
        building.set(happening.execution.commit.index, performance.now())
      } else if (happening._tag === "CheckpointBuilt") {
        const { checkpoint, bytes, isCosigned } = happening
        const begun = building.get(checkpoint.commitIndex)
        building.delete(checkpoint.commitIndex)
        counters.checkpointsProduced++
        counters.checkpointBytes = bytes
        if (begun !== undefined) counters.checkpointProductionMs = performance.now() - begun
        if (isCosigned) counters.checkpointsCosigned++
      } else if (happening._tag === "CheckpointFinal") counters.checkpointQuorums++
      else if (happening._tag === "ForeignOwnHeader") hasForeignHeader = true
    }

    const keep = (output: Extract<Output, { readonly _tag: "Write" }>) => {
      if (output.write._tag === "Inserted") counters.vertices++
      if (output.write._tag === "Executed") {
        for (const { body } of output.write.vertices) {
          for (const transaction of body.transactions) settling.set(transaction.id, transaction)
        }
      }
      write(output)
    }

    const carryOut = (output: Output): Effect.Effect<void> => {
      if (isHappening(output)) {
        count(output)
        return Effect.sync(() => write({ _tag: "Tell", happening: output }))
      }
      switch (output._tag) {
        case "Send":
          return network.send(output.to, output.message)
        case "Broadcast":
          return network.broadcast(output.message)
        case "Serve":
          return serve(output)
        case "Write":
          return Effect.sync(() => keep(output))
        case "Misbehaved":
          if (output.error._tag === "WrongState") counters.checkpointValidationFailures++
          return network.misbehaved(output.peer, output.error._tag)
        case "JoinStopped":
          return Effect.sync(() => write({ _tag: "End", ending: new JoinStopped({ problem: output.problem }) }))
        case "Fatal":
          return Effect.sync(() => write({ _tag: "End", ending: fromFatal(output.fatal) }))
      }
    }

    const carryOutAll = (outputs: ReadonlyArray<Output>) => Effect.forEach(outputs, carryOut, { discard: true })

    const step = Effect.gen(function* () {
      const at = yield* now
      for (const input of inbox.take(INPUTS_AT_ONCE)) yield* carryOutAll(yield* takeIn(input, at))
      yield* carryOutAll(replica.tick(at))
      if (replica.hasWork) yield* carryOutAll(replica.work(Slice.begin(), at))
      revision++
      const round = replica.core.epoch.dag.highestRound
      if (round > pulse.round) pulse = { round, advancedAt: at }
      if (replica.isHalted) return yield* Effect.never
      const waitMs = replica.wakeAt(at) - (yield* now)
      if (!inbox.isEmpty || replica.hasWork || waitMs <= 0) return yield* EventLoop.turn
      yield* Effect.timeoutOption(inbox.arrival, Duration.millis(waitMs))
    })

    /** What was taken at the door since the last step would otherwise be forgotten by a stop. */
    const keepTheLast = Effect.map(now, (at) => {
      for (const output of replica.tick(at)) if (output._tag === "Write") keep(output)
    })

    yield* supervisor.critical(
      "consensus",
      Effect.zipRight(
        Effect.flatMap(now, (at) => carryOutAll(replica.start(at))),
        Effect.forever(step),
      ).pipe(Effect.onInterrupt(() => keepTheLast)),
    )
    yield* supervisor.restarted(
      "network messages",
      Effect.zipRight(
        Stream.runForEach(network.inbound, (received) =>
          Effect.sync(() => inbox.push({ _tag: "Message", ...received })),
        ),
        Effect.never,
      ),
    )
    yield* supervisor.restarted(
      "network peers",
      Effect.zipRight(
        Stream.runForEach(network.changes, (peers) =>
          Effect.sync(() => {
            const connections = peers.map(({ id, validator }) => ({ peer: id, validator }))
            inbox.push({ _tag: "Connections", connections })
          }),
        ),
        Effect.never,
      ),
    )

    const taken = (transaction: Transaction.Transaction, at: Counter.Timestamp) => {
      const accepted = replica.submit(transaction, at)
      revision++
      inbox.wake()
      return accepted
    }

    return Engine.of({
      look: (at) => Effect.sync(() => at(replica)),
      view: replica,
      revision: () => revision,
      submit: (transaction) =>
        Effect.flatMap(now, (at) =>
          verified.isValidAtDoor(networkId, transaction) ? taken(transaction, at) : Effect.fail(badSignature),
        ),
      signAndSubmit: ({ key, fee, operation }) =>
        Effect.flatMap(now, (at) => {
          const from = Address.fromPublicKey(key.publicKey)
          const nonce = replica.pool.nextNonce(from)
          const transaction = Transaction.sign(networkId, { from, nonce, fee, operation }, key)
          verified.add(networkId, transaction)
          return taken(transaction, at)
        }),
      settling: (id) => Effect.sync(() => Option.fromNullable(settling.get(id))),
      happenings: Stream.fromPubSub(happenings),
      pulse: () => pulse,
      counters,
      hasForeignHeader: Effect.sync(() => hasForeignHeader),
    })
  })

export type EngineError = StateDamaged | SupplyViolation | StorageError

type Needed = Home | Configuration | Storage | Network | Supervisor

/** With parts that come from elsewhere: a test hands in one with a fault in it, to see what the node does. */
export const layerLoading = (load: Load): Layer.Layer<Engine, EngineError, Needed> => Layer.scoped(Engine, make(load))

export const layer = layerLoading(Loading.load)
