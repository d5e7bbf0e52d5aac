/**
 * The shell around the replica: loaded from disk, fed by the network and clients, run by one fiber (`Loop`) between the
 * way in (`Incoming`) and the way out (`Outgoing`), with one writer after it (`Writer`).
 */
import { Context, Deferred, Duration, Effect, Either, FiberId, Layer, Option, PubSub, Queue, Stream } from "effect"
import { randomBytes } from "#crypto"
import * as HalfSipHash from "../../ledger/tables/HalfSipHash.js"
import type { Network } from "../../network/Network.js"
import * as Address from "../../protocol/identity/Address.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { SignerElsewhere } from "../../protocol/identity/Keys.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import * as Verification from "../../protocol/transaction/Verification.js"
import type { Output } from "../../replica/output/Output.js"
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
import { Configuration, type Settings, type TrustedCheckpoint } from "../start/Configuration.js"
import { Home, validatorOf } from "../start/Home.js"
import * as Loading from "../start/Loading.js"
import * as Conversation from "./Conversation.js"
import { Counters } from "./Counters.js"
import * as FastSync from "./FastSync.js"
import type { Input, SignRequest } from "./Incoming.js"
import { Ineffective } from "./Ineffective.js"
import * as Journal from "./Journal.js"
import * as Loop from "./Loop.js"
import type { NodeEvent } from "./NodeEvent.js"
import { Pace } from "./Pace.js"
import { Participation } from "./Participation.js"
import * as Recorder from "./Recorder.js"
import { Recording } from "./Recording.js"
import type * as Recovery from "./Recovery.js"
import { Settling } from "./Settling.js"
import { Vitals } from "./Vitals.js"
import * as Watching from "./Watching.js"
import * as Writer from "./Writer.js"

const log = Log.for("consensus")

export type View = Pick<
  Replica,
  | "read"
  | "pool"
  | "core"
  | "provenState"
  | "closedState"
  | "isJoining"
  | "isHalted"
  | "hasWork"
  | "recovery"
  | "clockAheadMs"
  | "pauses"
>

const EVENTS_KEPT = 4_096
/** A quarter of a second of trie work; rounds wait for the rest when an epoch closes. */
const PREPARED_AT = 16_384
/** A vertex this many rounds behind the others is still in transit rather than fetched. */
const TRANSIT_ROUNDS = 2
/** A client's transaction wakes the loop at once; those within this time after it wake it once more. */
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

export type Load = typeof Loading.load

/**
 * Fails if the only validator, without configured peers, would wait forever for vertices that only it could make. Own
 * vertices are pruned by whole epochs: if those of the stored epoch exist, so do all later ones, and everything can be
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

/** The disk holds only data that this program wrote, so an exception here is a bug like any later one. */
const resumed = (...from: ConstructorParameters<typeof Replica>): Effect.Effect<Replica, InternalFault> =>
  Effect.catchAllDefect(
    Effect.sync(() => new Replica(...from)),
    (cause) =>
      new InternalFault({
        fault: new ApplyingFault({ component: Loop.COMPONENT, doing: "applying the stored state", cause }),
      }),
  )

const opened = (load: Load) =>
  Effect.gen(function* () {
    const home = yield* Home
    const { genesis, validatorKey, remoteSigner } = home
    const settings = yield* Configuration
    const self = Option.map(validatorOf(home), Address.fromPublicKey)
    const tableKey = HalfSipHash.keyFrom(randomBytes(HalfSipHash.KEY_BYTES))
    const loaded = yield* load(genesis, Option.getOrNull(self), tableKey)
    yield* requireRecent(loaded, Option.getOrNull(self), settings)
    const { contents, opened } = loaded
    const options = {
      signer: Option.getOrElse(validatorKey, () =>
        Option.getOrNull(Option.map(remoteSigner, ({ publicKey }): SignerElsewhere => ({ publicKey, sign: null }))),
      ),
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

interface Audience {
  readonly events: PubSub.PubSub<NodeEvent>
  readonly ineffective: Ineffective
  readonly settling: Settling
  readonly counters: Counters
  readonly vitals: Vitals
  readonly fastSync: FastSync.FastSync
  readonly self: Option.Option<Address.Address>
  readonly accountOf: (key: Address.Address) => Address.Address
}

/**
 * The order matters: every lookup finds a transaction somewhere, and a commit reads as final before its event is
 * published.
 */
const publishTo =
  ({ events, ineffective, settling, counters, vitals, fastSync, self, accountOf }: Audience) =>
  (event: NodeEvent) =>
    Effect.gen(function* () {
      ineffective.published(event)
      settling.end(event)
      counters.published(event)
      vitals.changed()
      yield* fastSync.published(event, yield* SteadyClock.current)
      yield* Journal.write(event, self, accountOf)
      yield* PubSub.publish(events, event)
    })

/** Returns once the files hold everything handed to the writer. */
const gatheredBy = (writer: Writer.Writer, write: (task: Writer.Task) => void): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (!writer.isGathering()) return Effect.void
    const done = Deferred.unsafeMake<void>(FiberId.none)
    write({ _tag: "Awaited", done })
    return Deferred.await(done)
  })

/** The entry for clients: accepted transactions wake the loop, once for all that arrive close together. */
const door = (inbox: Inbox<Input>, vitals: Vitals) =>
  Effect.gen(function* () {
    const bell = yield* Queue.sliding<void>(1)
    const rung = Effect.map(Queue.take(bell), () => inbox.wake())
    const supervisor = yield* Supervisor
    yield* supervisor.restarted("door", Effect.forever(Effect.zipRight(rung, Effect.sleep(GATHERING))))
    return <A, E>(taken: Effect.Effect<A, E>) =>
      Effect.tap(taken, () => {
        vitals.changed()
        bell.unsafeOffer(undefined)
      })
  })

const countersOf = (
  replica: Replica,
  self: Address.Address | null,
  accountOf: Audience["accountOf"],
  vertices: number,
): Counters => {
  const { record } = replica.core.epoch.opening
  return new Counters({
    vertices,
    participation: new Participation(self, record, replica.read.head.leaderRound, accountOf),
    isFresh: (round) => round >= replica.core.epoch.reachedRound - TRANSIT_ROUNDS,
  })
}

/** Requests open at a stop are repeated at the next start. */
const askingOf =
  ({ remoteSigner }: Context.Tag.Service<typeof Home>, inbox: Inbox<Input>) =>
  ({ id, bytes, signedAt }: Extract<Output, { readonly _tag: "Sign" }>): void => {
    if (Option.isNone(remoteSigner)) return
    if (signedAt !== null) remoteSigner.value.tell(signedAt)
    void remoteSigner.value.sign(bytes).then((answer) => {
      inbox.push({ _tag: "Signed", id, signature: Either.getOrElse(answer, () => null) })
    })
  }

const make = (load: Load) =>
  Effect.gen(function* () {
    const { genesis } = yield* Home
    const storage = yield* Storage
    const supervisor = yield* Supervisor
    const { replica, vitals, self } = yield* opened(load)
    const accountOf = (key: Address.Address) => replica.read.accountOf(key)
    const counters = countersOf(replica, Option.getOrNull(self), accountOf, yield* storage.vertices.count)
    const ineffective = new Ineffective()
    const settling = new Settling({ ...replica.read.head, totals: replica.read.totals })
    const fastSync = new FastSync.FastSync()
    const inbox = new Inbox<Input>()
    const events = yield* PubSub.sliding<NodeEvent>(EVENTS_KEPT)

    const recorder = yield* Recorder.make(replica.read.head.index)
    const writer = yield* Writer.start(storage, supervisor, {
      ...recorder.listener,
      written: (id) => Effect.sync(() => inbox.push({ _tag: "Written", id })),
      published: publishTo({ events, ineffective, settling, counters, vitals, fastSync, self, accountOf }),
    })
    const write = yield* Watching.countingSupply(replica, recorder.counting(writer.perform))
    const gathered = gatheredBy(writer, write)
    const askSigner = askingOf(yield* Home, inbox)
    const parts = { counters, settling, gathered, write, askSigner }
    const { signatures, answers, incoming, outgoing } = yield* Conversation.conversation(replica, genesis, parts)
    const { unwritten } = recorder
    yield* supervisor.critical(Loop.COMPONENT, Loop.run({ replica, vitals, inbox, incoming, outgoing, unwritten }))
    yield* Conversation.feedFromNetwork(inbox, incoming, answers)
    yield* Conversation.tellMembers(replica)
    const { catchUp, watch } = yield* Watching.watching(replica, genesis.protocol.roundIntervalMs)
    const atDoor = yield* door(inbox, vitals)

    const view: View = replica
    const whatIsWatched: Pick<Recovery.Watch, "waiting" | "clockAheadMs" | "wrongClockAheadMs"> = watch
    return {
      /** Everything in memory. All reads within one synchronous step see the same state. */
      view,
      gathered,
      /** The last commit in the files; `view` may be ahead of it. */
      written: () => settling.written,
      /** Returns once everything `view` shows now is in the files, writing it immediately. */
      viewWritten: Effect.suspend(() => {
        const { index } = view.read.head
        return index <= settling.written.index ? Effect.void : Effect.zipRight(gathered, settling.reached(index))
      }),
      revision: () => vitals.revision,
      /** Accepts clients' transactions one after the other and answers each. */
      submit: (transactions: ReadonlyArray<Transaction>) => atDoor(incoming.submit(transactions, SteadyClock.current)),
      signAndSubmit: (request: SignRequest) =>
        atDoor(Effect.flatMap(SteadyClock.current, (at) => incoming.signAndSubmit(request, at))),
      /** An executed transaction whose commit is still being written. */
      settling: (id: Hash) => Effect.sync(() => settling.get(id)),
      /** A transaction that had no effect in the last finalized vertex containing it, as far as the node remembers. */
      ineffective: (id: Hash) => Effect.sync(() => ineffective.get(id)),
      /** Events from now on. Writes appear once they are on disk. */
      events: Stream.fromPubSub(events),
      pulse: () => vitals.pulse,
      /** Checks the clock again, for a caller that has advanced it. */
      wake: () => inbox.wake(),
      counters,
      /** Current queues, and counts from admission. */
      load: () => ({
        signatures: { checked: signatures.checked, waiting: signatures.waiting },
        questions: { waiting: answers.waiting, dropped: answers.dropped, heldBack: answers.heldBack },
      }),
      fastSync: Effect.map(SteadyClock.current, (at) => Option.fromNullable(fastSync.progress(at))),
      catchUp: Effect.sync(() => Option.fromNullable(catchUp.progress)),
      watch: whatIsWatched,
    }
  })

export class Engine extends Context.Tag("udg/Engine")<Engine, Effect.Effect.Success<ReturnType<typeof make>>>() {}

export type EngineError = StateDamaged | StateBehind | RecordingFailed | SupplyViolation | InternalFault | StorageError

type Needed = Home | Configuration | Storage | Network | Supervisor

/** With another loader, so that tests can plant faults. */
export const layerLoading = (load: Load): Layer.Layer<Engine, EngineError, Needed> => Layer.scoped(Engine, make(load))

export const layer = layerLoading(Loading.load)
