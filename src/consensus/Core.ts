/**
 * The consensus of one node, one epoch after another, as a synchronous machine: vertices, signatures, time and what the
 * ledger did come in, `Output`s come out. It signs nothing, stores nothing, sends nothing and reads no clock.
 */

import type { Checkpoint, CheckpointSignature, SignedCheckpoint } from "../protocol/epoch/Checkpoint.js"
import type { Member } from "../protocol/epoch/EpochRecord.js"
import type { Address } from "../protocol/identity/Address.js"
import type { Hash } from "../protocol/identity/Hash.js"
import type { Epoch as EpochNumber, Round, Timestamp } from "../protocol/numbers/Natural.js"
import * as Natural from "../protocol/numbers/Natural.js"
import * as Sats from "../protocol/numbers/Sats.js"
import type { Header } from "../protocol/vertex/Header.js"
import type { Vertex } from "../protocol/vertex/Vertex.js"
import { EarlyVertices } from "./admission/EarlyVertices.js"
import { CheckpointQuorum, type Finding } from "./CheckpointQuorum.js"
import type { OrderedCommit } from "./commit/Linearizer.js"
import { type ExecutedCommit, judgeDecidedAnew } from "./commit/Rollback.js"
import type { Committee } from "./dag/Committee.js"
import { NotAMember, WrongBase } from "./dag/Validity.js"
import { Epoch } from "./Epoch.js"
import { Heartbeats } from "./Heartbeats.js"
import { type Opening, openingOf } from "./output/Opening.js"
import type { Output } from "./output/Output.js"
import type { EndedEpoch, StoredEpoch } from "./output/StoredEpoch.js"
import { Pace } from "./Pace.js"
import type { Following, Signing as SigningState } from "./Recovery.js"
import * as RoundClock from "./RoundClock.js"
import type { SigningGuard, Told } from "./SigningGuard.js"

/** Parents are fetched one by one up to this many rounds ahead; a longer way is made by asking for whole rounds. */
const FETCHED_ROUNDS = 16
/** Behind a quorum by more than this, a node asks for whole rounds. */
const TOLERATED_LAG_ROUNDS = 4
/** Retries without a new round of a quorum after which a node asks for what it may lack; a partition is no reason to shout. */
const STANDSTILL_RETRIES = 8

/** Recovered vertices that are sent at once: as many as fit in the waiting rooms of others, and not too much for the line. */
const RECOVERED_AT_ONCE = { vertices: 64, bytes: 2_097_152 }

/** Retries in vain after which the cause is no lost message: everything is sent again, but less often. */
const PATIENT_AFTER_RETRIES = 40
const PATIENT_RETRIES = 4

/** What a vertex can be of use for. */
export type Use =
  | { readonly _tag: "Wanted" }
  /** It is here, or too old to matter. */
  | { readonly _tag: "Known" }
  /** Only its header: somebody may sign with the own key, or its author may ask what it has signed. */
  | { readonly _tag: "HeaderOnly" }
  /** Of another epoch, which says that one of the two nodes is behind. */
  | { readonly _tag: "Elsewhere"; readonly epoch: EpochNumber }
  /** No honest node sends it. */
  | { readonly _tag: "Invalid"; readonly error: WrongBase | NotAMember }

export const WANTED: Use = { _tag: "Wanted" }
export const KNOWN: Use = { _tag: "Known" }
const HEADER_ONLY: Use = { _tag: "HeaderOnly" }

export interface Options {
  readonly roundIntervalMs: number
  /** None for a node without a validator key. */
  readonly guard: SigningGuard | null
}

/** Of fast syncs only the replica knows. */
type FollowingHere = Exclude<Following, { readonly _tag: "Joining" }>

interface Lacking {
  readonly fromRound: Round
  readonly toRound: Round
  readonly pace: Pace
}

export interface Stored {
  readonly current: StoredEpoch
  readonly previous: EndedEpoch | null
  /**
   * Signed here in the running epoch and later ones, in the order of epochs and rounds. They are in a file of their own,
   * and what is left of the other file may end before them.
   */
  readonly signed: ReadonlyArray<Vertex>
}

export class Core {
  readonly #options: Options
  readonly #self: Address | null
  #outputs: Array<Output> = []
  #isHalted = false
  #epoch: Epoch
  #checkpoints: CheckpointQuorum
  #previous: { readonly epoch: Epoch; readonly checkpoints: CheckpointQuorum } | null = null
  /** The own closing checkpoint of the running epoch, once the ledger has built it. */
  #closing: Checkpoint | null = null
  /** Commits on disk that the stored vertices have to decide again. */
  #recorded: Array<ExecutedCommit> = []
  #early: EarlyVertices | null = null
  /** The last round that was proposed in this epoch, whether or not the vertex is back yet. */
  #proposedRound: Round | null = null
  #madeAt: Timestamp | null = null
  /** Whether no round was completed for long, as of the last tick. */
  #isStandingStill = false
  /** How far the wall clock is ahead of the steady one. */
  #wallAheadMs = 0
  /** The highest round with vertices of a quorum, and when that was first seen: nodes without a key can stand still too. */
  #moved: { readonly round: Round; readonly at: Timestamp } | null = null
  /** The highest round that others are in, and when that was first seen. */
  #begun: RoundClock.Own["begun"] | null = null
  /** What the last step left to be made, and when. */
  #planned: RoundClock.Plan | null = null
  #connected: ReadonlySet<Address> = new Set()
  /** Own vertices of epochs that have not opened here, in the order of epochs and rounds. */
  #signedLater: ReadonlyArray<Vertex>
  /**
   * Own vertices that the disk kept and the DAG did not have when the epoch was opened here, in the order of their rounds;
   * none once it has them all.
   */
  #recovered: ReadonlyArray<Vertex> = []
  readonly #highestHeaders = new Map<Address, Header>()
  readonly #heartbeats: Heartbeats
  readonly #fetchPace: Pace
  readonly #askPace: Pace
  readonly #resendPace: Pace
  readonly #recoveryPace: Pace
  readonly #patientPace: Pace
  readonly #catchUpPace: Pace
  readonly #standstillPace: Pace

  /** Rebuilds the state the stored vertices had led to. What that asks of the host is the answer to `start`. */
  constructor(options: Options, stored: Stored) {
    this.#options = options
    this.#self = options.guard?.self ?? null
    const retryMs = Math.max(RoundClock.MIN_TIMEOUT_MS, 2 * options.roundIntervalMs)
    this.#fetchPace = new Pace(Math.max(20, Sats.divideFloor(options.roundIntervalMs, 4)))
    this.#askPace = new Pace(retryMs)
    this.#resendPace = new Pace(retryMs)
    this.#recoveryPace = new Pace(retryMs)
    this.#patientPace = new Pace(PATIENT_RETRIES * retryMs)
    this.#catchUpPace = new Pace(retryMs)
    this.#standstillPace = new Pace(STANDSTILL_RETRIES * retryMs)
    this.#heartbeats = new Heartbeats(stored.current.opening.record)
    if (stored.previous !== null) {
      this.#openGuard(stored.previous.opening)
      this.#epoch = new Epoch(stored.previous.opening, this.#self, () => undefined)
      this.#checkpoints = this.#restoreCheckpoints(stored.previous)
      for (const vertex of stored.previous.vertices) {
        this.#epoch.keepOwn(vertex)
        this.#remember(vertex.header)
      }
      for (const header of stored.previous.highestHeaders) {
        this.#remember(header)
        this.#meetStored(header)
      }
      this.#previous = { epoch: this.#epoch, checkpoints: this.#checkpoints }
    }
    this.#recorded = [...stored.current.commits]
    this.#epoch = this.#open(stored.current.opening)
    this.#checkpoints = this.#restoreCheckpoints(stored.current)
    this.#restore(stored.current)
    this.#signedLater = stored.signed
    this.#recover()
  }

  #restoreCheckpoints(stored: StoredEpoch): CheckpointQuorum {
    const committee = this.#epoch.committee
    const checkpoints = new CheckpointQuorum(committee)
    for (const commit of stored.commits) checkpoints.record(commit)
    for (const checkpoint of stored.checkpoints) checkpoints.build(checkpoint)
    for (const { checkpoint, signatures } of stored.signed) {
      for (const signature of signatures) this.#judge(checkpoints.add(checkpoint, signature))
    }
    return checkpoints
  }

  #restore(stored: StoredEpoch): void {
    for (const vertex of stored.vertices) {
      this.#remember(vertex.header)
      this.#meetStored(vertex.header)
      this.#epoch.restore(vertex)
    }
    // They are on disk: that is where they came from.
    this.#outputs = this.#outputs.filter(({ _tag }) => _tag !== "Inserted")
    const [undecided] = this.#recorded
    if (undecided !== undefined) this.#halt({ _tag: "CommitNotDecided", recorded: undecided.commit })
    const closing = stored.checkpoints.find(({ nextEpoch }) => nextEpoch !== null)
    if (closing !== undefined) this.#close(closing)
    // Exactly the vertex that was signed last is sent again; the others may never have seen it.
    const last = this.#epoch.ownVertices.at(-1)
    if (last !== undefined) this.#emit({ _tag: "Resend", vertices: [last], closing: null })
  }

  /**
   * An own vertex that is in the ledger's file and not among what was signed: the file with the latter is an old copy, and
   * does not say what was signed since. Who is alone has all of that in the DAG.
   */
  #meetStored(header: Header): void {
    if (this.#epoch.committee.size > 1) this.#meetOwn(header)
  }

  #open(opening: Opening): Epoch {
    this.#openGuard(opening)
    return new Epoch(opening, this.#self, (output) => this.#fromEpoch(output))
  }

  #openGuard({ record, base }: Opening): void {
    const header = this.#options.guard?.open(record.epoch, base)
    if (header !== undefined) this.#emit({ _tag: "ForeignOwnHeader", header })
  }

  /** The running epoch, to look things up in. */
  get epoch(): Epoch {
    return this.#epoch
  }

  get checkpoints(): CheckpointQuorum {
    return this.#checkpoints
  }

  /** Signed here in epochs that have not opened here, in the order of epochs and rounds. */
  get signedLater(): ReadonlyArray<Vertex> {
    return this.#signedLater
  }

  /** Whether a contradiction was found. Nothing is taken in any more. */
  get isHalted(): boolean {
    return this.#isHalted
  }

  /** The committee of the running epoch or the one before; signatures under older checkpoints are of no use. */
  committeeOf(epoch: EpochNumber): Committee | undefined {
    return this.#checkpointsOf(epoch)?.committee
  }

  /** The key a signature under a checkpoint must hold for; none when it would say nothing new. */
  signerOf(checkpoint: Checkpoint, validator: Address): Member | undefined {
    const checkpoints = this.#checkpointsOf(checkpoint.epoch)
    if (checkpoints?.isNews(checkpoint, validator) !== true) return undefined
    const seat = checkpoints.committee.seatOf(validator)
    return seat === undefined ? undefined : checkpoints.committee.member(seat)
  }

  /** A vertex of the running epoch or of what is kept of the one before. Everything older is on disk. */
  vertex(hash: Hash): Vertex | undefined {
    return this.#epoch.vertex(hash) ?? this.#previous?.epoch.vertex(hash)
  }

  /** How much of everything is kept: what a limit has to hold for. */
  get held() {
    const { dag, committer, admission } = this.#epoch
    return {
      vertices: dag.size,
      slots: committer.size,
      waiting: admission.waiting,
      wanted: admission.wants,
      asked: admission.asked,
      early: this.#early?.size ?? 0,
      candidates: this.#checkpoints.pending + (this.#previous?.checkpoints.pending ?? 0),
      commits: this.#checkpoints.commits + (this.#previous?.checkpoints.commits ?? 0),
      highestHeaders: this.#highestHeaders.size,
      guarded: this.#options.guard?.size ?? 0,
      heldBack: this.#options.guard?.heldBack.length ?? 0,
      recovered: this.#recovered.length + this.#signedLater.length,
    }
  }

  /** The answer to a member that asks for its own highest header. */
  toldOf(author: Address): Told {
    return { epoch: this.#epoch.opening.record.epoch, header: this.#highestHeaders.get(author) ?? null }
  }

  /** What a vertex can be of use for, found out from its header before any signature is looked at. Changes nothing. */
  useOf(header: Header): Use {
    const { opening, committee, admission, isClosed } = this.#epoch
    const { epoch } = opening.record
    const isOwn = header.author === this.#self
    if (header.epoch === epoch && !(isOwn && isClosed)) {
      const { base, author } = header
      if (base !== opening.base)
        return { _tag: "Invalid", error: new WrongBase({ found: base, expected: opening.base }) }
      if (committee.seatOf(author) === undefined) return { _tag: "Invalid", error: new NotAMember({ author }) }
      if (!isClosed && !admission.isHereOrOld({ header })) return WANTED
      return this.#isHighest(header) ? HEADER_ONLY : KNOWN
    }
    if (header.epoch === epoch + 1 && this.#early?.wants(header) === true) return WANTED
    return isOwn && header.epoch >= epoch - 1 ? HEADER_ONLY : { _tag: "Elsewhere", epoch: header.epoch }
  }

  /**
   * Whether the network builds on this vertex: authors of at least a third of the weight do, besides its own, so an honest
   * one among them. While nothing moves, or for a node that signs nothing itself, it is enough that anybody does.
   */
  isBuiltOn(header: Header): boolean {
    const { admission, committee } = this.#epoch
    const weight = admission.weightNeeding({ header })
    if (!committee.isQuorum(committee.totalWeight - weight)) return true
    return weight > 0 && (this.#epoch.seat === undefined || this.#isStandingStill)
  }

  /** A header that `useOf` wanted for its own sake; its signature holds. */
  metHeader(header: Header, now: Timestamp): ReadonlyArray<Output> {
    return this.#step(now, () => {
      this.#meetOwn(header)
      this.#rememberLate(header)
    })
  }

  /**
   * What the wall clock shows, as the difference to the steady clock that every `now` comes from. It goes into the
   * timestamps of own vertices and nowhere else: a wall clock may be set, and then no wait may end early or late.
   */
  wallIs(aheadMs: number): void {
    this.#wallAheadMs = aheadMs
  }

  /** What the rebuilding asked for, and the first steps. Called once, before anything else. */
  start(now: Timestamp): ReadonlyArray<Output> {
    // The steady clock of this run knows nothing of the run that stored them: long enough ago to wait for nothing.
    const longAgo = Natural.timestamp(Math.max(0, now - this.#standstillPace.everyMs))
    const { dag, ownVertices, committee } = this.#epoch
    if (ownVertices.length + this.#recovered.length > 0) this.#madeAt = longAgo
    if (dag.quorumRound >= committee.firstRound) this.#moved = { round: dag.quorumRound, at: longAgo }
    this.#handOver()
    this.#placeRecovered()
    return this.tick(now)
  }

  /** Finds the own vertices of an epoch that has just been opened: nothing else may ever be signed for their rounds. */
  #recover(): void {
    const { dag, opening } = this.#epoch
    const { epoch } = opening.record
    const own = this.#signedLater.filter(({ header }) => header.epoch === epoch)
    this.#signedLater = this.#signedLater.filter(({ header }) => header.epoch > epoch)
    this.#recovered = own.filter(({ header }) => header.round > dag.collectedRound && !dag.has(header.hash))
  }

  /**
   * Offers recovered vertices to the DAG. Perhaps nobody else has them, and nobody may sign their rounds again, so rounds
   * may not go on without them.
   */
  #placeRecovered(): void {
    if (this.#isHalted) return
    const { dag } = this.#epoch
    const isMissing = ({ header }: Vertex): boolean => header.round > dag.collectedRound && !dag.has(header.hash)
    for (const vertex of this.#recovered) if (isMissing(vertex)) this.#receiveCurrent(vertex)
    if (!this.#recovered.some(isMissing)) this.#recovered = []
  }

  /** Called at every `wakeAt`, or more often. */
  tick(now: Timestamp): ReadonlyArray<Output> {
    return this.#step(now, () => {
      this.#epoch.admission.tick()
      this.#options.guard?.tick(now, () => this.#isConnectedToQuorum())
      this.#askCommittee(now)
      this.#askForMissing(now)
      this.#sendAgain(now)
    })
  }

  /** When the next tick can matter, if nothing comes in before. */
  wakeAt(now: Timestamp): Timestamp {
    const house = this.#epoch.admission.waiting > 0 ? this.#fetchPace : this.#resendPace
    const plan = this.#planned
    let soonest = house.nextAfter(now)
    if (plan !== null && plan.at > now && plan.at < soonest) soonest = plan.at
    return Natural.timestamp(soonest)
  }

  /** A vertex whose signatures hold (`Validity.signatureChecks`), from anybody, also an own one from outside. */
  receive(vertex: Vertex, now: Timestamp): ReadonlyArray<Output> {
    return this.#step(now, () => {
      const { header } = vertex
      this.#meetOwn(header)
      const current = this.#epoch.opening.record.epoch
      if (header.epoch === current) this.#receiveCurrent(vertex)
      else if (header.epoch < current) this.#emit({ _tag: "OfferClosing", from: header.epoch })
      else {
        if (this.#early?.add(vertex) === true) this.#remember(header)
        this.#emit({ _tag: "AskClosing", from: current })
      }
    })
  }

  #meetOwn(header: Header): boolean {
    if (this.#options.guard?.meet(header) !== true) return false
    this.#emit({ _tag: "ForeignOwnHeader", header })
    return true
  }

  #receiveCurrent(vertex: Vertex): void {
    this.#epoch.receive(vertex)
    if (this.#epoch.vertex(vertex.header.hash) !== undefined) this.#remember(vertex.header)
    else this.#rememberLate(vertex.header)
  }

  /**
   * What comes after its round was collected here, or its epoch closed, is of use to its author alone, should it lose its
   * disk: one that has joined begins with the first round of an epoch, wherever the others are.
   */
  #rememberLate(header: Header): void {
    const { opening, committee, dag, isClosed } = this.#epoch
    const isLate = isClosed || header.round <= dag.collectedRound
    if (isLate && header.base === opening.base && committee.seatOf(header.author) !== undefined) this.#remember(header)
  }

  #remember(header: Header): void {
    if (this.#isHighest(header)) this.#highestHeaders.set(header.author, header)
  }

  #isHighest({ author, epoch, round }: Header): boolean {
    const before = this.#highestHeaders.get(author)
    return before === undefined || epoch > before.epoch || (epoch === before.epoch && round > before.round)
  }

  /** The vertex made of a `Propose`, signed and on disk. */
  own(vertex: Vertex, now: Timestamp): ReadonlyArray<Output> {
    return this.#step(now, () => {
      this.#options.guard?.signed(vertex.header)
      if (vertex.header.epoch === this.#epoch.opening.record.epoch) this.#receiveCurrent(vertex)
      // The epoch closed while the vertex was being made.
      if (!this.#epoch.dag.has(vertex.header.hash)) this.#emit({ _tag: "Returned", vertices: [vertex] })
    })
  }

  /** The ledger has executed a commit. Its write may still be on the way to the disk. */
  executed(executed: ExecutedCommit, now: Timestamp): ReadonlyArray<Output> {
    return this.#step(now, () => this.#judge(this.#checkpointsOf(executed.commit.epoch)?.record(executed)))
  }

  /** The ledger has built the checkpoint of a commit; of a closing commit always. */
  built(checkpoint: Checkpoint, now: Timestamp): ReadonlyArray<Output> {
    return this.#step(now, () => {
      const checkpoints = this.#checkpointsOf(checkpoint.epoch)
      this.#judge(checkpoints?.build(checkpoint))
      if (checkpoint.nextEpoch !== null && checkpoint.epoch === this.#epoch.opening.record.epoch) {
        this.#close(checkpoint)
      } else this.#cosign(checkpoint, checkpoints)
      this.#handOver()
    })
  }

  #close(closing: Checkpoint): void {
    if (closing.nextEpoch === null) return
    this.#closing = closing
    this.#early = new EarlyVertices(closing.hash, closing.nextEpoch)
    this.#cosign(closing, this.#checkpoints)
  }

  #cosign(checkpoint: Checkpoint, checkpoints: CheckpointQuorum | undefined): void {
    if (this.#self === null || checkpoints?.committee.seatOf(this.#self) === undefined) return
    this.#emit({ _tag: "SignCheckpoint", checkpoint })
  }

  /** A signature under a checkpoint that holds for the member of `committeeOf(checkpoint.epoch)`; own ones too. */
  checkpointSigned(checkpoint: Checkpoint, signature: CheckpointSignature, now: Timestamp): ReadonlyArray<Output> {
    return this.checkpointsSigned({ checkpoint, signatures: [signature] }, now)
  }

  /** The same for many signatures under one checkpoint. */
  checkpointsSigned({ checkpoint, signatures }: SignedCheckpoint, now: Timestamp): ReadonlyArray<Output> {
    return this.#step(now, () => {
      const current = this.#epoch.opening.record.epoch
      if (checkpoint.epoch > current) this.#emit({ _tag: "AskClosing", from: current })
      const checkpoints = this.#checkpointsOf(checkpoint.epoch)
      for (const signature of signatures) this.#judge(checkpoints?.add(checkpoint, signature))
      this.#handOver()
    })
  }

  /** A member's answer to `AskOwnHighest`; the host has checked that the header's signature holds. */
  answered(member: Address, told: Told, now: Timestamp): ReadonlyArray<Output> {
    return this.#step(now, () => {
      const { header } = told
      const isForeign = header !== null && this.#meetOwn(header)
      this.#options.guard?.answer(member, told, this.#epoch.committee)
      if (!isForeign) return
      const { round, author, hash } = header
      const wanted = [{ parent: { round, author, hash }, namedBy: member, attempt: 0 }]
      this.#emit({ _tag: "Fetch", wanted })
    })
  }

  /** Which validators this node is connected to at the moment. */
  connected(validators: Iterable<Address>): void {
    this.#connected = new Set(validators)
  }

  #isConnectedToQuorum(): boolean {
    const { committee } = this.#epoch
    let weight = 0
    for (const { address, weight: own } of committee.record.members) {
      if (address === this.#self || this.#connected.has(address)) weight += own
    }
    return committee.isQuorum(weight)
  }

  #checkpointsOf(epoch: EpochNumber): CheckpointQuorum | undefined {
    if (epoch === this.#epoch.opening.record.epoch) return this.#checkpoints
    return epoch === this.#previous?.epoch.opening.record.epoch ? this.#previous?.checkpoints : undefined
  }

  #emit(output: Output): void {
    this.#outputs.push(output)
  }

  #halt(rollback: Extract<Output, { _tag: "FinalityRollback" }>["rollback"]): void {
    if (this.#isHalted) return
    this.#isHalted = true
    this.#emit({ _tag: "FinalityRollback", rollback })
  }

  /** One input, what follows from it, and what is to be done about it. */
  #step(now: Timestamp, input: () => void): ReadonlyArray<Output> {
    if (!this.#isHalted) input()
    if (!this.#isHalted) {
      const { quorumRound } = this.#epoch.dag
      if (this.#moved?.round !== quorumRound) this.#moved = { round: quorumRound, at: now }
      this.#planned = this.#plan(now)
      if (this.#propose(now)) this.#planned = this.#plan(now)
    }
    const outputs = this.#outputs
    this.#outputs = []
    return outputs
  }

  #fromEpoch(output: Output): void {
    if (this.#isHalted) return
    if (output._tag === "FinalityRollback") this.#halt(output.rollback)
    else if (output._tag === "Committed") this.#committed(output)
    else this.#emit(output)
  }

  #committed(output: Extract<Output, { _tag: "Committed" }>): void {
    const recorded = this.#recorded.shift()
    if (recorded !== undefined) {
      const rollback = judgeDecidedAnew(recorded.commit, output.commit)
      if (rollback !== null) this.#halt(rollback)
      return
    }
    this.#emit(output)
    this.#beat(output)
  }

  #beat({ commit }: OrderedCommit): void {
    if (this.#self === null || this.#epoch.seat !== undefined || !this.#heartbeats.isDue(commit)) return
    this.#emit({ _tag: "HeartbeatDue", commitIndex: commit.index, commitHash: commit.hash })
  }

  #judge(finding: Finding | undefined): void {
    if (finding === undefined) return
    if (finding.final !== null) this.#emit({ _tag: "CheckpointFinal", signed: finding.final })
    if (finding.rollback !== null) this.#halt(finding.rollback)
  }

  /** Starts the next epoch once the own closing checkpoint is signed by a quorum of the committee it ends. */
  #handOver(): void {
    const own = this.#closing
    if (this.#isHalted || own === null || this.#checkpoints.closing?.checkpoint.hash !== own.hash) return
    const opening = openingOf(own, this.#epoch.position.time)
    if (opening === null) return
    this.#forget(opening)
    this.#previous = { epoch: this.#epoch, checkpoints: this.#checkpoints }
    this.#epoch = this.#open(opening)
    this.#checkpoints = new CheckpointQuorum(this.#epoch.committee)
    this.#closing = null
    this.#proposedRound = null
    this.#moved = null
    this.#heartbeats.open(opening.record)
    this.#emit({ _tag: "EpochStarted", opening })
    this.#recover()
    this.#placeRecovered()
    const early = this.#early?.vertices ?? []
    this.#early = null
    for (const vertex of early) this.#receiveCurrent(vertex)
  }

  #forget(opening: Opening): void {
    this.#options.guard?.forgetBefore(this.#epoch.opening.record.epoch)
    const next = new Set(opening.record.members.map(({ address }) => address))
    for (const author of this.#highestHeaders.keys()) {
      if (!next.has(author) && this.#epoch.committee.seatOf(author) === undefined) this.#highestHeaders.delete(author)
    }
  }

  #plan(now: Timestamp): RoundClock.Plan | null {
    const { dag, committer, position, reachedRound, ownRound, isClosed, seat } = this.#epoch
    if (isClosed || seat === undefined) return null
    const { epoch } = this.#epoch.opening.record
    const highest = this.#options.guard?.highest ?? null
    const signedRound = highest?.epoch === epoch ? highest.round : ownRound
    const round = Natural.round(Math.max(ownRound, signedRound, this.#proposedRound ?? ownRound))
    const { begunRound } = dag
    if (this.#begun?.round !== begunRound) this.#begun = { round: begunRound, at: now }
    // Not before the own last vertex is back from the disk: the next one is to follow on it.
    const begun = round > ownRound ? { round: ownRound, at: now } : this.#begun
    const own = { round, madeAt: this.#madeAt, lastCommitRound: position.leaderRound, reachedRound, begun }
    return RoundClock.plan(dag, committer, this.#options.roundIntervalMs, own)
  }

  /** Whether the next own vertex was due and is to be made. */
  #propose(now: Timestamp): boolean {
    const guard = this.#options.guard
    const plan = this.#planned
    const { seat, committee, opening } = this.#epoch
    if (guard === null || seat === undefined || plan === null || plan.at > now) return false
    // A quorum has ended the epoch: a vertex more of it helps nobody, and members that started anew since may no longer
    // know what this key had signed in it before its disk was set back.
    if (this.#checkpoints.closing !== null || guard.toAsk(committee).length > 0) return false
    const { round } = plan
    const { epoch } = opening.record
    if (!guard.maySign(epoch, round)) return false
    this.#proposedRound = round
    this.#madeAt = now
    const coinbase = committee.coinbase(round, seat)
    const parents = this.#epoch.proposalParents(round)
    const timestamp = Natural.timestamp(Math.max(0, now + this.#wallAheadMs))
    this.#emit({ _tag: "Propose", base: opening.base, epoch, round, parents, coinbase, timestamp })
    return true
  }

  #askCommittee(now: Timestamp): void {
    const members = this.#options.guard?.toAsk(this.#epoch.committee) ?? []
    if (members.length > 0 && this.#askPace.isDue(now)) this.#emit({ _tag: "AskOwnHighest", members })
  }

  #askForMissing(now: Timestamp): void {
    const { admission, dag, isClosed } = this.#epoch
    if (isClosed) return
    if (admission.waiting > 0 && this.#fetchPace.isDue(now)) {
      const wanted = admission.toFetch(dag.quorumRound + FETCHED_ROUNDS, now, this.#askPace.everyMs)
      if (wanted.length > 0) this.#emit({ _tag: "Fetch", wanted })
    }
    this.#catchUp(now)
  }

  /** Where this node stands in its epoch: see docs/recovery.md. */
  following(now: Timestamp): FollowingHere {
    const { dag, reachedRound, isClosed, opening, committee } = this.#epoch
    const { epoch } = opening.record
    if (isClosed) {
      const own = this.#closing
      const hasSigned = (member: Address): boolean =>
        own !== null && this.#checkpoints.signatureOf(own, member) !== undefined
      return { _tag: "Closing", epoch, lacks: this.#membersWithout(hasSigned) }
    }
    if (this.#checkpoints.closing !== null) return { _tag: "EpochOver", epoch }
    if (dag.quorumRound + TOLERATED_LAG_ROUNDS < reachedRound) {
      return { _tag: "Behind", round: dag.quorumRound, reachedRound }
    }
    if (this.#hasStopped(now)) {
      const round = Natural.round(Math.max(dag.quorumRound + 1, committee.firstRound))
      const there = new Set(dag.at(round).map(({ seat }) => committee.member(seat).address))
      return { _tag: "Standstill", round, lacks: this.#membersWithout((member) => there.has(member)) }
    }
    return { _tag: "InStep" }
  }

  #membersWithout(has: (member: Address) => boolean): ReadonlyArray<Address> {
    const { members } = this.#epoch.opening.record
    return members.flatMap(({ address }) => (has(address) ? [] : [address]))
  }

  /** Whether own vertices are signed, and if not, why. */
  get signing(): SigningState {
    return this.#options.guard?.state(this.#epoch.committee) ?? { _tag: "NoSeat" }
  }

  #hasStopped(now: Timestamp): boolean {
    return this.#moved !== null && now - this.#moved.at >= this.#standstillPace.everyMs
  }

  #catchUp(now: Timestamp): void {
    const state = this.following(now)
    this.#isStandingStill = this.#hasStopped(now)
    this.#epoch.admission.admitUnnamed(state._tag === "EpochOver" || this.#isStandingStill)
    const lacking = this.#lackedIn(state)
    if (lacking?.pace.isDue(now) !== true) return
    const { epoch } = this.#epoch.opening.record
    const { fromRound, toRound } = lacking
    this.#emit({ _tag: "CatchUp", epoch, fromRound, toRound })
  }

  /** The rounds to ask for in this state, and how often. */
  #lackedIn(state: FollowingHere): Lacking | null {
    switch (state._tag) {
      case "InStep":
      case "Closing":
        return null
      case "Behind":
        if (!this.#isStandingStill) {
          return { fromRound: state.round, toRound: state.reachedRound, pace: this.#catchUpPace }
        }
        return { ...this.#everything, pace: this.#catchUpPace }
      case "EpochOver":
        return { ...this.#everything, pace: this.#catchUpPace }
      case "Standstill":
        // A follower of a network that has halted lacks nothing that a member does not ask for.
        return this.#epoch.seat === undefined ? null : { ...this.#everything, pace: this.#standstillPace }
    }
  }

  /**
   * All rounds that are still kept, parents first. Whatever decided the end of an epoch lies anywhere up to its last vertex:
   * an indirect decision more than two rounds above its leader. And when nothing has moved for long, what the others decided
   * by may be a vertex that its author showed only to them and nobody will ever name, since they closed the epoch with it;
   * or one that is named and fetched but finds no place to wait for its parents, because its author has filled the waiting
   * room with vertices upon none.
   *
   * What the rounds above a quorum's build on may lie below it: a second vertex that came here unnamed. Whoever asks only
   * for the rounds above gets nothing that it can use, however honest the answer and however far behind it is.
   */
  get #everything(): Pick<Lacking, "fromRound" | "toRound"> {
    const { dag, reachedRound, opening } = this.#epoch
    const last = Math.max(reachedRound, dag.highestRound) + opening.record.rules.epochRounds
    return {
      fromRound: Natural.round(dag.collectedRound + 1),
      toRound: Natural.round(Math.min(last, Number.MAX_SAFE_INTEGER)),
    }
  }

  /** Lost messages must not halt the network: whoever stands still says again what it said last. */
  #sendAgain(now: Timestamp): void {
    const isStuck = this.#madeAt !== null && now - this.#madeAt >= this.#resendPace.everyMs
    const vertices: Array<Vertex> = []
    if (this.#recovered.length > 0 && this.#recoveryPace.isDue(now)) this.#resendRecovered()
    const { dag, isClosed, ownVertices, committee } = this.#epoch
    const ending = isClosed ? { epoch: this.#epoch, checkpoints: this.#checkpoints } : this.#previous
    const isNextHeard = !isClosed && dag.quorumRound >= committee.firstRound
    const closing = isNextHeard ? null : this.#ownClosing(ending?.checkpoints)
    if (!isNextHeard && ending?.epoch.seat !== undefined) vertices.push(...ending.epoch.ownVertices)
    if (!isClosed && isStuck) vertices.push(...ownVertices.slice(-1))
    const hasLongStopped =
      this.#madeAt !== null && now - this.#madeAt >= PATIENT_AFTER_RETRIES * this.#resendPace.everyMs
    const pace = hasLongStopped ? this.#patientPace : this.#resendPace
    if ((vertices.length === 0 && closing === null) || !pace.isDue(now)) return
    this.#emit({ _tag: "Resend", vertices, closing })
  }

  /**
   * The lowest rounds first, from the last one of which a quorum is here: others may still lack what has entered the DAG
   * here, and ask for what lies further back.
   */
  #resendRecovered(): void {
    this.#placeRecovered()
    const { quorumRound } = this.#epoch.dag
    const vertices: Array<Vertex> = []
    let bytes = 0
    for (const vertex of this.#recovered) {
      if (vertex.header.round < quorumRound) continue
      bytes += vertex.encoded.length
      const isTooMuch = vertices.length >= RECOVERED_AT_ONCE.vertices || bytes > RECOVERED_AT_ONCE.bytes
      if (isTooMuch && vertices.length > 0) break
      vertices.push(vertex)
    }
    if (vertices.length > 0) this.#emit({ _tag: "Resend", vertices, closing: null })
  }

  #ownClosing(checkpoints: CheckpointQuorum | undefined): Extract<Output, { _tag: "Resend" }>["closing"] {
    const checkpoint = checkpoints === this.#checkpoints ? this.#closing : (checkpoints?.closing?.checkpoint ?? null)
    if (checkpoint === null || checkpoints === undefined || this.#self === null) return null
    const signature = checkpoints.signatureOf(checkpoint, this.#self)
    return signature === undefined ? null : { checkpoint, signature: { validator: this.#self, signature } }
  }
}
