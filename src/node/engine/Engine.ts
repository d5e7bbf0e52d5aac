/**
 * The shell around the replica, assembled: loaded from disk, fed by the network and by clients, run by one fiber
 * (`Loop`) between the way in (`Incoming`) and the way out (`Outgoing`), with one writer after it (`Writer`).
 */
import {
  Cause,
  Context,
  Deferred,
  Duration,
  Effect,
  FiberId,
  Layer,
  Option,
  PubSub,
  Queue,
  Runtime,
  Schedule,
  type Scope,
  Stream,
} from "effect"
import { randomBytes } from "#crypto"
import * as HalfSipHash from "../../ledger/tables/HalfSipHash.js"
import { Network } from "../../network/Network.js"
import * as Address from "../../protocol/identity/Address.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import * as Verification from "../../protocol/transaction/Verification.js"
import { Replica } from "../../replica/Replica.js"
import type { StorageError } from "../../storage/files/StorageError.js"
import { Storage } from "../../storage/Storage.js"
import { Inbox } from "../../turns/Inbox.js"
import * as SteadyClock from "../../turns/SteadyClock.js"
import {
  ApplyingFault,
  InternalFault,
  type RecordingFailed,
  StateBehind,
  type StateDamaged,
  type SupplyViolation,
} from "../lifecycle/Ending.js"
import { Supervisor } from "../lifecycle/Supervisor.js"
import * as Log from "../log/Log.js"
import { Bulkhead } from "../signatures/Bulkhead.js"
import { OpenQuestions } from "../signatures/OpenQuestions.js"
import { SignatureThreads } from "../signatures/SignatureThreads.js"
import { Configuration, type Settings, type TrustedCheckpoint } from "../start/Configuration.js"
import { Home } from "../start/Home.js"
import * as Loading from "../start/Loading.js"
import * as Answering from "./Answering.js"
import type { Answers } from "./Answers.js"
import * as CatchUp from "./CatchUp.js"
import { Counters } from "./Counters.js"
import * as FastSync from "./FastSync.js"
import { Incoming, type Input, type SignRequest } from "./Incoming.js"
import { Ineffective } from "./Ineffective.js"
import * as Journal from "./Journal.js"
import * as Loop from "./Loop.js"
import type { NodeEvent } from "./NodeEvent.js"
import * as Outgoing from "./Outgoing.js"
import { Pace } from "./Pace.js"
import { Participation } from "./Participation.js"
import * as Recorder from "./Recorder.js"
import { Recording } from "./Recording.js"
import * as Recovery from "./Recovery.js"
import { Settling } from "./Settling.js"
import { SupplyWatch } from "./SupplyWatch.js"
import { Vitals } from "./Vitals.js"
import * as Writer from "./Writer.js"

const log = Log.for("consensus")

/** Read-only. */
export type View = Pick<
  Replica,
  | "read"
  | "pool"
  | "core"
  | "provenState"
  | "isJoining"
  | "isHalted"
  | "hasWork"
  | "recovery"
  | "clockAheadMs"
  | "pauses"
>

const EVENTS_KEPT = 4_096
/** A quarter of a second of work for the trie: rounds wait for the rest when an epoch closes. */
const PREPARED_AT = 16_384
/** So many rounds behind the others a vertex may come without being old. */
const TRANSIT_ROUNDS = 2
/** How often to check whether this node is behind. */
const LOOKED_EVERY = Duration.seconds(2)
/** A client's transaction wakes the loop at once, and those that come within this time after it wake it once more. */
const GATHERING = Duration.millis(10)

const pinOf = (trusted: Option.Option<TrustedCheckpoint>) =>
  Option.match(trusted, {
    onNone: () => null,
    onSome: ({ epoch, hash }) => ({ epoch: Natural.epoch(epoch), hash: hash as Hash }),
  })

const wordOf = ({ signingWord }: Settings) =>
  Effect.gen(function* () {
    if (Option.isNone(signingWord)) return null
    const { epoch, round, base } = signingWord.value
    yield* log.warn("the operator vouches that this validator's key has signed nothing from this round on", {
      epoch,
      round,
    })
    return { epoch: Natural.epoch(epoch), round: Natural.round(round), base }
  })

/** Loads a replica's parts from disk. */
export type Load = typeof Loading.load

/**
 * Fails if the only validator, with no peer configured, would wait forever for vertices that only it could make. Its own
 * vertices are pruned by whole epochs: if those of the stored epoch are there, so are all later ones, and everything can be
 * decided again.
 */
const requireRecent = ({ contents, opened }: Loading.Loaded, self: Address.Address | null, { peers }: Settings) => {
  const { epoch: stored, members } = opened.ledger.read.epoch
  let signed = stored
  let isKept = false
  for (const { header } of contents.ownVertices) {
    if (header.epoch > signed) signed = header.epoch
    if (header.epoch === stored) isKept = true
  }
  const isAlone = members.every(({ address }) => address === self)
  const isBehind = signed > stored && !isKept
  return isAlone && peers.length === 0 && isBehind ? new StateBehind({ stored, signed }) : Effect.void
}

/** The disk holds only data that this program wrote, so an exception here is a bug as much as a later one. */
const resumed = (...from: ConstructorParameters<typeof Replica>): Effect.Effect<Replica, InternalFault> =>
  Effect.catchAllDefect(
    Effect.sync(() => new Replica(...from)),
    (cause) =>
      new InternalFault({
        fault: new ApplyingFault({ component: Loop.COMPONENT, doing: "applying what is stored", cause }),
      }),
  )

const opened = (load: Load) =>
  Effect.gen(function* () {
    const { genesis, validatorKey } = yield* Home
    const settings = yield* Configuration
    const self = Option.map(validatorKey, ({ publicKey }) => Address.fromPublicKey(publicKey))
    const tableKey = HalfSipHash.keyFrom(randomBytes(HalfSipHash.KEY_BYTES))
    const loaded = yield* load(genesis, Option.getOrNull(self), tableKey)
    yield* requireRecent(loaded, Option.getOrNull(self), settings)
    const { contents, opened } = loaded
    const options = {
      signer: Option.getOrNull(validatorKey),
      isValid: Verification.isStrictlyValid,
      trust: pinOf(settings.trustedCheckpoint),
      joins: Option.isNone(yield* Effect.serviceOption(Recording)),
      tableKey,
      preparedAt: PREPARED_AT,
      word: yield* wordOf(settings),
      pace: yield* Pace,
    }
    const replica = yield* resumed(options, contents, opened)
    const vitals = new Vitals(replica.core.epoch.dag.highestRound, yield* SteadyClock.current)
    return { replica, vitals, self }
  })

/** The parts that learn of events. */
interface Audience {
  readonly events: PubSub.PubSub<NodeEvent>
  readonly ineffective: Ineffective
  readonly settling: Settling
  readonly counters: Counters
  readonly vitals: Vitals
  readonly fastSync: FastSync.FastSync
  /** The address of this node's validator key. */
  readonly self: Option.Option<Address.Address>
}

/** The order matters: every lookup finds a transaction somewhere, and a commit reads as final before its event goes out. */
const publishTo =
  ({ events, ineffective, settling, counters, vitals, fastSync, self }: Audience) =>
  (event: NodeEvent) =>
    Effect.gen(function* () {
      ineffective.published(event)
      settling.end(event)
      counters.published(event)
      vitals.changed()
      yield* fastSync.published(event, yield* SteadyClock.current)
      yield* Journal.write(event, self)
      yield* PubSub.publish(events, event)
    })

/** Feeds the loop with judged messages of peers, and with changes of the connected peers. */
const feedFromNetwork = (
  inbox: Inbox<Input>,
  incoming: Incoming,
  answers: Answers,
): Effect.Effect<void, never, Network | Supervisor | Scope.Scope> =>
  Effect.gen(function* () {
    const { inbound, changes } = yield* Network
    const supervisor = yield* Supervisor
    const inspection = incoming.inspection({
      ask: (owner, question) => answers.ask(owner, question),
      pass: (judged) => inbox.push(judged),
    })
    yield* supervisor.restarted(
      "network messages",
      inbound.handOn((received) => inspection.take(received)),
    )
    const connections = Stream.runForEach(changes, (peers) =>
      Effect.sync(() => {
        answers.keepOnly(new Set(peers.map(({ id }) => id)))
        inbox.push({
          _tag: "Connections",
          connections: peers.map(({ id, validator, direction }) => ({
            peer: id,
            validator,
            isDialled: direction === "outbound",
          })),
        })
      }),
    )
    yield* supervisor.restarted("network peers", Effect.zipRight(connections, Effect.never))
  })

/** Tells the network the members of the committee: it keeps places for them and takes their messages first. */
const tellMembers = (replica: Replica): Effect.Effect<void, never, Network | Scope.Scope> =>
  Effect.gen(function* () {
    const { setMembers } = yield* Network
    let announced: Natural.Epoch | null = null
    const tell = Effect.suspend(() => {
      const { epoch, members } = replica.core.epoch.opening.record
      if (epoch === announced) return Effect.void
      announced = epoch
      return setMembers(members.map(({ address }) => address))
    })
    yield* tell
    yield* Effect.forkScoped(Effect.repeat(tell, Schedule.spaced(LOOKED_EVERY)))
  })

const make = (load: Load) =>
  Effect.gen(function* () {
    const { networkId, protocol } = (yield* Home).genesis
    const storage = yield* Storage
    const supervisor = yield* Supervisor
    const { replica, vitals, self } = yield* opened(load)
    const participation = new Participation(
      Option.getOrNull(self),
      replica.core.epoch.opening.record,
      replica.read.head.leaderRound,
    )
    const counters = new Counters({
      vertices: yield* storage.vertices.count,
      participation,
      isFresh: (round) => round >= replica.core.epoch.reachedRound - TRANSIT_ROUNDS,
    })
    const ineffective = new Ineffective()
    const settling = new Settling()
    const fastSync = new FastSync.FastSync()
    const inbox = new Inbox<Input>()
    const events = yield* PubSub.sliding<NodeEvent>(EVENTS_KEPT)

    const recorder = yield* Recorder.make(replica.read.head.index)
    const writer = yield* Writer.start(storage, supervisor, {
      ...recorder.listener,
      written: (id) => Effect.sync(() => inbox.push({ _tag: "Written", id })),
      published: publishTo({ events, ineffective, settling, counters, vitals, fastSync, self }),
    })
    const supply = new SupplyWatch()
    supply.executed(replica.read.head.index, replica.read.totals.total)
    const counting = recorder.counting(writer.perform)
    const write = (task: Writer.Task) => {
      if (task._tag === "Write" && task.write._tag === "Executed") {
        supply.executed(task.write.execution.commit.index, task.write.execution.totalSupply)
      }
      counting(task)
    }
    /** Returns when nothing is held back from the files any more. */
    const gathered = Effect.suspend(() => {
      if (!writer.isGathering()) return Effect.void
      const done = Deferred.unsafeMake<void>(FiberId.none)
      write({ _tag: "Awaited", done })
      return Deferred.await(done)
    })
    if (Option.isSome(storage.supply)) {
      const ended = Effect.map(supply.run(storage.supply.value), (ending) => write({ _tag: "End", ending }))
      yield* supervisor.restarted("supply count", Effect.zipRight(ended, Effect.never))
    }
    const signatures = yield* SignatureThreads.make()
    const fork = Runtime.runFork(yield* Effect.runtime<never>())
    const bulkhead = new Bulkhead(counters, (place, error) => {
      fork(log.error("a bug, please report it; the peer's message was dropped", { place }, Cause.die(error)))
    })
    const asked = new OpenQuestions()
    const answers = yield* Answering.make(replica, bulkhead, gathered)
    const incoming = new Incoming({
      replica,
      networkId,
      network: yield* Network,
      fork,
      counters,
      signatures,
      asked,
      bulkhead,
    })
    const outgoing = yield* Outgoing.make({ answers, asked, counters, settling, write })
    const { unwritten } = recorder
    yield* supervisor.critical(Loop.COMPONENT, Loop.run({ replica, vitals, inbox, incoming, outgoing, unwritten }))
    yield* feedFromNetwork(inbox, incoming, answers)
    yield* tellMembers(replica)
    const catchUp = new CatchUp.CatchUp()
    const look = Effect.flatMap(SteadyClock.current, (at) => {
      const { opening, dag, reachedRound } = replica.core.epoch
      return catchUp.look({ epoch: opening.record.epoch, round: dag.quorumRound, reachedRound }, at)
    })
    yield* Effect.forkScoped(Effect.repeat(look, Schedule.spaced(LOOKED_EVERY)))
    const watch = new Recovery.Watch(protocol.roundIntervalMs)
    const watched = Effect.flatMap(Effect.all([SteadyClock.current, SteadyClock.wallAhead]), ([at, wallAheadMs]) => {
      const { clockAheadMs, pauses } = replica
      return watch.look({ recovery: replica.recovery(at), clockAheadMs, wallAheadMs, pauses }, at)
    })
    yield* Effect.forkScoped(Effect.repeat(watched, Schedule.spaced(LOOKED_EVERY)))

    const bell = yield* Queue.sliding<void>(1)
    const rung = Effect.map(Queue.take(bell), () => inbox.wake())
    yield* supervisor.restarted("door", Effect.forever(Effect.zipRight(rung, Effect.sleep(GATHERING))))
    const atDoor = <A, E>(taken: Effect.Effect<A, E>) =>
      Effect.tap(taken, () => {
        vitals.changed()
        bell.unsafeOffer(undefined)
      })

    const view: View = replica
    const watching: Pick<Recovery.Watch, "waiting" | "clockAheadMs" | "wrongClockAheadMs"> = watch
    return {
      /** Everything in memory. All reads within one synchronous step see the same state. */
      view,
      /** A number that changes whenever `view` may have changed. */
      revision: () => vitals.revision,
      /** The door: accepts clients' transactions, one after the other, and returns an answer to each. */
      submit: (transactions: ReadonlyArray<Transaction>) => atDoor(incoming.submit(transactions, SteadyClock.current)),
      /** Signs with the sender's next nonce and submits: nothing happens between finding the nonce and using it. */
      signAndSubmit: (request: SignRequest) =>
        atDoor(Effect.flatMap(SteadyClock.current, (at) => incoming.signAndSubmit(request, at))),
      /** A transaction that is executed while its commit is being written. */
      settling: (id: Hash) => Effect.sync(() => settling.get(id)),
      /** A transaction that had no effect in the last finalized vertex that contains it, as far as the node remembers. */
      ineffective: (id: Hash) => Effect.sync(() => ineffective.get(id)),
      /** Events from now on; writes once they are on disk. */
      events: Stream.fromPubSub(events),
      pulse: () => vitals.pulse,
      /** Looks at the clock again, for a caller that has put it forward. */
      wake: () => inbox.wake(),
      counters,
      /** What is waiting and was counted on the way in. */
      load: () => ({
        signatures: { checked: signatures.checked, waiting: signatures.waiting },
        questions: { waiting: answers.waiting, dropped: answers.dropped, heldBack: answers.heldBack },
      }),
      /** The progress of a fast sync, if one is under way. */
      fastSync: Effect.map(SteadyClock.current, (at) => Option.fromNullable(fastSync.progress(at))),
      /** The progress of catching up, if the node is fetching missing vertices. */
      catchUp: Effect.sync(() => Option.fromNullable(catchUp.progress)),
      /** What this node is waiting for, and whether its clock is right. */
      watch: watching,
    }
  })

export class Engine extends Context.Tag("udg/Engine")<Engine, Effect.Effect.Success<ReturnType<typeof make>>>() {}

export type EngineError = StateDamaged | StateBehind | RecordingFailed | SupplyViolation | InternalFault | StorageError

type Needed = Home | Configuration | Storage | Network | Supervisor

/** With another loader: a test passes one with a fault in it, to see how the node reacts. */
export const layerLoading = (load: Load): Layer.Layer<Engine, EngineError, Needed> => Layer.scoped(Engine, make(load))

export const layer = layerLoading(Loading.load)
