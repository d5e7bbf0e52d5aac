/**
 * The consensus of one node, epoch after epoch, as a synchronous state machine: vertices, signatures, time and the
 * ledger's results go in, `Output`s come out. It signs, stores and sends nothing, and reads no clock.
 */

import type { CheckpointSignature, Closing, SignedCheckpoint } from "../protocol/epoch/Checkpoint.js"
import { type Checkpoint, isClosing } from "../protocol/epoch/Checkpoint.js"
import * as EpochRecord from "../protocol/epoch/EpochRecord.js"
import type { Address } from "../protocol/identity/Address.js"
import type { Hash } from "../protocol/identity/Hash.js"
import type { Epoch as EpochNumber, Timestamp } from "../protocol/numbers/Natural.js"
import * as Natural from "../protocol/numbers/Natural.js"
import type { Header } from "../protocol/vertex/Header.js"
import type { Vertex } from "../protocol/vertex/Vertex.js"
import { EarlyVertices } from "./admission/EarlyVertices.js"
import { CheckpointQuorum, type Finding } from "./CheckpointQuorum.js"
import type { OrderedCommit } from "./commit/Linearizer.js"
import { type ExecutedCommit, judgeRepeatedDecision } from "./commit/Rollback.js"
import type { Committee } from "./dag/Committee.js"
import { NotAMember, WrongBase } from "./dag/Validity.js"
import { Epoch } from "./Epoch.js"
import { Heartbeats } from "./Heartbeats.js"
import { HighestHeaders } from "./HighestHeaders.js"
import { type HighestKnown, isAbove } from "./KeyMemory.js"
import { type Options, OwnRounds } from "./OwnRounds.js"
import { type Opening, openingOf } from "./output/Opening.js"
import type { Output } from "./output/Output.js"
import type { EndedEpoch, StoredEpoch } from "./output/StoredEpoch.js"
import type { Signing as SigningState } from "./Recovery.js"
import { type FollowingHere, type Place, Retries } from "./Retries.js"
import { isMissing, StoredOwn } from "./StoredOwn.js"

export type Use =
  | { readonly _tag: "Wanted" }
  /** It is already here, or too old to matter. */
  | { readonly _tag: "Known" }
  /** Only its header matters: this node's key may be in use elsewhere, or the author may ask for its highest header. */
  | { readonly _tag: "HeaderOnly" }
  /** It belongs to another epoch, so one of the two nodes is behind. */
  | { readonly _tag: "Elsewhere"; readonly epoch: EpochNumber }
  /** No honest node sends it. */
  | { readonly _tag: "Invalid"; readonly error: WrongBase | NotAMember }

export const WANTED: Use = { _tag: "Wanted" }
export const KNOWN: Use = { _tag: "Known" }
const NO_EPOCH = Natural.epoch(0)
const HEADER_ONLY: Use = { _tag: "HeaderOnly" }

export type { Options } from "./OwnRounds.js"

export interface Stored {
  readonly current: StoredEpoch
  readonly previous: EndedEpoch | null
  /**
   * Vertices signed here since the running epoch began, by epoch and round. They are in a file of their own, which may
   * reach further than the ledger's.
   */
  readonly signed: ReadonlyArray<Vertex>
  /** Vertices inserted since the last sync of the ledger's file, in order; after a power cut the file may lack them. */
  readonly companions: ReadonlyArray<Vertex>
}

export class Core {
  readonly #options: Options
  readonly #self: Address | null
  #outputs: Array<Output> = []
  #isHalted = false
  #epoch: Epoch
  #checkpoints: CheckpointQuorum
  #previous: Place["previous"] = null
  /** This node's closing checkpoint of the running epoch, once built, and the next epoch's early vertices. */
  #closing: { readonly checkpoint: Closing; readonly early: EarlyVertices } | null = null
  /** Commits on disk that the stored vertices must decide again. */
  #recorded: Array<ExecutedCommit> = []
  #connected: ReadonlySet<Address> = new Set()
  readonly #storedOwn: StoredOwn
  readonly #ownRounds: OwnRounds
  readonly #highestHeaders = new HighestHeaders()
  readonly #heartbeats: Heartbeats
  readonly #retries: Retries

  /** Rebuilds the state from the stored vertices. `start` returns the outputs of the rebuild. */
  constructor(options: Options, stored: Stored) {
    this.#options = options
    this.#self = options.guard?.self ?? null
    this.#retries = new Retries(options.roundIntervalMs, options.guard, (output) => this.#emit(output))
    this.#ownRounds = new OwnRounds(options)
    this.#storedOwn = new StoredOwn(options.guard, stored.signed)
    this.#heartbeats = new Heartbeats(stored.current.opening.record)
    if (stored.previous !== null) {
      this.#openGuard(stored.previous.opening)
      this.#epoch = new Epoch(stored.previous.opening, this.#self, () => undefined)
      this.#checkpoints = this.#restoreCheckpoints(stored.previous)
      for (const vertex of stored.previous.vertices) {
        this.#epoch.keepOwn(vertex)
        this.#highestHeaders.remember(vertex.header)
      }
      for (const header of stored.previous.highestHeaders) {
        this.#highestHeaders.remember(header)
        this.#meetStored(header)
      }
      this.#previous = { epoch: this.#epoch, checkpoints: this.#checkpoints }
    }
    this.#recorded = [...stored.current.commits]
    this.#epoch = this.#open(stored.current.opening)
    this.#checkpoints = this.#restoreCheckpoints(stored.current)
    this.#restore(stored)
    this.#storedOwn.open(this.#epoch)
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

  #restore({ current: stored, companions }: Stored): void {
    for (const vertex of stored.vertices) this.#restoreVertex(vertex)
    // They came from the disk, so they need not be stored again.
    this.#outputs = this.#outputs.filter(({ _tag }) => _tag !== "Inserted")
    const [undecided] = this.#recorded
    if (undecided !== undefined) this.#halt({ _tag: "CommitNotDecided", recorded: undecided.commit })
    for (const vertex of companions) this.#returnCompanion(vertex)
    const closing = stored.checkpoints.find(isClosing)
    if (closing !== undefined) this.#close(closing)
    // Resends exactly the vertex signed last, which the others may never have seen.
    const last = this.#epoch.ownVertices.at(-1)
    if (last !== undefined) this.#emit({ _tag: "Resend", vertices: [last], closing: null })
  }

  /**
   * Judges a vertex of this node that is in the ledger's file but not among the signed vertices. The file of signed
   * vertices is then an old copy and lacks everything signed since. Not for a node that is alone in its committee,
   * which has all of that in the DAG.
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

  get #place(): Place {
    return {
      epoch: this.#epoch,
      checkpoints: this.#checkpoints,
      previous: this.#previous,
      closing: this.#closing?.checkpoint ?? null,
      isConnected: (validator) => this.#connected.has(validator),
      madeAt: this.#ownRounds.madeAt,
      readyAt: this.#ownRounds.planned?.isReady === true ? this.#ownRounds.planned.at : null,
    }
  }

  get epoch(): Epoch {
    return this.#epoch
  }

  get checkpoints(): CheckpointQuorum {
    return this.#checkpoints
  }

  /**
   * Whether this is a vertex of this node that was on disk at the start, may have reached nobody, and must not be shown
   * (see `SigningGuard.mayShow`). Includes epochs that have not opened here, in which another process may sign too.
   */
  isWithheld(hash: Hash): boolean {
    return this.#storedOwn.isWithheld(hash, this.#epoch)
  }

  /** Vertices signed here for epochs that have not opened here, by epoch and round. */
  get signedLater(): ReadonlyArray<Vertex> {
    return this.#storedOwn.later
  }

  /** Whether a contradiction was found. A halted node accepts no further input. */
  get isHalted(): boolean {
    return this.#isHalted
  }

  /** The committee of the running or previous epoch. Signatures under older checkpoints are useless. */
  committeeOf(epoch: EpochNumber): Committee | undefined {
    return this.#checkpointsOf(epoch)?.committee
  }

  /** The member whose key must have signed the checkpoint; undefined if the signature would add nothing. */
  signerOf(checkpoint: Checkpoint, validator: Address): EpochRecord.Member | undefined {
    const checkpoints = this.#checkpointsOf(checkpoint.epoch)
    if (checkpoints?.isNews(checkpoint, validator) !== true) return undefined
    return EpochRecord.memberOf(checkpoints.committee.record, validator)
  }

  /** A vertex of the running epoch, or one still kept of the previous one. Older ones are only on disk. */
  vertex(hash: Hash): Vertex | undefined {
    return this.#epoch.vertex(hash) ?? this.#previous?.epoch.vertex(hash)
  }

  get held() {
    const { dag, committer, admission } = this.#epoch
    return {
      vertices: dag.size,
      slots: committer.size,
      waiting: admission.waiting,
      wanted: admission.wants,
      asked: admission.asked,
      early: this.#closing?.early.size ?? 0,
      candidates: this.#checkpoints.pending + (this.#previous?.checkpoints.pending ?? 0),
      commits: this.#checkpoints.commits + (this.#previous?.checkpoints.commits ?? 0),
      highestHeaders: this.#highestHeaders.size,
      guarded: this.#options.guard?.size ?? 0,
      heldBack: this.#options.guard?.heldBack.length ?? 0,
      recovered: this.#storedOwn.size,
    }
  }

  /**
   * The answer to a member that asks for its own highest header, or for this node's. The latter includes everything
   * signed here, wherever the ledger is. While that must not be shown, the node answers as if it were in no epoch, and
   * is asked again.
   */
  highestKnownOf(author: Address): HighestKnown {
    const { epoch } = this.#epoch.opening.record
    const known = this.#highestHeaders.of(author)
    const own = author === this.#self ? this.#storedOwn.highest : undefined
    if (own === undefined || (known !== null && !isAbove(own, known))) return { epoch, header: known }
    return this.isWithheld(own.hash) ? { epoch: NO_EPOCH, header: null } : { epoch, header: own }
  }

  /** Classifies a vertex by its header, before any signature is checked. Changes nothing. */
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
      return this.#highestHeaders.isHighest(header) ? HEADER_ONLY : KNOWN
    }
    if (header.epoch === epoch + 1 && this.#closing?.early.wants(header) === true) return WANTED
    return isOwn && header.epoch >= epoch - 1 ? HEADER_ONLY : { _tag: "Elsewhere", epoch: header.epoch }
  }

  /**
   * Whether the network builds on this vertex: other authors with at least a third of the weight do, so at least one of
   * them is honest. During a standstill, or on a node that signs nothing itself, any other author is enough.
   */
  isBuiltOn(header: Header): boolean {
    const { admission, committee } = this.#epoch
    const weight = admission.weightNeeding({ header })
    if (!committee.isQuorum(committee.totalWeight - weight)) return true
    return weight > 0 && (this.#epoch.seat === undefined || this.#retries.isStandingStill)
  }

  /** Accepts a header that `useOf` classified as `HeaderOnly`, with a valid signature. */
  metHeader(header: Header, now: Timestamp): ReadonlyArray<Output> {
    return this.#step(now, () => {
      this.#meetOwn(header)
      this.#rememberLate(header)
    })
  }

  /**
   * Sets the wall clock's lead over the steady clock, from which every `now` comes. Used only for the timestamps of
   * this node's vertices: a wall clock can be set, and no wait may end early or late because of that.
   */
  wallIs(aheadMs: number): void {
    this.#ownRounds.wallIs(aheadMs)
  }

  #restoreVertex(vertex: Vertex): void {
    this.#highestHeaders.remember(vertex.header)
    this.#meetStored(vertex.header)
    this.#epoch.restore(vertex)
  }

  /** The ledger's file may be from a backup. Then the parents are missing, and the node catches up. */
  #returnCompanion(vertex: Vertex): void {
    const { opening, dag } = this.#epoch
    const { base, epoch } = vertex.header
    const belongs = epoch === opening.record.epoch && base === opening.base
    if (belongs && dag.missingParents(vertex).length === 0) this.#restoreVertex(vertex)
  }

  /** Returns the outputs of the rebuild and of the first steps. Must be called once, before anything else. */
  start(now: Timestamp): ReadonlyArray<Output> {
    // The steady clock restarts with the process, so assume that earlier events were long enough ago to wait for
    // nothing.
    const longAgo = this.#retries.longBefore(now)
    const { dag, ownVertices, committee } = this.#epoch
    const hasMade = ownVertices.length + this.#storedOwn.current.length > 0
    this.#ownRounds.start(this.#epoch, hasMade ? longAgo : null, now)
    if (dag.quorumRound >= committee.firstRound) this.#retries.reached(dag.quorumRound, longAgo)
    this.#handOver()
    return this.tick(now)
  }

  /**
   * Offers recovered vertices to the DAG and sends them, since others may lack them and nothing else may be signed for
   * their rounds. But the process may have paused or restarted before they were sent, and another one may have signed,
   * so the committee is asked first.
   */
  #releaseRecovered(now: Timestamp): void {
    const shown = this.#storedOwn.shown
    if (this.#isHalted || shown.length === 0 || !this.#retries.isRecoveryDue(now)) return
    const isLacking = (vertex: Vertex): boolean => isMissing(this.#epoch, vertex)
    // Sent first, because the rounds that they complete here are still missing elsewhere.
    if (shown.some(isLacking)) this.#retries.resendRecovered(shown, this.#epoch.dag.quorumRound)
    for (const vertex of shown) if (isLacking(vertex)) this.#receiveCurrent(vertex)
    this.#storedOwn.settle(this.#epoch)
  }

  /** Must be called at every `wakeAt`, or more often. */
  tick(now: Timestamp): ReadonlyArray<Output> {
    return this.#step(now, () => {
      this.#epoch.admission.tick()
      this.#options.guard?.tick(now, () => this.#isConnectedToQuorum())
      this.#retries.ask(this.#place, now)
      this.#releaseRecovered(now)
      this.#retries.sendAgain(this.#place, now)
    })
  }

  /** When the next tick can matter if no input arrives before. */
  wakeAt(now: Timestamp): Timestamp {
    const plan = this.#ownRounds.planned
    let soonest = this.#retries.nextAfter(now, this.#epoch.admission.waiting > 0)
    if (plan !== null && plan.at > now && plan.at < soonest) soonest = plan.at
    return Natural.timestamp(soonest)
  }

  /** Accepts a vertex from any peer, even one of this node, with valid signatures (`Validity.signatureChecks`). */
  receive(vertex: Vertex, now: Timestamp): ReadonlyArray<Output> {
    return this.#step(now, () => {
      const { header } = vertex
      this.#meetOwn(header)
      const current = this.#epoch.opening.record.epoch
      if (header.epoch === current) this.#receiveCurrent(vertex)
      else if (header.epoch < current) this.#emit({ _tag: "OfferClosing", from: header.epoch })
      else {
        if (this.#closing?.early.add(vertex) === true) this.#highestHeaders.remember(header)
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
    // A vertex that finds no place to wait for its parents is among its author's highest, and may be the only trace of
    // them.
    if (this.#epoch.receive(vertex)) this.#highestHeaders.remember(vertex.header)
    else this.#rememberLate(vertex.header)
  }

  /**
   * Remembers a vertex that arrives after its round was collected here or its epoch closed. It helps only its author,
   * in case it loses its disk: a validator that has joined starts with an epoch's first round, wherever the others are.
   */
  #rememberLate(header: Header): void {
    const { opening, committee, dag, isClosed } = this.#epoch
    const isLate = isClosed || header.round <= dag.collectedRound
    const isOfMember = header.base === opening.base && committee.seatOf(header.author) !== undefined
    if (isLate && isOfMember) this.#highestHeaders.remember(header)
  }

  /** Accepts the vertex made for a `Propose`, signed and on disk. */
  own(vertex: Vertex, now: Timestamp): ReadonlyArray<Output> {
    return this.#step(now, () => {
      this.#options.guard?.signed(vertex.header)
      this.#ownRounds.carries(vertex.body.transactions.length)
      if (vertex.header.epoch === this.#epoch.opening.record.epoch) this.#receiveCurrent(vertex)
      // The epoch closed while the vertex was being made.
      if (!this.#epoch.dag.has(vertex.header.hash)) this.#emit({ _tag: "Returned", vertices: [vertex] })
    })
  }

  /** The ledger has executed a commit. The write to disk may still be pending. */
  executed(executed: ExecutedCommit, now: Timestamp): ReadonlyArray<Output> {
    return this.#step(now, () => {
      this.#ownRounds.executed()
      this.#judge(this.#checkpointsOf(executed.commit.epoch)?.record(executed))
    })
  }

  /** The ledger has built the checkpoint of a commit, as it always does for a closing commit. */
  built(checkpoint: Checkpoint, now: Timestamp): ReadonlyArray<Output> {
    return this.#step(now, () => {
      const checkpoints = this.#checkpointsOf(checkpoint.epoch)
      this.#judge(checkpoints?.build(checkpoint))
      if (isClosing(checkpoint) && checkpoint.epoch === this.#epoch.opening.record.epoch) {
        this.#close(checkpoint)
      } else this.#cosign(checkpoint, checkpoints)
      this.#handOver()
    })
  }

  #close(checkpoint: Closing): void {
    this.#closing = { checkpoint, early: new EarlyVertices(checkpoint.hash, checkpoint.nextEpoch) }
    this.#cosign(checkpoint, this.#checkpoints)
  }

  #cosign(checkpoint: Checkpoint, checkpoints: CheckpointQuorum | undefined): void {
    if (this.#self === null || checkpoints?.committee.seatOf(this.#self) === undefined) return
    this.#emit({ _tag: "SignCheckpoint", checkpoint })
  }

  /** Accepts a valid checkpoint signature of a member of `committeeOf(checkpoint.epoch)`, including this node's own. */
  checkpointSigned(checkpoint: Checkpoint, signature: CheckpointSignature, now: Timestamp): ReadonlyArray<Output> {
    return this.checkpointsSigned({ checkpoint, signatures: [signature] }, now)
  }

  checkpointsSigned({ checkpoint, signatures }: SignedCheckpoint, now: Timestamp): ReadonlyArray<Output> {
    return this.#step(now, () => {
      const current = this.#epoch.opening.record.epoch
      if (checkpoint.epoch > current) this.#emit({ _tag: "AskClosing", from: current })
      const checkpoints = this.#checkpointsOf(checkpoint.epoch)
      for (const signature of signatures) this.#judge(checkpoints?.add(checkpoint, signature))
      this.#handOver()
    })
  }

  /** Accepts a member's answer to `AskOwnHighest`; the host has verified the header's signature. */
  answered(member: Address, answer: HighestKnown, now: Timestamp): ReadonlyArray<Output> {
    return this.#step(now, () => {
      const { header } = answer
      const isForeign = header !== null && this.#meetOwn(header)
      this.#options.guard?.answer(member, answer, this.#epoch.committee)
      this.#releaseRecovered(now)
      if (!isForeign) return
      const { round, author, hash } = header
      const wanted = [{ parent: { round, author, hash }, namedBy: member, attempt: 0 }]
      this.#emit({ _tag: "Fetch", wanted })
    })
  }

  /** Accepts a member's answer to `AskProgress`; the host has verified the header's signature. */
  testified(member: Address, answer: HighestKnown, now: Timestamp): ReadonlyArray<Output> {
    return this.#step(now, () => this.#options.guard?.testify(member, answer, this.#epoch.committee))
  }

  /** The process was paused until now. Nothing is signed before the committee has been asked again. */
  stoodStill(now: Timestamp): void {
    this.#options.guard?.stoodStill()
    this.#retries.askOfKeyLater(now)
  }

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

  /** Handles one input and its consequences, and returns the outputs. */
  #step(now: Timestamp, input: () => void): ReadonlyArray<Output> {
    if (!this.#isHalted) input()
    if (!this.#isHalted) {
      this.#retries.reached(this.#epoch.dag.quorumRound, now)
      this.#ownRounds.plan(this.#epoch, now)
      // After a quorum has ended the epoch, another vertex of it is useless.
      const proposal = this.#checkpoints.closing === null ? this.#ownRounds.propose(this.#epoch, now) : null
      if (proposal !== null) {
        this.#emit(proposal)
        this.#ownRounds.plan(this.#epoch, now)
      }
    }
    const outputs = this.#outputs
    this.#outputs = []
    return outputs
  }

  #fromEpoch(output: Output): void {
    if (this.#isHalted) return
    if (output._tag === "FinalityRollback") this.#halt(output.rollback)
    else if (output._tag === "Committed") this.#committed(output)
    else {
      if (output._tag === "Inserted") this.#options.guard?.saw(output.vertex.header, this.#epoch.committee)
      this.#emit(output)
    }
  }

  #committed(output: Extract<Output, { _tag: "Committed" }>): void {
    const recorded = this.#recorded.shift()
    if (recorded !== undefined) {
      const rollback = judgeRepeatedDecision(recorded.commit, output.commit)
      if (rollback !== null) this.#halt(rollback)
      return
    }
    this.#emit(output)
    this.#ownRounds.committed()
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

  /** Starts the next epoch once a quorum of the ending epoch's committee has signed this node's closing checkpoint. */
  #handOver(): void {
    if (this.#isHalted || this.#closing === null) return
    const { checkpoint, early } = this.#closing
    if (this.#checkpoints.closing?.checkpoint.hash !== checkpoint.hash) return
    const opening = openingOf(checkpoint, this.#epoch.position.time)
    this.#forget(opening)
    this.#previous = { epoch: this.#epoch, checkpoints: this.#checkpoints }
    this.#epoch = this.#open(opening)
    this.#checkpoints = new CheckpointQuorum(this.#epoch.committee)
    this.#closing = null
    this.#ownRounds.open()
    this.#retries.begin()
    this.#heartbeats.open(opening.record)
    this.#emit({ _tag: "EpochStarted", opening })
    this.#storedOwn.open(this.#epoch)
    for (const vertex of early.vertices) this.#receiveCurrent(vertex)
  }

  #forget(opening: Opening): void {
    this.#options.guard?.forgetBefore(this.#epoch.opening.record.epoch)
    const next = new Set(opening.record.members.map(({ address }) => address))
    const { committee } = this.#epoch
    this.#highestHeaders.keepOnly((author) => next.has(author) || committee.seatOf(author) !== undefined)
  }

  /**
   * Whether somebody waits for the next round. False while a commit is unexecuted, since it may already have what is
   * awaited.
   */
  get isAwaited(): boolean {
    return this.#ownRounds.isAwaited
  }

  /** Whether the next round is planned for somebody who waits. If that has changed, a tick is due. */
  get isHurried(): boolean {
    return this.#ownRounds.isHurried
  }

  /** This node's position in its epoch: see docs/recovery.md. */
  following(now: Timestamp): FollowingHere {
    return this.#retries.following(this.#place, now)
  }

  /** Whether this node signs vertices and, if not, why. */
  get signing(): SigningState {
    const { committee, dag } = this.#epoch
    return this.#options.guard?.state(committee, dag.quorumRound) ?? { _tag: "NoSeat" }
  }
}
