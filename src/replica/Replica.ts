/**
 * A complete node except for sockets, disk, clock and keys. Messages, transactions, time and disk reports come in,
 * `Output`s go out; the class reads no clock and draws no random numbers. The node is a shell around it and the
 * simulator runs it as it is, so the simulator tests the code that ships.
 */
import { Either } from "effect"
import type * as Core from "../consensus/Core.js"
import type { Word } from "../consensus/KeyMemory.js"
import { openingOf } from "../consensus/output/Opening.js"
import type { Output as CoreOutput } from "../consensus/output/Output.js"
import { freshEpoch } from "../consensus/output/StoredEpoch.js"
import { Pauses, type Seen } from "../consensus/Pauses.js"
import type { Recovery } from "../consensus/Recovery.js"
import type * as RoundClock from "../consensus/RoundClock.js"
import { ExecutionFault, NOWHERE } from "../ledger/ExecutionFault.js"
import type { Changes, PendingTransactions, Refusal } from "../ledger/pending/PendingTransactions.js"
import type * as HalfSipHash from "../ledger/tables/HalfSipHash.js"
import type * as Checkpoint from "../protocol/epoch/Checkpoint.js"
import type { EpochRecord } from "../protocol/epoch/EpochRecord.js"
import type { Genesis } from "../protocol/epoch/Genesis.js"
import * as ProtocolVersion from "../protocol/epoch/ProtocolVersion.js"
import { type Address, fromPublicKey as addressOf } from "../protocol/identity/Address.js"
import type { Hash } from "../protocol/identity/Hash.js"
import type { Signature, Signer, SignerElsewhere } from "../protocol/identity/Keys.js"
import type { Nonce, Timestamp } from "../protocol/numbers/Natural.js"
import * as Natural from "../protocol/numbers/Natural.js"
import type { Transaction } from "../protocol/transaction/Transaction.js"
import type { Check } from "../protocol/transaction/Verification.js"
import type { Evidence } from "../protocol/vertex/Evidence.js"
import * as Header from "../protocol/vertex/Header.js"
import type { Encoded, Vertex } from "../protocol/vertex/Vertex.js"
import { Announcements } from "./asking/Announcements.js"
import { Questions } from "./asking/Questions.js"
import { SignedGossip } from "./asking/SignedGossip.js"
import type { LoadedState } from "./disk/LoadedState.js"
import type { StoredState } from "./disk/StoredState.js"
import { Hearing } from "./Hearing.js"
import { JoinedLedger } from "./joining/JoinedLedger.js"
import type { Joined } from "./joining/Joining.js"
import { Joins } from "./joining/Joins.js"
import type { Pin } from "./joining/ProvenChain.js"
import { CommitteeClock } from "./live/CommitteeClock.js"
import * as LiveState from "./live/LiveState.js"
import { type ProvenState, StateViews } from "./live/StateViews.js"
import * as Checks from "./messages/Checks.js"
import type { Answer, Message, Question } from "./messages/Message.js"
import type { Connection, PeerId } from "./messages/Peer.js"
import { Peers } from "./messages/Peers.js"
import { Outbox } from "./output/Outbox.js"
import type { Fatal, Outputs } from "./output/Output.js"
import { Signing } from "./signing/Signing.js"
import type { Judged, Use } from "./Use.js"

const MIN_PATIENCE_MS = 500
/**
 * Time between two messages with transactions: short compared with the 700 ms until a payment is final with rounds of
 * 250 ms.
 */
const MOST_GATHERED_MS = 25
/** A transaction is announced again after this many patiences without a vertex. */
const ANNOUNCED_AGAIN_AFTER = 8
/**
 * Time between two writes of pending transactions. Most become final before the second write, so they are never
 * written.
 */
const PENDING_KEPT_EVERY_MS = 1_000

export interface Options {
  /** Null for a node without a validator key. A remote signer is asked by `Sign` and answers through `signed`. */
  readonly signer: Signer | SignerElsewhere | null
  /**
   * The strict rule for arrivals. The replica applies it to the signatures of closing checkpoints, since only it knows
   * whose count, and to evidence before relaying it.
   */
  readonly isValid: (check: Check) => boolean
  /** A closing checkpoint that a fast sync must pass through. */
  readonly trust: Pin | null
  /** Whether a later epoch's state may replace this one. If not, every commit from genesis on is executed here. */
  readonly joins: boolean
  /** A secret of this node that keys its account table. */
  readonly tableKey: HalfSipHash.Key
  /** With this many changed accounts, the trie is updated before a checkpoint is due, if no other build is running. */
  readonly preparedAt: number
  /** The round from which the operator vouches that the key has signed nothing; null without such a statement. */
  readonly word: Word | null
  /** See `Core.Options`. Defaults to `"budget"`. */
  readonly pace?: RoundClock.Pace
  /** The newest version of the protocol that it knows; by default this program's. */
  readonly newestVersion?: ProtocolVersion.ProtocolVersion
}

export interface Accepted {
  readonly id: Hash
  readonly nonce: Nonce
}

type CoreCommit = Extract<CoreOutput, { _tag: "Committed" }>

/** Vertices signed here in the running epoch and later ones, ordered by epoch and round. */
const signedSince = (own: ReadonlyArray<Vertex>, { current }: StoredState): ReadonlyArray<Vertex> =>
  own
    .filter(({ header }) => header.epoch >= current.opening.record.epoch)
    .sort(({ header: a }, { header: b }) => (a.epoch === b.epoch ? a.round - b.round : a.epoch - b.epoch))

export class Replica {
  readonly #options: Options
  readonly #genesis: Genesis
  readonly #patienceMs: number
  readonly #outbox = new Outbox()
  #unfollowed: Array<{ readonly output: CoreOutput; readonly sender: PeerId | null }> = []
  #isFollowing = false
  readonly #peers: Peers
  readonly #questions: Questions
  readonly #signing: Signing
  readonly #announcements: Announcements
  readonly #gossip = new SignedGossip(() => this.#live)
  readonly #committeeClock = new CommitteeClock()
  readonly #pauses: Pauses
  #pendingKeptAt = 0
  #wallAheadMs = 0
  #live: LiveState.LiveState
  readonly #joins: Joins
  readonly #hearing: Hearing
  /** A closing checkpoint not recorded as built before a restart. */
  #closing: LoadedState["closing"]

  constructor(options: Options, stored: StoredState, { ledger, trie, views, closing }: LoadedState) {
    const { roundIntervalMs } = stored.genesis.protocol
    this.#options = options
    this.#genesis = stored.genesis
    this.#pauses = new Pauses(roundIntervalMs)
    this.#patienceMs = Math.max(MIN_PATIENCE_MS, 4 * roundIntervalMs)
    this.#peers = new Peers(this.#patienceMs, (validator) => {
      const { committee } = this.#live.core.epoch
      const seat = committee.seatOf(validator)
      return seat === undefined ? 0 : committee.weightOf(seat)
    })
    this.#questions = new Questions(this.#peers, this.#outbox, this.#patienceMs, roundIntervalMs)
    this.#announcements = new Announcements({
      gatheredMs: Math.min(MOST_GATHERED_MS, roundIntervalMs),
      againMs: ANNOUNCED_AGAIN_AFTER * this.#patienceMs,
      overheardMs: this.#patienceMs,
    })
    const self = options.signer === null ? null : addressOf(options.signer.publicKey)
    // The others were signed with another key of this validator.
    const own = [...stored.ownVertices].filter(({ header }) => header.author === self)
    this.#signing = new Signing(options, own, stored.intent, this.#outbox)
    this.#joins = new Joins(
      {
        peers: this.#peers,
        outbox: this.#outbox,
        patienceMs: this.#patienceMs,
        joins: options.joins,
        pin: options.trust,
        isValid: options.isValid,
        ledgerOf: (state) => new JoinedLedger(stored.genesis.protocol, options.tableKey, state),
        unknownIn: (record) => this.#unknownIn(record),
      },
      stored.join,
    )
    this.#hearing = new Hearing({
      live: () => this.#live,
      peers: this.#peers,
      outbox: this.#outbox,
      questions: this.#questions,
      announcements: this.#announcements,
      gossip: this.#gossip,
      signing: this.#signing,
      joins: this.#joins,
      isValid: options.isValid,
      answer: (question) => this.answer(question),
      follow: (outputs, sender, now) => this.#do(outputs, sender, now),
    })
    this.#closing = closing
    const guard = this.#signing.guard((stored.previous ?? stored.current).opening.record.epoch, roundIntervalMs)
    this.#live = LiveState.begin({
      ledger,
      trie,
      views,
      stored: {
        current: stored.current,
        previous: stored.previous,
        signed: signedSince(own, stored),
        companions: stored.companions,
      },
      guard,
      pending: stored.pending,
      roundIntervalMs,
      pace: options.pace,
    })
    // Another process may still be signing with this key, so the silence starts over. Judged by the bases that the core
    // knows.
    for (const header of stored.foreignHeaders) guard?.meet(header)
    this.#announcements.restore(this.#live.pool.all)
  }

  get read() {
    return this.#live.ledger.read
  }

  get pool(): Pick<PendingTransactions, "all" | "get" | "nextNonce" | "of" | "reserve" | "size" | "top" | "turnover"> {
    return this.#live.pool
  }

  get core(): Pick<
    Core.Core,
    "epoch" | "checkpoints" | "vertex" | "committeeOf" | "isBuiltOn" | "isHalted" | "useOf" | "signing"
  > {
    return this.#live.core
  }

  /** The state at the last checkpoint signed by a quorum, for proofs. */
  get provenState(): ProvenState | null {
    return this.#live.views.latest
  }

  /** A piece of the state at one of the last closing checkpoints, for joiners. */
  closedState(...piece: Parameters<StateViews["subtree"]>): Uint8Array | null {
    return this.#live.views.subtree(...piece)
  }

  get isJoining(): boolean {
    return this.#joins.target !== null
  }

  get isHalted(): boolean {
    return this.#outbox.isHalted
  }

  /** For display: the progress of recovery, if the node is behind or does not sign. */
  recovery(now: Timestamp): Recovery {
    const { core } = this.#live
    const { target } = this.#joins
    const following =
      target === null ? core.following(now) : ({ _tag: "Joining", epoch: target.checkpoint.epoch } as const)
    return { following, signing: core.signing }
  }

  /** For display: how far this node's wall clock is ahead of the committee's; null until a quorum has been heard. */
  get clockAheadMs(): number | null {
    return this.#committeeClock.aheadMs(this.#live.core.epoch.committee, this.#signing.self, this.#wallAheadMs)
  }

  /** For display: how often this process stalled. */
  get pauses(): Seen {
    return this.#pauses.seen
  }

  get hasWork(): boolean {
    return !this.isHalted && (this.#live.building.hasWork || this.#joins.hasWork)
  }

  /** The number of items each part holds, to check against the limits. */
  get held() {
    const { core, pool, unordered, building, views } = this.#live
    return {
      ...core.held,
      pending: pool.size,
      included: pool.inclusions,
      ...pool.remembered,
      unordered: unordered.size,
      announced: this.#announcements.size,
      ...this.#gossip.held,
      checkpoints: building.size,
      views: views.size,
      ownHeaders: this.#signing.size,
      clocks: this.#committeeClock.size,
    }
  }

  get #round(): Natural.Round {
    return this.#live.core.epoch.dag.highestRound
  }

  /** Call before any other input and on every change: see `Core.wallIs`. */
  wallIs(aheadMs: number): void {
    this.#wallAheadMs = aheadMs
    this.#live.core.wallIs(aheadMs)
  }

  /** Call once, before everything but `connected` and `wallIs`. */
  start(now: Timestamp): Outputs {
    return this.#step(now, () => {
      this.#haltIn(this.#live.core.epoch.opening.record)
      this.#do(this.#live.core.start(now), null, now)
      if (this.#closing !== null) this.#built(this.#closing.checkpoint, this.#closing.bytes, now)
      this.#closing = null
    })
  }

  /** Call at every `wakeAt`, or more often. */
  tick(now: Timestamp): Outputs {
    return this.#step(now, () => {
      this.#do(this.#live.core.tick(now), null, now)
      this.#show(this.#signing.shown(), now)
      this.#live.pool.expire(now)
      this.#questions.askWhenSilent(this.#live, now)
      this.#joins.tick(now)
    })
  }

  /** The last tick: writes all pending changes. */
  end(now: Timestamp): Outputs {
    return this.#step(now, () => this.#keepPending(this.#live.pool.drain(), now))
  }

  /** When the next tick can matter if no input arrives before. */
  wakeAt(now: Timestamp): Timestamp {
    const { core, pool } = this.#live
    if (!this.isHalted && this.#hasWorkChanged) return now
    // Runs after every input, so it must be cheap.
    let soonest: number = core.wakeAt(now)
    const keep = pool.hasChanges ? now + this.#keepsPendingIn(now) : null
    for (const at of [pool.nextExpiry, this.#announcements.wakeAt(now), this.#joins.wakeAt, keep]) {
      if (at !== null && at < soonest) soonest = Math.max(now, at)
    }
    return Natural.timestamp(soonest)
  }

  /** Takes all current peers. Call on every change. */
  connected(connections: ReadonlyArray<Connection>, now: Timestamp): Outputs {
    return this.#step(now, () => {
      const { core } = this.#live
      const from = core.epoch.opening.record.epoch
      for (const peer of this.#peers.connect(connections)) {
        this.#questions.tellOfClosing({ _tag: "AskClosing", from }, peer, now)
      }
      this.#questions.connected()
      core.connected(this.#peers.validators)
    })
  }

  /**
   * The signatures that must hold before the message may come in. Hand the message over with no other input in between:
   * whose signatures count, and which are wanted, changes with the epoch.
   */
  checksOf(message: Message, isVerified: (transaction: Transaction) => boolean = () => false): ReadonlyArray<Check> {
    const { core } = this.#live
    const signerOf: Core.Core["signerOf"] = (checkpoint, validator) => core.signerOf(checkpoint, validator)
    return Checks.checksOf(message, this.#genesis.networkId, signerOf, isVerified)
  }

  /** Whether the message needs no question or answers one. Unrequested answers are not judged. */
  isAwaited(from: PeerId, message: Message<Encoded>): boolean {
    return this.#questions.isAwaited(from, message)
  }

  /** See `Hearing.useOf`. */
  useOf(from: PeerId, message: Judged): Use {
    return this.#hearing.useOf(from, message)
  }

  /** Answers a question without the disk. Changes nothing. */
  answer(question: Question): Answer {
    const { core, views } = this.#live
    if (question._tag === "AskState") {
      const { root, position } = question
      return { _tag: "State", root, subtree: views.subtree(root, position) }
    }
    const { author } = question
    return { _tag: "Highest", author, ...core.highestKnownOf(author) }
  }

  /** Whether this is an own vertex, signed and perhaps on disk, that must not be shown to anyone yet. */
  isWithheld(hash: Hash): boolean {
    return this.#signing.isUnsent(hash) || this.#live.core.isWithheld(hash)
  }

  /** The validator whose key the peer has proven; null for a peer not yet reported to `connected`. */
  validatorOf(from: PeerId): Address | null {
    return this.#peers.validatorOf(from)
  }

  /** A requested page of rounds has arrived and is being checked. */
  pageArrived(from: PeerId, now: Timestamp): Outputs {
    return this.#step(now, () => this.#questions.pageArrived(from, now))
  }

  /** It was refused. */
  pageRefused(from: PeerId, now: Timestamp): Outputs {
    return this.#step(now, () => this.#questions.pageRefused(from, now))
  }

  /** A peer seems to be in this epoch. A peer behind gets the end of its epoch; one ahead is asked for ours. */
  heardOf(epoch: Natural.Epoch, from: PeerId, now: Timestamp): Outputs {
    return this.#step(now, () => {
      const current = this.#live.core.epoch.opening.record.epoch
      if (epoch > current) this.#questions.tellOfClosing({ _tag: "AskClosing", from: current }, from, now)
      if (epoch < current) this.#questions.tellOfClosing({ _tag: "OfferClosing", from: epoch }, from, now)
    })
  }

  /** Takes a header that is useful by itself. Its signature holds. */
  metHeader(header: Header.Header, from: PeerId, now: Timestamp): Outputs {
    return this.#step(now, () => this.#do(this.#live.core.metHeader(header, now), from, now))
  }

  /**
   * Takes in a message or, if `isWhole` is false, its useful part. The caller has verified its `checksOf`. `isRelayed`:
   * whether to relay it as gossip.
   */
  receive(
    from: PeerId,
    message: Message,
    now: Timestamp,
    isWhole = true,
  ): { readonly outputs: Outputs; readonly isRelayed: boolean } {
    let isRelayed = false
    const outputs = this.#step(now, () => {
      isRelayed = this.#hearing.receive(from, message, isWhole, now)
    })
    return { outputs, isRelayed }
  }

  /** The result `submit` would have now, known before any signature is verified. Changes nothing. */
  judge(transaction: Transaction): Either.Either<"new" | "known", Refusal> {
    if (this.isJoining || this.isHalted) return Either.left({ _tag: "NotReady" })
    return this.#live.pool.judge(transaction)
  }

  /** Takes in a client's transaction whose signatures hold. The consequences are output by the next `tick`. */
  submit(transaction: Transaction, now: Timestamp): Either.Either<Accepted, Refusal> {
    if (this.isJoining || this.isHalted) return Either.left({ _tag: "NotReady" })
    return Either.map(this.#live.pool.submit(transaction, now, this.#round), (taken) => {
      if (taken === "new") this.#announcements.add(transaction)
      return { id: transaction.id, nonce: transaction.nonce }
    })
  }

  /** This write and all earlier ones are on disk: vertices that waited for it are sent and enter the DAG. */
  written(id: number, now: Timestamp): Outputs {
    return this.#step(now, () => this.#show(this.#signing.written(id), now))
  }

  /** The answer to a `Sign`; null if the signer refuses because the slot is taken or the key may not sign that. */
  signed(id: number, signature: Signature | null, now: Timestamp): Outputs {
    return this.#step(now, () => {
      const refused = this.#signing.signed(id, signature, now)
      if (refused.length > 0) this.#do([{ _tag: "Returned", vertices: refused }], null, now)
      this.#show(this.#signing.shown(), now)
    })
  }

  #show(vertices: ReadonlyArray<Vertex>, now: Timestamp): void {
    for (const vertex of vertices) {
      this.#outbox.broadcast({ _tag: "Vertices", vertices: [vertex] })
      this.#do(this.#live.core.own(vertex, now), null, now)
    }
  }

  /**
   * Does background work while `mayContinue`: a fetched state, which makes all other work pointless, or checkpoints.
   */
  work(mayContinue: () => boolean, now: Timestamp): Outputs {
    return this.#step(now, () => {
      if (this.#joins.hasWork) {
        const joined = this.#joins.work(mayContinue, now)
        if (joined !== undefined) this.#land(joined, now)
        return
      }
      const worked = this.#live.building.work(mayContinue)
      if (Either.isLeft(worked)) this.#outbox.halt({ _tag: "SupplyInvariantViolated", violation: worked.left })
      else if (worked.right !== undefined) {
        const { checkpoint, trie } = worked.right
        this.#live.views.built(checkpoint, trie)
        this.#built(checkpoint, trie.bytes, now)
      }
    })
  }

  #step(now: Timestamp, input: () => void): Outputs {
    if (this.#pauses.look(now, this.#wallAheadMs)) this.#stoodStill(now)
    if (!this.isHalted) input()
    if (!this.isHalted && this.#hasWorkChanged) this.#do(this.#live.core.tick(now), null, now)
    if (!this.isHalted) {
      const { core, pool, unordered } = this.#live
      unordered.forgetUpTo(core.epoch.dag.collectedRound)
      this.#announcements.reached(pool.takeReached())
      for (const transactions of this.#announcements.take(pool, now)) {
        this.#outbox.broadcast({ _tag: "Transactions", transactions })
      }
      const received = pool.takeArrivals()
      if (received.length > 0) this.#outbox.emit({ _tag: "TakenIn", received })
      if (pool.hasChanges && this.#keepsPendingIn(now) === 0) this.#keepPending(pool.drainWaiting(), now)
    }
    return this.#outbox.drain()
  }

  /** Whether work that was awaited has arrived, or has been done, since the next round was planned. */
  get #hasWorkChanged(): boolean {
    const { isHurried, isAwaited } = this.#live.core
    return isHurried !== isAwaited
  }

  #stoodStill(now: Timestamp): void {
    this.#live.core.stoodStill(now)
    this.#questions.forgetHighest()
  }

  #keepsPendingIn(now: Timestamp): number {
    return Math.max(0, this.#pendingKeptAt + PENDING_KEPT_EVERY_MS - now)
  }

  #keepPending({ added, removed }: Changes, now: Timestamp): void {
    if (added.length + removed.length > 0) this.#outbox.write({ _tag: "Pending", added, removed })
    this.#pendingKeptAt = now
  }

  /**
   * Headers inside vertices may be valid by ZIP-215 alone. Relayed as evidence they would be refused, and the sender
   * penalised.
   */
  #isStrictlyValid({ first, second }: Evidence): boolean {
    return [first, second].every((header) => this.#options.isValid(Header.check(header)))
  }

  /**
   * Follows outputs in the order in which the core made them; their consequences come after all that are queued. After
   * a commit the core may propose a vertex naming vertices whose `Inserted` is queued behind that commit.
   */
  #do(outputs: ReadonlyArray<CoreOutput>, sender: PeerId | null, now: Timestamp): void {
    for (const output of outputs) this.#unfollowed.push({ output, sender })
    if (this.#isFollowing) return
    this.#isFollowing = true
    for (let at = 0; at < this.#unfollowed.length && !this.isHalted; at++) {
      const next = this.#unfollowed[at]
      if (next !== undefined) this.#follow(next.output, next.sender, now)
    }
    this.#unfollowed = []
    this.#isFollowing = false
  }

  #follow(output: CoreOutput, sender: PeerId | null, now: Timestamp): void {
    switch (output._tag) {
      case "Inserted":
        this.#questions.heard(now)
        this.#hearClock(output.vertex, now)
        this.#live.unordered.add(output.vertex)
        this.#gossip.included(output.vertex.body.heartbeats)
        this.#outbox.write({ _tag: "Inserted", vertex: output.vertex })
        return
      case "Propose":
        this.#signing.propose(output, this.#live, this.#gossip)
        return
      case "Committed":
        this.#commit(output, now)
        return
      case "Fetch":
        this.#questions.fetch(output, now)
        return
      case "CatchUp":
        // A join needs nothing from before its checkpoint.
        if (!this.isJoining) this.#questions.catchUp(output, now)
        return
      case "Invalid":
        if (sender !== null) this.#outbox.emit({ _tag: "Misbehaved", peer: sender, error: output.error })
        return
      case "EvidenceFound":
        if (this.#gossip.keepEvidence(output.evidence) && this.#isStrictlyValid(output.evidence)) {
          this.#outbox.broadcast({ _tag: "Evidence", evidence: output.evidence })
        }
        return
      case "Returned":
        this.#live.unordered.remove(output.vertices)
        for (const { body } of output.vertices) this.#live.pool.returned(body.transactions, now, this.#round)
        return
      case "SignCheckpoint":
        this.#cosign(output.checkpoint, now)
        return
      case "CheckpointFinal":
        this.#live.views.final(output.signed)
        this.#outbox.write({ _tag: "CheckpointFinal", signed: output.signed })
        return
      case "EpochStarted":
        this.#startEpoch(output)
        return
      case "Resend":
        this.#questions.resend(output)
        return
      case "AskClosing":
      case "OfferClosing":
        this.#questions.tellOfClosing(output, sender, now)
        return
      case "AskOwnHighest":
        this.#questions.askOwnHighest(output, this.#signing.self)
        return
      case "AskProgress":
        this.#questions.askProgress(output)
        return
      case "ForeignOwnHeader":
        this.#outbox.write({ _tag: "ForeignOwnHeader", header: output.header }, true)
        return
      case "HeartbeatDue":
        this.#signing.beat(output, this.#live)
        return
      case "FinalityRollback":
        this.#outbox.halt({ _tag: "FinalityRollback", rollback: output.rollback })
    }
  }

  #hearClock({ header: { author, round, timestamp } }: Vertex, now: Timestamp): void {
    // Fetched vertices are old.
    const isFresh = round >= this.#live.core.epoch.reachedRound
    if (isFresh && author !== this.#signing.self) this.#committeeClock.hear(author, round, timestamp, now)
  }

  /** Executes a commit completely or not at all. An exception on the way is a bug and halts the node. */
  #commit(output: CoreCommit, now: Timestamp): void {
    const { commit } = output
    this.#outbox.haltingOn(() => {
      try {
        return this.#execute(output, now)
      } catch (cause) {
        return { _tag: "ExecutionFault", fault: new ExecutionFault({ commit, place: NOWHERE, cause }) }
      }
    })
  }

  #execute({ commit, vertices, time }: CoreCommit, now: Timestamp): Fatal | undefined {
    const { ledger, core, pool, unordered, building } = this.#live
    const executed = ledger.execute({ commit, vertices, time })
    if (Either.isLeft(executed)) {
      const { left } = executed
      return left._tag === "ExecutionFault"
        ? { _tag: "ExecutionFault", fault: left }
        : { _tag: "SupplyInvariantViolated", violation: left }
    }
    const execution = executed.right
    const bodies = vertices.map(({ body }) => body)
    this.#gossip.executed()
    unordered.remove(vertices)
    pool.evictExecuted(
      execution,
      bodies.map(({ transactions }) => transactions),
    )
    this.#outbox.write({ _tag: "Executed", execution, vertices, settled: pool.drainRemoved() })
    if (execution.isCheckpointDue) building.add(execution, core.epoch.opening.base, ledger.freeze())
    else if (ledger.unfrozen >= this.#options.preparedAt && !building.hasWork) building.prepare(ledger.freeze())
    this.#do(core.executed({ commit, effectsDigest: execution.effectsDigest }, now), null, now)
    return undefined
  }

  #built(checkpoint: Checkpoint.Checkpoint, bytes: number, now: Timestamp): void {
    const { core } = this.#live
    const { self } = this.#signing
    const isCosigned = self !== null && core.committeeOf(checkpoint.epoch)?.seatOf(self) !== undefined
    this.#outbox.write({ _tag: "CheckpointBuilt", checkpoint, bytes, isCosigned })
    this.#do(core.built(checkpoint, now), null, now)
  }

  #cosign(checkpoint: Checkpoint.Checkpoint, now: Timestamp): void {
    this.#signing.cosign(checkpoint, now, (signature, at) => {
      this.#outbox.broadcast({ _tag: "CheckpointSignature", checkpoint, signature })
      this.#do(this.#live.core.checkpointSigned(checkpoint, signature, at), null, at)
    })
  }

  /**
   * Halts before the first round of an epoch whose rules this program does not know. A quorum has signed the previous
   * close, and everything up to there is written, so a newer program can continue.
   */
  #haltIn(record: EpochRecord): void {
    const fatal = this.#unknownIn(record)
    if (fatal !== null) this.#outbox.halt(fatal)
  }

  #unknownIn({ epoch, rules: { protocolVersion: version } }: EpochRecord): Fatal | null {
    const { newestVersion: newest = ProtocolVersion.NEWEST } = this.#options
    return version > newest ? { _tag: "UnknownVersion", epoch, version, newest } : null
  }

  #startEpoch({ opening }: Extract<CoreOutput, { _tag: "EpochStarted" }>): void {
    const { epoch } = opening.record
    this.#outbox.write({ _tag: "EpochStarted", opening })
    this.#haltIn(opening.record)
    this.#live.unordered.clear()
    this.#committeeClock.keepOnly(this.#live.core.epoch.committee)
    this.#forgetBefore(Natural.epoch(epoch - 1))
    this.#joins.reached(epoch)
  }

  #forgetBefore(oldest: Natural.Epoch): void {
    this.#gossip.forgetBefore(oldest)
    this.#signing.forgetBefore(oldest)
  }

  /** Replaces everything executed here by the state of a closing checkpoint. */
  #land({ ledger, trie, target, proven }: Joined, now: Timestamp): void {
    const opening = openingOf(target.checkpoint, ledger.read.head.time)
    this.#outbox.write({ _tag: "Joined", target, totals: ledger.read.totals, proven, opening }, true)
    this.#keepPending(this.#live.pool.drain(), now)
    const { epoch } = opening.record
    const { roundIntervalMs } = this.#genesis.protocol
    const views = new StateViews([trie])
    views.final(target)
    this.#live = LiveState.begin({
      ledger,
      trie,
      views,
      stored: {
        current: freshEpoch(opening),
        previous: null,
        signed: this.#live.core.signedLater,
        companions: [],
      },
      guard: this.#signing.guard(epoch, roundIntervalMs),
      pending: [...this.#live.pool.all],
      roundIntervalMs,
      pace: this.#options.pace,
    })
    this.#gossip.clear()
    this.#committeeClock.keepOnly(this.#live.core.epoch.committee)
    this.#forgetBefore(epoch)
    this.#live.core.wallIs(this.#wallAheadMs)
    this.#live.core.connected(this.#peers.validators)
    this.#do(this.#live.core.start(now), null, now)
  }
}
