/**
 * One node, whole: everything it does apart from sockets, disk, clock and keys. Messages, transactions, time and what
 * the disk has done come in, `Output`s come out; nothing in it reads a clock or draws chance. The simulator runs this
 * class, and the node is a shell around it, so what the simulator proves is what runs.
 */
import { Either } from "effect"
import type { Execution } from "../../ledger/Execution.js"
import { Ledger } from "../../ledger/Ledger.js"
import { PendingTransactions, type Refusal } from "../../ledger/PendingTransactions.js"
import * as Trie from "../../ledger/trie/Trie.js"
import * as Address from "../../protocol/Address.js"
import * as Checkpoint from "../../protocol/Checkpoint.js"
import type { Nonce, Round, Timestamp } from "../../protocol/Counter.js"
import * as Counter from "../../protocol/Counter.js"
import type { Evidence } from "../../protocol/Evidence.js"
import type { Genesis } from "../../protocol/Genesis.js"
import type { Hash } from "../../protocol/Hash.js"
import type { Header } from "../../protocol/Header.js"
import * as Heartbeat from "../../protocol/Heartbeat.js"
import type { Signer } from "../../protocol/Keys.js"
import { MIN_STAKE_SATS } from "../../protocol/Sats.js"
import * as StateRecord from "../../protocol/StateRecord.js"
import type { Transaction } from "../../protocol/Transaction.js"
import type { Check } from "../../protocol/Verification.js"
import * as Vertex from "../../protocol/Vertex.js"
import * as Core from "../Core.js"
import type { Output as CoreOutput } from "../Output.js"
import { SigningGuard } from "../SigningGuard.js"
import * as Assignment from "./Assignment.js"
import { type Asking, CatchingUp } from "./CatchingUp.js"
import { CheckpointBuilding } from "./CheckpointBuilding.js"
import * as Checks from "./Checks.js"
import { EvidencePool } from "./EvidencePool.js"
import { HeartbeatPool } from "./HeartbeatPool.js"
import { type Fetched, Joining } from "./Joining.js"
import type { Answer, Message } from "./Message.js"
import * as Opened from "./Opened.js"
import type { Fatal, Output, Outputs } from "./Output.js"
import type { Connection, PeerId } from "./Peer.js"
import { Peers } from "./Peers.js"
import type { Pin } from "./ProvenChain.js"
import { StateViews } from "./StateViews.js"
import type { Stored, StoredJoin } from "./Stored.js"
import { UnorderedVertices } from "./UnorderedVertices.js"
import * as VertexBody from "./VertexBody.js"
import type { Write } from "./Write.js"

/** Least time an answer is waited for. */
const MIN_PATIENCE_MS = 500
const LAST_ROUND = Counter.round(Number.MAX_SAFE_INTEGER)

export interface Options {
  /** None for a node without a validator key. */
  readonly signer: Signer | null
  /** Judges signatures under closing checkpoints: only the replica knows whose count. */
  readonly isValid: (check: Check) => boolean
  /** A closing checkpoint that a fast sync must pass through. */
  readonly trust: Pin | null
}

export interface Accepted {
  readonly id: Hash
  readonly nonce: Nonce
}

type CoreCommit = Extract<CoreOutput, { _tag: "Committed" }>

export class Replica {
  readonly #options: Options
  readonly #genesis: Genesis
  readonly #self: Address.Address | null
  readonly #peers: Peers
  readonly #catchingUp: CatchingUp
  readonly #patienceMs: number
  readonly #evidence = new EvidencePool()
  readonly #heartbeats = new HeartbeatPool()
  /** Signed here, of the running epoch and the one before; on disk or on the way there. */
  readonly #ownHeaders: Map<Hash, Header>
  #ledger: Ledger
  #core: Core.Core
  #pool: PendingTransactions
  #unordered: UnorderedVertices
  #building: CheckpointBuilding
  #views: StateViews
  #joining: Joining | null = null
  #keptJoin: StoredJoin | null
  /** A closing checkpoint that was not known to be built before a restart. */
  #closing: Checkpoint.Checkpoint | null
  #awaiting: ReadonlyArray<{ readonly writeId: number; readonly vertex: Vertex.Vertex }> = []
  /** New transactions that the others have not been told of. */
  #unsent: Array<Transaction> = []
  #outputs: Array<Output> = []
  #writes = 0
  /** When something last came into the DAG. */
  #heardAt = Counter.timestamp(0)
  #isHalted = false

  /** A replica as its disk left it; of a new network, see `GenesisState`. */
  static open(options: Options, stored: Stored): Either.Either<Replica, Opened.CannotOpen> {
    return Either.map(Opened.open(stored), (opened) => new Replica(options, stored, opened))
  }

  private constructor(options: Options, stored: Stored, opened: Opened.Opened) {
    const { roundIntervalMs } = stored.genesis.protocol
    this.#options = options
    this.#genesis = stored.genesis
    this.#self = options.signer === null ? null : Address.fromPublicKey(options.signer.publicKey)
    this.#patienceMs = Math.max(MIN_PATIENCE_MS, 4 * roundIntervalMs)
    this.#peers = new Peers(this.#patienceMs)
    this.#catchingUp = new CatchingUp(this.#peers, this.#patienceMs)
    this.#ownHeaders = new Map([...stored.ownHeaders].map((header) => [header.hash, header]))
    this.#ledger = opened.ledger
    this.#building = new CheckpointBuilding(opened.trie)
    this.#views = opened.views
    this.#closing = opened.closing
    this.#keptJoin = stored.join
    const guard = this.#guard((stored.previous ?? stored.current).opening.record.epoch)
    for (const header of stored.foreignHeaders) guard?.meet(header)
    this.#core = new Core.Core({ roundIntervalMs, guard }, stored)
    this.#pool = this.#poolOf(stored.pending)
    this.#unordered = this.#unorderedOf(stored.current.vertices)
  }

  #guard(oldest: Counter.Epoch): SigningGuard | null {
    const { roundIntervalMs } = this.#genesis.protocol
    return this.#self === null ? null : new SigningGuard(this.#self, roundIntervalMs, oldest, this.#ownHeaders.values())
  }

  #poolOf(
    received: Iterable<{ readonly transaction: Transaction; readonly receivedAt: Timestamp }>,
  ): PendingTransactions {
    const ledger = this.#ledger
    const pool = new PendingTransactions({
      admission: (transaction, reserved) => ledger.admission(transaction, reserved),
      account: (address) => ledger.read.account(address),
    })
    pool.restore(received, this.#round)
    return pool
  }

  #unorderedOf(vertices: Iterable<Vertex.Vertex>): UnorderedVertices {
    const unordered = new UnorderedVertices(this.#pool)
    for (const vertex of vertices) {
      if (this.#core.epoch.dag.get(vertex.header.hash)?.isOrdered === false) unordered.add(vertex)
    }
    return unordered
  }

  get #round(): Round {
    return this.#core.epoch.dag.highestRound
  }

  /** What anybody may ask about the finalized state. */
  get read() {
    return this.#ledger.read
  }

  get pool(): Omit<PendingTransactions, "submit" | "settle" | "restore" | "drain" | "included" | "excluded"> {
    return this.#pool
  }

  /** To look at, not to feed. */
  get core(): Pick<Core.Core, "epoch" | "checkpoints" | "vertex" | "committeeOf" | "isHalted"> {
    return this.#core
  }

  /** Whether it fetches the state of a closing checkpoint, or has stopped over one. */
  get isJoining(): boolean {
    return this.#joining?.target !== undefined && this.#joining?.target !== null
  }

  get isHalted(): boolean {
    return this.#isHalted
  }

  get hasWork(): boolean {
    return !this.#isHalted && this.#building.hasWork
  }

  /** The state of a closing checkpoint that is still kept, for proofs. */
  view(root: Hash): Trie.Trie | undefined {
    return this.#views.get(root)
  }

  /** Called once, before anything but `connected`. */
  start(now: Timestamp): Outputs {
    return this.#step(() => {
      this.#do(this.#core.start(now), null, now)
      const closing = this.#closing
      this.#closing = null
      if (closing !== null) this.#built(closing, 0, now)
    })
  }

  tick(now: Timestamp): Outputs {
    return this.#step(() => {
      this.#do(this.#core.tick(now), null, now)
      this.#pool.expire(now)
      this.#joining?.tick(now)
      this.#askWhetherThereIsMore(now)
      this.#finishJoining(now)
    })
  }

  wakeAt(now: Timestamp): Timestamp {
    if (this.#unsent.length > 0) return now
    const moments = [
      this.#core.wakeAt(now),
      this.#pool.nextExpiry,
      this.#joining?.isStopped === false ? this.#joining.wakeAt : null,
    ]
    const ahead = moments.flatMap((at) => (at === null || at === undefined ? [] : [Math.max(now, at)]))
    return Counter.timestamp(Math.min(...ahead))
  }

  /** All peers there are at the moment. Called whenever that changes. */
  connected(connections: ReadonlyArray<Connection>, now: Timestamp): Outputs {
    return this.#step(() => {
      const from = this.#core.epoch.opening.record.epoch
      for (const to of this.#peers.connect(connections)) {
        if (!this.#peers.isDue("AskClosing", to, now)) continue
        this.#emit({ _tag: "Send", to, message: { _tag: "AskClosing", from } })
      }
      this.#core.connected(this.#peers.validators)
    })
  }

  /** The signatures that must hold before the message may come in. */
  checksOf(message: Message, isVerified: (transaction: Transaction) => boolean = () => false): ReadonlyArray<Check> {
    const { networkId } = this.#genesis
    return Checks.checksOf(message, { networkId, committeeOf: (epoch) => this.#core.committeeOf(epoch), isVerified })
  }

  /** A message whose `checksOf` hold. */
  receive(from: PeerId, message: Message, now: Timestamp): Outputs {
    return this.#step(() => this.#receive(from, message, now))
  }

  /** The door, for a transaction whose signatures hold. What follows from it comes out with the next `tick`. */
  submit(transaction: Transaction, now: Timestamp): Either.Either<Accepted, Refusal> {
    if (this.isJoining || this.#isHalted) return Either.left({ _tag: "NotReady" })
    return Either.map(this.#pool.submit(transaction, now, this.#round), (taken) => {
      if (taken === "new") this.#unsent.push(transaction)
      return { id: transaction.id, nonce: transaction.nonce }
    })
  }

  /** This write and all before it are on the disk. */
  written(id: number, now: Timestamp): Outputs {
    return this.#step(() => {
      const safe = this.#awaiting.filter(({ writeId }) => writeId <= id)
      this.#awaiting = this.#awaiting.filter(({ writeId }) => writeId > id)
      for (const { vertex } of safe) {
        this.#emit({ _tag: "Broadcast", message: { _tag: "Vertices", vertices: [vertex] } })
        this.#do(this.#core.own(vertex, now), null, now)
      }
    })
  }

  /** Background work while it may: checkpoints. */
  work(mayContinue: () => boolean, now: Timestamp): Outputs {
    return this.#step(() => {
      const worked = this.#building.work(mayContinue)
      if (Either.isLeft(worked)) return this.#halt({ _tag: "SupplyInvariantViolated", violation: worked.left })
      if (worked.right === undefined) return
      const { checkpoint, trie } = worked.right
      if (checkpoint.nextEpoch !== null) this.#views.add(trie)
      this.#built(checkpoint, trie.bytes, now)
    })
  }

  #step(input: () => void): Outputs {
    if (!this.#isHalted) input()
    if (!this.#isHalted) {
      this.#unordered.forgetUpTo(this.#core.epoch.dag.collectedRound)
      this.#sendTransactions()
      this.#keepPending()
    }
    const outputs = this.#outputs
    this.#outputs = []
    return outputs
  }

  #emit(output: Output): void {
    if (!this.#isHalted) this.#outputs.push(output)
  }

  #write(write: Write, isSynced = false): number {
    const id = ++this.#writes
    this.#emit({ _tag: "Write", id, write, isSynced })
    return id
  }

  #halt(fatal: Fatal): void {
    this.#emit({ _tag: "Fatal", fatal })
    this.#isHalted = true
  }

  /** Where nobody forwards what the committee says, the peers' disks tell as much, a little later. */
  #askWhetherThereIsMore(now: Timestamp): void {
    if (now < this.#heardAt) this.#heardAt = now
    if (now - this.#heardAt < 2 * this.#patienceMs) return
    this.#heardAt = now
    const { dag, opening } = this.#core.epoch
    const { epoch } = opening.record
    const asking = this.#catchingUp.wanted({ epoch, fromRound: dag.quorumRound, toRound: LAST_ROUND }, now)
    if (asking === null) return
    this.#ask(asking)
    this.#emit({ _tag: "Send", to: asking.to, message: { _tag: "AskClosing", from: epoch } })
  }

  #sendTransactions(): void {
    if (this.#unsent.length === 0) return
    this.#emit({ _tag: "Broadcast", message: { _tag: "Transactions", transactions: this.#unsent } })
    this.#unsent = []
  }

  #keepPending(): void {
    if (this.#pool.hasChanges) this.#write({ _tag: "Pending", ...this.#pool.drain() })
  }

  // What others say.

  #receive(from: PeerId, message: Message, now: Timestamp): void {
    switch (message._tag) {
      case "Vertices":
        for (const vertex of message.vertices) this.#do(this.#core.receive(vertex, now), from, now)
        return
      case "Rounds": {
        for (const vertex of message.vertices) this.#do(this.#core.receive(vertex, now), from, now)
        this.#ask(this.#catchingUp.answered(from, message, now))
        return
      }
      case "Transactions":
        for (const transaction of message.transactions) this.#pool.submit(transaction, now, this.#round)
        return
      case "Heartbeat":
        this.#hearHeartbeat(message.heartbeat)
        return
      case "Evidence":
        this.#keepEvidence(message.evidence)
        return
      case "CheckpointSignature":
        this.#do(this.#core.checkpointSigned(message.checkpoint, message.signature, now), from, now)
        return
      case "Closing":
        this.#hearClosing(from, message, now)
        return
      case "Highest": {
        const member = this.#peers.validatorOf(from)
        if (member === null || message.author !== this.#self) return
        const own = message.header?.author === this.#self ? message.header : null
        this.#do(this.#core.answered(member, own, now), from, now)
        return
      }
      case "State":
        this.#joining?.received(from, message, now)
        this.#finishJoining(now)
        return
      case "AskVertices":
      case "AskRounds":
      case "AskClosing":
        this.#emit({ _tag: "Serve", to: from, question: message })
        return
      case "AskHighest": {
        const { author } = message
        const header = this.#core.highestHeaderOf(author)
        this.#emit({ _tag: "Send", to: from, message: { _tag: "Highest", author, header } })
        return
      }
      case "AskState": {
        const subtree = this.#views.subtree(message.root, message.position)
        this.#emit({ _tag: "Send", to: from, message: { _tag: "State", root: message.root, subtree } })
        return
      }
    }
  }

  #ask(asking: Asking | null): void {
    if (asking !== null) this.#emit({ _tag: "Send", to: asking.to, message: asking.question })
  }

  #hearHeartbeat(heartbeat: Heartbeat.Heartbeat): void {
    // Whoever stakes nothing cannot come in, and must not fill anybody's memory.
    const { stakedAmount } = this.#ledger.read.stake(heartbeat.validator)
    if (this.#core.epoch.seat !== undefined && stakedAmount >= MIN_STAKE_SATS)
      this.#heartbeats.add(heartbeat, this.#round)
  }

  #keepEvidence(evidence: Evidence): boolean {
    const { epoch, author } = evidence.first
    const committee = this.#core.committeeOf(epoch)
    return committee?.seatOf(author) !== undefined && this.#evidence.add(evidence)
  }

  #hearClosing(from: PeerId, message: Extract<Answer, { _tag: "Closing" }>, now: Timestamp): void {
    const { newest } = message
    for (const signed of newest === null ? message.signed : [...message.signed, newest]) {
      this.#do(this.#core.checkpointsSigned(this.#genuine(signed), now), from, now)
    }
    const { record } = this.#core.epoch.opening
    if (this.#joining === null && newest !== null && newest.checkpoint.epoch > record.epoch) {
      const trust = { record, pin: this.#options.trust, isValid: this.#options.isValid }
      const around = {
        peers: this.#peers,
        patienceMs: this.#patienceMs,
        emit: (output: Output) => this.#emit(output),
        write: (write: Write) => void this.#write(write),
      }
      this.#joining = new Joining(around, trust, this.#keptJoin, now)
      this.#keptJoin = null
    }
    this.#joining?.offered(from, message, now)
    this.#finishJoining(now)
  }

  /** With those signatures that hold for members of the committee this node knows. */
  #genuine({ checkpoint, signatures }: Checkpoint.SignedCheckpoint): Checkpoint.SignedCheckpoint {
    const committee = this.#core.committeeOf(checkpoint.epoch)
    return {
      checkpoint,
      signatures: signatures.filter(({ validator, signature }) => {
        const seat = committee?.seatOf(validator)
        if (committee === undefined || seat === undefined) return false
        return this.#options.isValid(Checkpoint.check(checkpoint, committee.member(seat), signature))
      }),
    }
  }

  // What the consensus asks for.

  #do(outputs: ReadonlyArray<CoreOutput>, sender: PeerId | null, now: Timestamp): void {
    for (const output of outputs) if (!this.#isHalted) this.#follow(output, sender, now)
  }

  #follow(output: CoreOutput, sender: PeerId | null, now: Timestamp): void {
    switch (output._tag) {
      case "Inserted":
        this.#heardAt = now
        this.#unordered.add(output.vertex)
        this.#heartbeats.included(output.vertex.body.heartbeats)
        this.#write({ _tag: "Inserted", vertex: output.vertex })
        return
      case "Propose":
        this.#propose(output)
        return
      case "Committed":
        this.#commit(output, now)
        return
      case "Fetch":
        this.#fetch(output)
        return
      case "CatchUp":
        this.#ask(this.#catchingUp.wanted(output, now))
        return
      case "Invalid":
        if (sender !== null) this.#emit({ _tag: "Misbehaved", peer: sender, error: output.error })
        return
      case "EvidenceFound":
        if (!this.#keepEvidence(output.evidence)) return
        this.#emit({ _tag: "Broadcast", message: { _tag: "Evidence", evidence: output.evidence } })
        return
      case "Returned":
        this.#unordered.remove(output.vertices)
        for (const { body } of output.vertices) this.#pool.returned(body.transactions, now, this.#round)
        return
      case "SignCheckpoint":
        this.#cosign(output.checkpoint, now)
        return
      case "CheckpointFinal":
        this.#write({ _tag: "CheckpointFinal", signed: output.signed })
        this.#emit({ _tag: "CheckpointFinal", signed: output.signed })
        return
      case "EpochStarted":
        this.#startEpoch(output)
        return
      case "Resend":
        this.#resend(output)
        return
      case "AskClosing":
      case "OfferClosing":
        this.#tellOfClosing(output, sender, now)
        return
      case "AskOwnHighest":
        this.#askOwnHighest(output.members)
        return
      case "ForeignOwnHeader":
        this.#write({ _tag: "ForeignOwnHeader", header: output.header }, true)
        this.#emit({ _tag: "ForeignOwnHeader", header: output.header })
        return
      case "HeartbeatDue":
        this.#beat(output)
        return
      case "FinalityRollback":
        this.#halt({ _tag: "FinalityRollback", rollback: output.rollback })
        return
    }
  }

  #propose(slot: Extract<CoreOutput, { _tag: "Propose" }>): void {
    const { signer } = this.#options
    if (signer === null) return
    const { base, epoch, round, parents, coinbase, timestamp } = slot
    const { record } = this.#core.epoch.opening
    const sources = { pool: this.#pool, evidence: this.#evidence, heartbeats: this.#heartbeats }
    const isAssigned = (account: Address.Address): boolean => Assignment.proposerOf(record, account) === this.#self
    const body = VertexBody.fill(sources, { round, parents: parents.length, isAssigned })
    const vertex = Vertex.sign({ base, epoch, round, parents, timestamp, coinbase }, body, signer)
    this.#ownHeaders.set(vertex.header.hash, vertex.header)
    this.#unordered.add(vertex)
    const writeId = this.#write({ _tag: "OwnVertex", vertex }, true)
    this.#awaiting = [...this.#awaiting, { writeId, vertex }]
  }

  #commit({ commit, vertices, time }: CoreCommit, now: Timestamp): void {
    const executed = this.#ledger.execute({ commit, vertices, time })
    if (Either.isLeft(executed)) {
      this.#halt({ _tag: "SupplyInvariantViolated", violation: executed.left })
      return
    }
    const execution = executed.right
    this.#unordered.remove(vertices)
    for (const { body } of vertices) this.#evidence.ordered(body.evidence)
    // What came in before belongs into a write of its own, so that this one says only what the commit took out.
    this.#keepPending()
    this.#pool.settle(
      execution,
      vertices.map(({ body }) => body.transactions),
    )
    const settled = this.#pool.drain().removed
    const writeId = this.#write({ _tag: "Executed", execution, vertices, settled })
    this.#emit({ _tag: "Executed", writeId, execution, vertices })
    this.#checkpoint(execution)
    this.#do(this.#core.executed({ commit, effectsDigest: execution.effectsDigest }, now), null, now)
  }

  #checkpoint(execution: Execution): void {
    if (!execution.isCheckpointDue) return
    this.#building.add(execution, this.#core.epoch.opening.base, this.#ledger.freeze())
  }

  #built(checkpoint: Checkpoint.Checkpoint, bytes: number, now: Timestamp): void {
    const isMember = this.#self !== null && this.#core.committeeOf(checkpoint.epoch)?.seatOf(this.#self) !== undefined
    this.#write({ _tag: "CheckpointBuilt", checkpoint })
    this.#emit({ _tag: "CheckpointBuilt", checkpoint, bytes, isCosigned: isMember })
    this.#do(this.#core.built(checkpoint, now), null, now)
  }

  #cosign(checkpoint: Checkpoint.Checkpoint, now: Timestamp): void {
    const { signer } = this.#options
    if (signer === null) return
    const signature = Checkpoint.sign(checkpoint, signer)
    this.#emit({ _tag: "Broadcast", message: { _tag: "CheckpointSignature", checkpoint, signature } })
    this.#do(this.#core.checkpointSigned(checkpoint, signature, now), null, now)
  }

  #startEpoch({ opening }: Extract<CoreOutput, { _tag: "EpochStarted" }>): void {
    const { epoch } = opening.record
    this.#write({ _tag: "EpochStarted", opening })
    this.#unordered.clear()
    this.#forgetBefore(Counter.epoch(epoch - 1))
    if (this.#joining !== null && (this.#joining.target?.checkpoint.epoch ?? 0) < epoch) this.#joining = null
    this.#emit({ _tag: "EpochStarted", epoch })
  }

  #forgetBefore(oldest: Counter.Epoch): void {
    this.#evidence.forgetBefore(oldest)
    for (const [hash, { epoch }] of this.#ownHeaders) if (epoch < oldest) this.#ownHeaders.delete(hash)
  }

  #fetch({ wanted }: Extract<CoreOutput, { _tag: "Fetch" }>): void {
    const asked = new Map<PeerId, Array<Hash>>()
    for (const { parent, namedBy, attempt } of wanted) {
      const [author] = attempt === 0 ? this.#peers.peersOf(namedBy) : []
      const peer = author ?? this.#peers.next()
      if (peer !== undefined) asked.set(peer, [...(asked.get(peer) ?? []), parent.hash])
    }
    for (const [to, hashes] of asked) this.#emit({ _tag: "Send", to, message: { _tag: "AskVertices", hashes } })
  }

  #resend({ vertices, closing }: Extract<CoreOutput, { _tag: "Resend" }>): void {
    if (vertices.length > 0) this.#emit({ _tag: "Broadcast", message: { _tag: "Vertices", vertices } })
    if (closing !== null) this.#emit({ _tag: "Broadcast", message: { _tag: "CheckpointSignature", ...closing } })
  }

  #tellOfClosing(
    { _tag, from }: Extract<CoreOutput, { _tag: "AskClosing" | "OfferClosing" }>,
    sender: PeerId | null,
    now: Timestamp,
  ): void {
    if (sender === null || !this.#peers.isDue(_tag, sender, now)) return
    const question = { _tag: "AskClosing", from } as const
    if (_tag === "OfferClosing") this.#emit({ _tag: "Serve", to: sender, question })
    else this.#emit({ _tag: "Send", to: sender, message: question })
  }

  #askOwnHighest(members: ReadonlyArray<Address.Address>): void {
    if (this.#self === null) return
    for (const member of members) {
      for (const to of this.#peers.peersOf(member)) {
        this.#emit({ _tag: "Send", to, message: { _tag: "AskHighest", author: this.#self } })
      }
    }
  }

  #beat({ commitIndex, commitHash }: Extract<CoreOutput, { _tag: "HeartbeatDue" }>): void {
    const { signer } = this.#options
    if (signer === null || this.#self === null) return
    const { stakedAmount, leaving } = this.#ledger.read.stake(this.#self)
    if (stakedAmount < MIN_STAKE_SATS || leaving !== null) return
    const heartbeat = Heartbeat.sign(commitIndex, commitHash, signer)
    this.#emit({ _tag: "Broadcast", message: { _tag: "Heartbeat", heartbeat } })
  }

  // The state of a closing checkpoint takes the place of everything executed here.

  #finishJoining(now: Timestamp): void {
    const fetched = this.#joining?.fetched
    if (fetched === undefined) return
    const ledger = this.#ledgerOf(fetched)
    if (Either.isLeft(ledger)) {
      this.#joining?.stop(ledger.left)
      return
    }
    const opening = Core.openingOf(fetched.target.checkpoint, ledger.right.read.head.time)
    if (opening === null) {
      this.#joining?.stop("it opens no epoch")
      return
    }
    this.#joining = null
    for (const signed of fetched.proven) this.#write({ _tag: "CheckpointFinal", signed })
    this.#write({ _tag: "Joined", target: fetched.target, opening }, true)
    this.#ledger = ledger.right
    this.#building = new CheckpointBuilding(fetched.trie)
    this.#views = new StateViews([fetched.trie])
    this.#beginAt(opening, now)
    this.#emit({ _tag: "Joined", epoch: fetched.target.checkpoint.epoch })
  }

  #beginAt(opening: Core.StoredEpoch["opening"], now: Timestamp): void {
    const { roundIntervalMs } = this.#genesis.protocol
    const guard = this.#guard(opening.record.epoch)
    this.#forgetBefore(opening.record.epoch)
    this.#core = new Core.Core({ roundIntervalMs, guard }, { current: Core.freshEpoch(opening), previous: null })
    this.#core.connected(this.#peers.validators)
    this.#keepPending()
    this.#pool = this.#poolOf([...this.#pool.all])
    this.#unordered = new UnorderedVertices(this.#pool)
    this.#heartbeats.clear()
    this.#do(this.#core.start(now), null, now)
  }

  #ledgerOf({ target, trie }: Fetched): Either.Either<Ledger, string> {
    const records: Array<StateRecord.StateRecord> = []
    for (const { value } of Trie.entries(trie)) {
      const record = StateRecord.decode(value)
      if (Either.isLeft(record)) return Either.left(record.left.message)
      records.push(record.right)
    }
    const { effectsDigest, commitHash } = target.checkpoint
    return Ledger.fromRecords(this.#genesis.protocol, records, effectsDigest).pipe(
      Either.mapLeft(({ message }) => message),
      Either.filterOrLeft(
        ({ read }) => read.head.hash === commitHash,
        ({ read }) => `its last commit is ${read.head.hash}, the checkpoint's ${commitHash}`,
      ),
      Either.flatMap((ledger) =>
        Either.mapBoth(ledger.recount(), { onLeft: ({ message }) => message, onRight: () => ledger }),
      ),
    )
  }
}
