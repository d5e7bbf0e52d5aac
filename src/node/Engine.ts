/**
 * The one fiber that runs the replica, and the one that writes for it. Inputs come from a list, outputs are carried out
 * in their order: what is to be kept goes to the writer, and what is to be told of it is told behind that write. Between
 * two inputs the replica gets slices of background work, so that nothing holds the thread for long.
 */
import { Clock, Context, Deferred, Duration, Effect, Layer, Option, PubSub, Stream } from "effect"
import type { Message } from "../consensus/replica/Message.js"
import type { Output } from "../consensus/replica/Output.js"
import type { Connection, PeerId } from "../consensus/replica/Peer.js"
import { type Accepted, Replica } from "../consensus/replica/Replica.js"
import type { Write } from "../consensus/replica/Write.js"
import type { Refusal } from "../ledger/PendingTransactions.js"
import { Network } from "../network/Network.js"
import * as Address from "../protocol/Address.js"
import * as Counter from "../protocol/Counter.js"
import type { Hash } from "../protocol/Hash.js"
import type { Transaction } from "../protocol/Transaction.js"
import * as Verification from "../protocol/Verification.js"
import * as EventLoop from "../storage/EventLoop.js"
import { Storage } from "../storage/Storage.js"
import type { StorageError } from "../storage/StorageError.js"
import * as Archive from "./Archive.js"
import { Configuration } from "./Configuration.js"
import { Counters } from "./Counters.js"
import * as Disk from "./Disk.js"
import { type Ending, fromFatal, JoinStopped, type StateDamaged, type SupplyViolation } from "./Ending.js"
import { Home } from "./Home.js"
import * as Loading from "./Loading.js"
import * as Log from "./Log.js"
import * as Slice from "./Slice.js"
import { Supervisor } from "./Supervisor.js"

const log = Log.for("consensus")

/** To look at, not to feed. */
export type View = Pick<Replica, "read" | "pool" | "core" | "provenState" | "isJoining" | "isHalted">

/** What has happened and is on the disk. */
export type Happening = Exclude<
  Output,
  { readonly _tag: "Send" | "Broadcast" | "Serve" | "Write" | "Fatal" | "Misbehaved" | "JoinStopped" }
>

export interface Pulse {
  /** The highest round ever seen: never decreases. */
  readonly round: Counter.Round
  /** When that round was first seen. */
  readonly advancedAt: Counter.Timestamp
}

export class Engine extends Context.Tag("udg/Engine")<
  Engine,
  {
    /** Looks at everything as of one moment. */
    readonly look: <A>(at: (view: View) => A) => Effect.Effect<A>
    /** The door. */
    readonly submit: (transaction: Transaction) => Effect.Effect<Accepted, Refusal>
    /** A transaction that is executed, and its commit on its way to the disk. */
    readonly settling: (id: Hash) => Effect.Effect<Option.Option<Transaction>>
    readonly happenings: Stream.Stream<Happening>
    readonly pulse: Effect.Effect<Pulse>
    readonly counters: Counters
    /** Somebody else signs with this node's key. */
    readonly hasForeignHeader: Effect.Effect<boolean>
  }
>() {}

type Input =
  | { readonly _tag: "Message"; readonly from: PeerId; readonly message: Message }
  | { readonly _tag: "Connections"; readonly connections: ReadonlyArray<Connection> }
  | { readonly _tag: "Written"; readonly id: number }

/** What the writer takes: writes, and what may be told once those before it are done. */
type Task =
  | Extract<Output, { readonly _tag: "Write" }>
  | { readonly _tag: "Tell"; readonly happening: Happening }
  | { readonly _tag: "End"; readonly ending: Ending }

/** Inputs taken in before others have the thread. */
const INPUTS_AT_ONCE = 64
const HAPPENINGS_KEPT = 4_096
/** How long a stop waits for the disk. */
const FLUSH_LIMIT = Duration.seconds(4)

const now = Effect.map(Clock.currentTimeMillis, Counter.timestamp)

/** A list with one reader, who is woken when something comes in. */
class Inbox<A> {
  #items: Array<A> = []
  #wake: () => void = () => {}

  push(item: A): void {
    this.#items.push(item)
    this.#wake()
  }

  wake(): void {
    this.#wake()
  }

  get isEmpty(): boolean {
    return this.#items.length === 0
  }

  take(limit: number): ReadonlyArray<A> {
    return this.#items.splice(0, limit)
  }

  /** Until something comes in. An input is never lost by an interruption: it waits in the list, not with the fiber. */
  readonly arrival: Effect.Effect<void> = Effect.async<void>((resume) => {
    this.#wake = () => resume(Effect.void)
    if (!this.isEmpty) resume(Effect.void)
    return Effect.sync(() => {
      this.#wake = () => {}
    })
  })
}

const badSignature: Refusal = {
  _tag: "InvalidSignature",
  reason: "a signature does not hold for these bytes and this key",
}

const describe = ({ execution }: Extract<Happening, { readonly _tag: "Executed" }>) => ({
  commit: execution.commit.index,
  round: execution.commit.leaderRound,
  vertices: execution.vertices.length,
  transactions: execution.vertices.reduce((count, { transactions }) => count + transactions.length, 0),
})

const isTold = (output: Output): output is Happening => {
  switch (output._tag) {
    case "Send":
    case "Broadcast":
    case "Serve":
    case "Write":
    case "Fatal":
    case "Misbehaved":
    case "JoinStopped":
      return false
    default:
      return true
  }
}

/** How a replica's parts come from the disk. */
export type Load = typeof Loading.load

const make = (load: Load) =>
  Effect.gen(function* () {
    const { genesis, validatorKey } = yield* Home
    const { trustedCheckpoint } = yield* Configuration
    const storage = yield* Storage
    const network = yield* Network
    const supervisor = yield* Supervisor
    const happenings = yield* PubSub.sliding<Happening>(HAPPENINGS_KEPT)
    const counters = new Counters()
    counters.vertices = yield* storage.vertices.count

    const self = Option.map(validatorKey, ({ publicKey }) => Address.fromPublicKey(publicKey))
    const { contents, opened } = yield* load(genesis, Option.getOrNull(self))
    const replica = Replica.resume(
      {
        signer: Option.getOrNull(validatorKey),
        isValid: Verification.isValid,
        trust: Option.match(trustedCheckpoint, {
          onNone: () => null,
          onSome: ({ epoch, hash }) => ({ epoch: Counter.epoch(epoch), hash: hash as Hash }),
        }),
      },
      contents,
      opened,
    )

    const inbox = new Inbox<Input>()
    const tasks = new Inbox<Task>()
    const disk = new Disk.Disk(storage)
    const verified = new Verification.VerifiedTransactions(4 * 10_000)
    const settling = new Map<Hash, Transaction>()
    const building = new Map<number, number>()
    let pulse: Pulse = { round: replica.core.epoch.dag.highestRound, advancedAt: yield* now }
    let hasForeignHeader = contents.foreignHeaders[Symbol.iterator]().next().done !== true
    let isStopping = false

    // The writer.

    const told = (happening: Happening) =>
      Effect.gen(function* () {
        switch (happening._tag) {
          case "Executed":
            yield* log.debug("commit", () => describe(happening))
            for (const { body } of happening.vertices) for (const { id } of body.transactions) settling.delete(id)
            break
          case "CheckpointBuilt":
            counters.checkpointsPersisted++
            break
          case "Joined":
            counters.fastSyncs++
            break
          default:
            break
        }
        yield* PubSub.publish(happenings, happening)
      })

    const isWrite = (task: Task): task is Extract<Task, { _tag: "Write" }> => task._tag === "Write"

    /** Consecutive writes up to one that has to be synced, then whatever comes behind them. */
    const perform = (taken: ReadonlyArray<Task>) =>
      Effect.gen(function* () {
        let run: Array<Write> = []
        const flush = Effect.suspend(() => {
          const batches = Disk.batched(run)
          run = []
          return Effect.flatMap(now, (at) =>
            Effect.forEach(batches, (batch) => disk.keep(batch, at), { discard: true }),
          )
        })
        for (const task of taken) {
          if (isWrite(task)) {
            run.push(task.write)
            if (!task.isSynced) continue
            yield* flush
            inbox.push({ _tag: "Written", id: task.id })
            continue
          }
          yield* flush
          if (task._tag === "End") yield* supervisor.end(task.ending)
          else yield* told(task.happening)
        }
        yield* flush
      })

    const drained = yield* Deferred.make<void>()
    const writer = Effect.gen(function* () {
      for (;;) {
        if (tasks.isEmpty) {
          if (isStopping) return yield* Effect.zipRight(Deferred.succeed(drained, undefined), Effect.never)
          yield* tasks.arrival
        }
        yield* perform(tasks.take(Number.MAX_SAFE_INTEGER))
      }
    }).pipe(Effect.onError(() => Deferred.succeed(drained, undefined)))

    // The replica.

    const judged = (from: PeerId, message: Message) =>
      Effect.gen(function* () {
        const isVerified = (transaction: Transaction) => verified.has(genesis.networkId, transaction)
        const checks = replica.checksOf(message, isVerified)
        if (checks.every(Verification.isValid)) return true
        if (message._tag === "CheckpointSignature") counters.checkpointValidationFailures++
        yield* network.misbehaved(from, `a ${message._tag} with a signature that does not hold`)
        return false
      })

    const takeIn = (input: Input, at: Counter.Timestamp) =>
      Effect.gen(function* () {
        switch (input._tag) {
          case "Message":
            return (yield* judged(input.from, input.message)) ? replica.receive(input.from, input.message, at) : []
          case "Connections":
            return replica.connected(input.connections, at)
          case "Written":
            return replica.written(input.id, at)
        }
      })

    const serve = ({ to, question }: Extract<Output, { _tag: "Serve" }>) =>
      Archive.answer(storage, genesis.networkId, question).pipe(
        Effect.flatMap((answer) => network.send(to, answer)),
        Effect.catchAll((error) => supervisor.end(error)),
        Effect.forkDaemon,
      )

    const noteBuilding = (happening: Happening, at: number) => {
      if (happening._tag === "Executed" && happening.execution.isCheckpointDue) {
        building.set(happening.execution.commit.index, at)
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

    const carryOut = (output: Output) =>
      Effect.gen(function* () {
        if (isTold(output)) {
          noteBuilding(output, performance.now())
          tasks.push({ _tag: "Tell", happening: output })
          return
        }
        switch (output._tag) {
          case "Send":
            return yield* network.send(output.to, output.message)
          case "Broadcast":
            return yield* network.broadcast(output.message)
          case "Serve":
            return yield* serve(output)
          case "Write":
            if (output.write._tag === "Executed") {
              for (const { body } of output.write.vertices) {
                for (const transaction of body.transactions) settling.set(transaction.id, transaction)
              }
            }
            if (output.write._tag === "Inserted") counters.vertices++
            tasks.push(output)
            return
          case "Misbehaved":
            if (output.error._tag === "WrongState") counters.checkpointValidationFailures++
            return yield* network.misbehaved(output.peer, output.error._tag)
          case "JoinStopped":
            tasks.push({ _tag: "End", ending: new JoinStopped({ problem: output.problem }) })
            return
          case "Fatal":
            tasks.push({ _tag: "End", ending: fromFatal(output.fatal) })
            return
        }
      })

    const carryOutAll = (outputs: ReadonlyArray<Output>) => Effect.forEach(outputs, carryOut, { discard: true })

    const notePulse = (at: Counter.Timestamp) => {
      const round = replica.core.epoch.dag.highestRound
      if (round > pulse.round) pulse = { round, advancedAt: at }
    }

    const step = Effect.gen(function* () {
      const at = yield* now
      for (const input of inbox.take(INPUTS_AT_ONCE)) yield* carryOutAll(yield* takeIn(input, at))
      yield* carryOutAll(replica.tick(at))
      if (replica.hasWork) yield* carryOutAll(replica.work(Slice.begin(), at))
      notePulse(at)
      if (replica.isHalted) return yield* Effect.never
      if (!inbox.isEmpty || replica.hasWork) return yield* EventLoop.turn
      const waitMs = replica.wakeAt(at) - (yield* now)
      if (waitMs <= 0) return yield* EventLoop.turn
      yield* Effect.timeoutOption(inbox.arrival, Duration.millis(waitMs))
    })

    const running = Effect.zipRight(
      Effect.flatMap(now, (at) => Effect.suspend(() => carryOutAll(replica.start(at)))),
      Effect.forever(step),
    )

    yield* supervisor.critical("storage writer", writer)
    // Between the replica's end and the writer's: everything the replica asked to be kept is on the disk.
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        isStopping = true
        tasks.wake()
        return Effect.ignore(Effect.timeout(Deferred.await(drained), FLUSH_LIMIT))
      }),
    )
    yield* supervisor.critical("consensus", running)
    yield* supervisor.restarted(
      "network messages",
      Effect.zipRight(
        Stream.runForEach(network.inbound, ({ from, message }) =>
          Effect.sync(() => inbox.push({ _tag: "Message", from, message })),
        ),
        Effect.never,
      ),
    )
    yield* supervisor.restarted(
      "network peers",
      Effect.zipRight(
        Stream.runForEach(network.changes, (peers) =>
          Effect.sync(() =>
            inbox.push({
              _tag: "Connections",
              connections: peers.map(({ id, validator }) => ({ peer: id, validator })),
            }),
          ),
        ),
        Effect.never,
      ),
    )

    return Engine.of({
      look: (at) => Effect.sync(() => at(replica)),
      submit: (transaction) =>
        Effect.flatMap(now, (at) => {
          if (!verified.isValidAtDoor(genesis.networkId, transaction)) return Effect.fail(badSignature)
          const taken = replica.submit(transaction, at)
          inbox.wake()
          return taken
        }),
      settling: (id) => Effect.sync(() => Option.fromNullable(settling.get(id))),
      happenings: Stream.fromPubSub(happenings),
      pulse: Effect.sync(() => pulse),
      counters,
      hasForeignHeader: Effect.sync(() => hasForeignHeader),
    })
  })

export type EngineError = StateDamaged | SupplyViolation | StorageError

type Needed = Home | Configuration | Storage | Network | Supervisor

/** With parts that come from elsewhere: a test hands in one with a fault in it, to see what the node does. */
export const layerLoading = (load: Load): Layer.Layer<Engine, EngineError, Needed> => Layer.scoped(Engine, make(load))

export const layer = layerLoading(Loading.load)
