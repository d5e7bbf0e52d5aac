/**
 * Connects one replica to the virtual world: verifies signatures, sends messages, keeps the disk and runs timers. It
 * corresponds to the services of a node.
 */
import { Either } from "effect"
import type { Word } from "../../src/consensus/KeyMemory.js"
import { WaitingRoom } from "../../src/node/signatures/WaitingRoom.js"
import { fromPublicKey } from "../../src/protocol/identity/Address.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Transaction } from "../../src/protocol/transaction/Transaction.js"
import * as Verification from "../../src/protocol/transaction/Verification.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import type { DiskQuestion, Message } from "../../src/replica/messages/Message.js"
import type { Connection, PeerId } from "../../src/replica/messages/Peer.js"
import type { Output, Outputs } from "../../src/replica/output/Output.js"
import * as Write from "../../src/replica/output/Write.js"
import type { Replica } from "../../src/replica/Replica.js"
import * as KeyInForce from "../../src/replica/signing/KeyInForce.js"
import * as Serving from "../support/Serving.js"
import * as Stored from "../support/Stored.js"
import type { Agenda } from "./Agenda.js"
import type { Chance } from "./Chance.js"
import { type Crash, Disk } from "./Disk.js"
import { Relays } from "./Relays.js"
import type { RemoteSigner } from "./RemoteSigner.js"
import type { Scheme, Signer } from "./Scheme.js"
import { Violation } from "./Witness.js"

const REMEMBERED_TRANSACTIONS = 20_000
/** Writes that need no sync are batched for at most this long. */
const LAZY_FLUSH_MS = 60
/** Steps of background work per event. */
const WORK_STEPS = 64
/** Small, since only a few vertices wait here. */
const PREPARED_AT = 8

/** What a host reports to, and sends through. */
export interface Surroundings {
  readonly agenda: Agenda
  readonly scheme: Scheme
  readonly networkId: NetworkId
  /** Whether the signatures of a message or vertex hold, without reference to any machine's state. */
  readonly genuine: WeakMap<Message | Vertex, boolean>
  readonly send: (from: Host, to: PeerId, message: Message) => void
  readonly broadcast: (from: Host, message: Message) => void
  readonly told: (host: Host, output: Output) => void
  /** A write was reported as done: its executions count as final from now on. */
  readonly kept: (host: Host, write: Write.Write) => void
  /** The replica asked gossip to relay a message from this peer. */
  readonly relayed: (by: Host, from: PeerId, message: Message) => void
  /** A message had an invalid signature. */
  readonly dropped: (by: Host, from: PeerId, message: Message) => void
}

export interface Speed {
  /** How long a synced write takes. */
  readonly syncMs: number
  /** Error of the wall clock. The steady clock is not affected. */
  readonly skewMs: number
}

const clock = (moment: number): Natural.Timestamp => Natural.timestamp(Math.max(0, Math.floor(moment)))

export class Host {
  readonly index: number
  readonly name: string
  readonly peer: PeerId
  /** The available keys. Each announcement of the validator adds one; empty for a machine that only follows. */
  readonly keys: ReadonlyArray<Signer>
  /** The key that its process signs with. */
  signer: Signer | null
  /** It holds the keys instead of the machine, if there is one. */
  readonly remote: RemoteSigner | null
  readonly disk: Disk
  /** The operator's statement for the next start. */
  word: Word | null = null
  /** The newest protocol version that the program of this host knows; undefined for the program under test. */
  newestVersion: number | undefined
  speed: Speed = { syncMs: 2, skewMs: 0 }
  readonly #around: Surroundings
  readonly #chance: Chance
  #replica: Replica | null = null
  #relays: Relays | null = null
  /** How far this process's steady clock is ahead of the agenda: the wall clock's error at its start. */
  #steadyAheadMs = 0
  /** Counts starts, so that callbacks of a crashed process do not reach its successor. */
  #life = 0
  #wakeAt = Number.POSITIVE_INFINITY
  #isAtWork = false
  /** When the process was paused, and what has arrived since; null while it runs. */
  #pause: { readonly since: number; readonly unread: Array<() => void> } | null = null
  /** Heartbeats that name commits which the replica has not executed, queued as in the node. */
  #ahead = new WaitingRoom<() => void>()
  #verified = new Verification.VerifiedTransactions(REMEMBERED_TRANSACTIONS)
  #unreported: Array<{ readonly id: number; readonly isSynced: boolean }> = []
  /** Own vertices that are not on disk yet, with the id of their write. */
  readonly #unwritten = new Map<Hash, number>()
  #isFlushing = false
  /** When the latest overtaking own vertex is on disk. */
  #aheadAt = 0

  constructor(
    index: number,
    name: string,
    keys: ReadonlyArray<Signer>,
    remote: RemoteSigner | null,
    stored: Stored.Stored,
    chance: Chance,
    around: Surroundings,
  ) {
    this.index = index
    this.name = name
    this.peer = `m${index}` as PeerId
    this.keys = keys
    this.remote = remote
    this.signer = keys[0] ?? null
    this.disk = new Disk(stored)
    this.#chance = chance
    this.#around = around
  }

  get replica(): Replica | null {
    return this.#replica
  }

  get isUp(): boolean {
    return this.#replica !== null
  }

  get #now(): Natural.Timestamp {
    return clock(this.#around.agenda.now + this.#steadyAheadMs)
  }

  start(connections: ReadonlyArray<Connection>): void {
    this.#steadyAheadMs = this.speed.skewMs
    const { members } = this.disk.stored.current.opening.record
    const seated = this.keys.find(({ publicKey }) => members.some((member) => member.publicKey === publicKey))
    this.signer = seated ?? this.signer
    // Differs for each life of each host: no result may depend on it.
    const tableKey = { low: this.#life, high: this.name.length }
    const opened = Stored.replicaOf(
      {
        signer:
          this.remote === null || this.signer === null ? this.signer : { publicKey: this.signer.publicKey, sign: null },
        isValid: this.#around.scheme.isStrictlyValid,
        trust: null,
        tableKey,
        joins: true,
        preparedAt: PREPARED_AT,
        word: this.word,
        ...(this.newestVersion === undefined ? {} : { newestVersion: this.newestVersion }),
      },
      this.disk.stored,
    )
    if (Either.isLeft(opened)) throw new Violation(this.name, `cannot open its disk: ${JSON.stringify(opened.left)}`)
    this.#life++
    this.#pause = null
    this.#ahead = new WaitingRoom()
    this.#replica = opened.right
    const { scheme, networkId, relayed } = this.#around
    this.#relays = new Relays(this.name, opened.right, {
      scheme,
      networkId,
      relayed: (from, message) => relayed(this, from, message),
    })
    this.#verified = new Verification.VerifiedTransactions(REMEMBERED_TRANSACTIONS)
    this.#wakeAt = Number.POSITIVE_INFINITY
    this.#drive((replica, now) => replica.connected(connections, now))
    this.#drive((replica, now) => replica.start(now))
  }

  /** Whether the running epoch requires another key of this validator. The node then restarts with it. */
  get hasOtherKey(): boolean {
    if (this.#replica === null || this.signer === null) return false
    const { core, read } = this.#replica
    const inForce = KeyInForce.of(fromPublicKey(this.signer.publicKey), core.epoch.opening.record, read)
    const key = this.keys.find(({ publicKey }) => fromPublicKey(publicKey) === inForce)
    if (key === undefined || key === this.signer) return false
    this.signer = key
    return true
  }

  crash(crash: Crash): void {
    this.#replica = null
    this.#relays = null
    this.#life++
    this.#pause = null
    this.#unreported = []
    this.#unwritten.clear()
    this.#isFlushing = false
    this.#aheadAt = 0
    this.#isAtWork = false
    this.disk.crash(this.#chance, crash)
  }

  /** Freezes the process, like SIGSTOP or a suspended machine. */
  pause(): void {
    if (this.#replica !== null && this.#pause === null) this.#pause = { since: this.#around.agenda.now, unread: [] }
  }

  /** Runs timers first, then everything that arrived meanwhile. A suspended machine's steady clock has stood still. */
  resume(wasSuspended: boolean): void {
    const pause = this.#pause
    if (pause === null) return
    this.#pause = null
    if (wasSuspended) this.#steadyAheadMs -= this.#around.agenda.now - pause.since
    this.#wakeAt = Number.POSITIVE_INFINITY
    this.#drive((replica, now) => replica.tick(now))
    for (const read of pause.unread) read()
  }

  /** Runs now, or after the pause if the process is still the same. */
  #whenAwake(act: () => void): void {
    const life = this.#life
    if (this.#pause === null) act()
    else this.#pause.unread.push(() => (life === this.#life ? act() : undefined))
  }

  connected(connections: ReadonlyArray<Connection>): void {
    this.#whenAwake(() => this.#connect(connections))
  }

  #connect(connections: ReadonlyArray<Connection>): void {
    this.#drive((replica, now) => replica.connected(connections, now))
  }

  /** Receives a message. Invalid ones are dropped, as in the node. */
  receive(from: PeerId, message: Message): void {
    this.#whenAwake(() => this.#receive(from, message))
  }

  #receive(from: PeerId, message: Message): void {
    const replica = this.#replica
    const relays = this.#relays
    if (replica === null || relays === null) return
    if (message._tag === "Heartbeat" && replica.useOf(from, message)._tag === "Ahead") {
      this.#ahead.add(from, message.heartbeat.commitIndex, () => this.receive(from, message))
      return
    }
    if (!this.#isGenuine(replica, message)) this.#around.dropped(this, from, message)
    else this.#drive((_, now) => relays.receive(from, message, now))
  }

  /**
   * A message whose signatures hold is verified once for all recipients. Each machine judges an invalid one itself,
   * with what it remembers: a cache must not make a bad message valid.
   */
  #isGenuine(replica: Replica, message: Message): boolean {
    const { scheme } = this.#around
    const isDoor = message._tag === "Transactions" || message._tag === "CheckpointSignature"
    const judge = isDoor ? scheme.isStrictlyValid : scheme.isValid
    // Whose checkpoint signature counts depends on the epochs that a machine knows.
    if (message._tag === "CheckpointSignature") return replica.checksOf(message).every(judge)
    const isVertices = message._tag === "Vertices" || message._tag === "Rounds"
    const holds = isVertices
      ? message.vertices.every((vertex) =>
          this.#holds(vertex, () => replica.checksOf({ _tag: "Vertices", vertices: [vertex] }).every(judge)),
        )
      : this.#holds(message, () => replica.checksOf(message).every(judge))
    if (holds) return true
    return replica.checksOf(message, (transaction) => this.#verified.has(transaction)).every(judge)
  }

  #holds(item: Message | Vertex, judged: () => boolean): boolean {
    const { genuine } = this.#around
    let holds = genuine.get(item)
    if (holds === undefined) {
      holds = judged()
      genuine.set(item, holds)
    }
    return holds
  }

  /** Submits a transaction, like a wallet. Returns whether it was accepted. */
  submit(transaction: Transaction): boolean {
    const replica = this.#replica
    if (replica === null || this.#pause !== null) return false
    const { scheme, networkId } = this.#around
    const checks = this.#verified.has(transaction) ? [] : Verification.checksOf(networkId, transaction)
    if (!checks.every(scheme.isStrictlyValid)) return false
    this.#verified.add(transaction)
    let isTaken = false
    this.#drive((each, now) => {
      isTaken = Either.isRight(each.submit(transaction, now))
      return each.tick(now)
    })
    return isTaken
  }

  /** Passes one input to the replica and acts on all outputs. */
  #drive(input: (replica: Replica, now: Natural.Timestamp) => Outputs): void {
    const replica = this.#replica
    if (replica === null) return
    const life = this.#life
    let outputs: Outputs
    try {
      replica.wallIs(this.speed.skewMs - this.#steadyAheadMs)
      outputs = input(replica, this.#now)
    } catch (error) {
      throw error instanceof Violation
        ? error
        : new Violation(this.name, `threw ${error instanceof Error ? error.stack : error}`)
    }
    for (const output of outputs) if (this.#life === life) this.#do(output)
    if (this.#life !== life) return
    for (const receive of this.#ahead.takeUpTo(replica.read.head.index)) {
      this.#around.agenda.after(1, () => {
        if (this.#life === life) receive()
      })
    }
    this.#wake(replica)
    if (replica.hasWork) this.#work()
  }

  #wake(replica: Replica): void {
    const { agenda } = this.#around
    const wakeAt = Math.max(agenda.now + 1, replica.wakeAt(this.#now) - this.#steadyAheadMs)
    if (wakeAt >= this.#wakeAt) return
    this.#wakeAt = wakeAt
    const life = this.#life
    agenda.at(wakeAt, () => {
      // An earlier wake-up replaced this one, or the process has ended.
      if (life !== this.#life || this.#wakeAt !== wakeAt) return
      this.#wakeAt = Number.POSITIVE_INFINITY
      // A paused process looks at its clock as soon as it resumes.
      if (this.#pause === null) this.#drive((each, now) => each.tick(now))
    })
  }

  #work(): void {
    if (this.#isAtWork) return
    this.#isAtWork = true
    const life = this.#life
    this.#around.agenda.after(this.#chance.between(1, 10), () => {
      if (life !== this.#life) return
      this.#whenAwake(() => {
        this.#isAtWork = false
        let steps = 0
        this.#drive((replica, now) => replica.work(() => ++steps < WORK_STEPS, now))
      })
    })
  }

  #do(output: Output): void {
    switch (output._tag) {
      case "Send":
        this.#around.send(this, output.to, output.message)
        break
      case "Broadcast":
        this.#around.broadcast(this, output.message)
        break
      case "Serve":
        this.#serve(output.to, output.question)
        break
      case "Write":
        if (output.write._tag === "Joined") this.#relays?.joined()
        this.#write(output.id, output.write, output.isSynced)
        break
      case "Sign":
        this.#ask(output)
        break
      case "TakenIn":
      case "Misbehaved":
      case "Joining":
      case "JoinStopped":
      case "Fatal":
        break
    }
    this.#around.told(this, output)
  }

  /** Like all answers, this one waits while the process stands still. */
  #ask(asked: Extract<Output, { readonly _tag: "Sign" }>): void {
    if (this.remote === null || this.signer === null) throw new Violation(this.name, "asks a signer that it lacks")
    const life = this.#life
    this.remote.ask(this.signer.publicKey, asked, (signature) => {
      if (life !== this.#life) return
      this.#whenAwake(() => this.#drive((replica, now) => replica.signed(asked.id, signature, now)))
    })
  }

  #serve(to: PeerId, question: DiskQuestion): void {
    this.#around.send(this, to, Serving.answer(this.#archive, question))
  }

  /** What peers can read from the disk: own vertices only once they are written, as with a database. */
  get #archive(): Serving.Archive {
    const { stored } = this.disk
    return Serving.shown(stored, (hash) => this.#unwritten.has(hash) || this.#replica?.isWithheld(hash) === true)
  }

  #write(id: number, write: Write.Write, isSynced: boolean): void {
    this.disk.append(id, write)
    if (write._tag === "OwnVertex" || write._tag === "Intent") {
      const unwritten = write.vertex.header.parents.find(({ hash }) => this.disk.stored.vertex(hash) === undefined)
      // A remotely signed vertex can be an earlier life's intent, and the ledger's file was set back since.
      const isNew = write._tag === "Intent" || this.remote === null
      if (unwritten !== undefined && isNew)
        throw new Violation(this.name, `names ${unwritten.hash} of round ${unwritten.round} before it is to be written`)
      const { hash } = write.vertex.header
      const isAhead = !Write.syncsLedger(write) && !this.#isOwnWaiting
      this.#unwritten.set(hash, id)
      if (isAhead) {
        this.#writeAhead(id, hash)
        return
      }
    }
    this.#unreported.push({ id, isSynced })
    if (isSynced) this.#flush(0)
    else if (!this.#isFlushing) this.#flush(this.#chance.between(0, LAZY_FLUSH_MS))
  }

  /** Whether an own vertex is queued behind ledger writes. No other one may overtake it. */
  get #isOwnWaiting(): boolean {
    const own = new Set(this.#unwritten.values())
    return this.#unreported.some(({ id }) => own.has(id))
  }

  /** Writes an own vertex ahead of the queue. Own vertices stay in order. */
  #writeAhead(id: number, hash: Hash): void {
    const life = this.#life
    this.#aheadAt = Math.max(this.#aheadAt, this.#around.agenda.now) + this.#syncDelay()
    this.#around.agenda.at(this.#aheadAt, () => {
      if (life !== this.#life) return
      this.#whenAwake(() => {
        this.disk.reachedAhead(id)
        this.#unwritten.delete(hash)
        this.#drive((replica, now) => replica.written(id, now))
      })
    })
  }

  #syncDelay(): number {
    return Math.max(1, Math.round(this.#chance.heavyTail(this.speed.syncMs, 50 * this.speed.syncMs)))
  }

  /** Writes take a while, and the disk reports the last one done. Writes without a sync wait for a batch. */
  #flush(idleMs: number): void {
    const last = this.#unreported.at(-1)
    if (last === undefined) return
    this.#isFlushing = true
    const life = this.#life
    this.#around.agenda.after(idleMs + this.#syncDelay(), () => {
      if (life === this.#life) this.#whenAwake(() => this.#report(last.id))
    })
  }

  #report(upTo: number): void {
    const reported = this.#unreported.filter(({ id }) => id <= upTo)
    this.#unreported = this.#unreported.filter(({ id }) => id > upTo)
    this.#isFlushing = this.#unreported.length > 0
    if (this.#isFlushing) this.#flush(0)
    if (reported.length === 0) return
    for (const write of this.disk.reached(upTo)) this.#around.kept(this, write)
    for (const [hash, id] of this.#unwritten) if (id <= upTo) this.#unwritten.delete(hash)
    this.#drive((replica, now) => replica.written(upTo, now))
  }
}
