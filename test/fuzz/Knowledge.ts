/** What the adversary knows: everything that honest nodes send to its machines, and that its own replica writes. */
import { Committee } from "../../src/consensus/dag/Committee.js"
import type { Opening } from "../../src/consensus/output/Opening.js"
import type { Checkpoint, CheckpointSignature, SignedCheckpoint } from "../../src/protocol/epoch/Checkpoint.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import type { Transaction } from "../../src/protocol/transaction/Transaction.js"
import type { Evidence } from "../../src/protocol/vertex/Evidence.js"
import type { Heartbeat } from "../../src/protocol/vertex/Heartbeat.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import type { Message } from "../../src/replica/messages/Message.js"
import type { Write } from "../../src/replica/output/Write.js"
import type { Chance } from "../simulation/Chance.js"

/** The latest few items, and a sample of all earlier ones. */
export class Memory<A> {
  readonly #chance: Chance
  readonly #capacity: number
  readonly #recent: Array<A> = []
  readonly #old: Array<A> = []
  #count = 0

  constructor(chance: Chance, capacity: number) {
    this.#chance = chance
    this.#capacity = capacity
  }

  add(item: A): void {
    this.#recent.push(item)
    if (this.#recent.length > this.#capacity) this.#recent.shift()
    const at = this.#chance.below(++this.#count)
    if (this.#old.length < this.#capacity) this.#old.push(item)
    else if (at < this.#capacity) this.#old[at] = item
  }

  get last(): A | undefined {
    return this.#recent.at(-1)
  }

  any(): A | undefined {
    const from = this.#chance.percent(70) ? this.#recent : this.#old
    return from.length === 0 ? undefined : this.#chance.pick(from)
  }

  some(most: number): ReadonlyArray<A> {
    return Array.from({ length: this.#chance.between(0, most) }, () => this.any()).filter((item) => item !== undefined)
  }
}

export class Knowledge {
  readonly vertices: Memory<Vertex>
  readonly transactions: Memory<Transaction>
  readonly checkpoints: Memory<Checkpoint>
  readonly closings: Memory<SignedCheckpoint>
  readonly signatures: Memory<{ readonly checkpoint: Checkpoint; readonly signature: CheckpointSignature }>
  readonly heartbeats: Memory<Heartbeat>
  readonly evidence: Memory<Evidence>
  readonly subtrees: Memory<{ readonly root: Hash; readonly subtree: Uint8Array }>
  /** Whole messages, for replays. */
  readonly messages: Memory<Message>
  readonly bases: Memory<Hash>
  opening: Opening
  committee: Committee
  /** The running epoch's vertices: round, then author. */
  rows = new Map<number, Map<string, ReadonlyArray<Vertex>>>()
  isClosed = false

  constructor(chance: Chance, opening: Opening) {
    const memory = <A>(capacity: number) => new Memory<A>(chance, capacity)
    this.vertices = memory(120)
    this.transactions = memory(60)
    this.checkpoints = memory(12)
    this.closings = memory(12)
    this.signatures = memory(40)
    this.heartbeats = memory(20)
    this.evidence = memory(20)
    this.subtrees = memory(8)
    this.messages = memory(60)
    this.bases = memory(8)
    this.opening = opening
    this.committee = new Committee(opening.record)
    this.bases.add(opening.base)
  }

  wrote(write: Write): void {
    switch (write._tag) {
      case "Inserted":
        this.#inserted(write.vertex)
        return
      case "EpochStarted":
      case "Joined":
        this.opening = write.opening
        this.committee = new Committee(write.opening.record)
        this.bases.add(write.opening.base)
        this.rows = new Map()
        this.isClosed = false
        return
      case "Executed":
        this.isClosed ||= write.execution.nextEpoch !== null
        return
      case "CheckpointBuilt":
        this.checkpoints.add(write.checkpoint)
        return
      case "CheckpointFinal":
        if (write.signed.checkpoint.nextEpoch !== null) this.closings.add(write.signed)
        return
      default:
        return
    }
  }

  #inserted(vertex: Vertex): void {
    this.vertices.add(vertex)
    const { epoch, round, author } = vertex.header
    if (epoch !== this.opening.record.epoch) return
    const row = this.rows.get(round) ?? new Map<string, ReadonlyArray<Vertex>>()
    this.rows.set(round, row)
    row.set(author, [...(row.get(author) ?? []), vertex])
  }

  heard(message: Message): void {
    this.messages.add(message)
    switch (message._tag) {
      case "Transactions":
        for (const transaction of message.transactions) this.transactions.add(transaction)
        return
      case "CheckpointSignature":
        this.signatures.add(message)
        return
      case "Heartbeat":
        this.heartbeats.add(message.heartbeat)
        return
      case "Evidence":
        this.evidence.add(message.evidence)
        return
      case "State":
        if (message.subtree !== null) this.subtrees.add({ root: message.root, subtree: message.subtree })
        return
      default:
        return
    }
  }

  weightOf(round: number): number {
    let weight = 0
    for (const author of this.rows.get(round)?.keys() ?? []) {
      const seat = this.committee.seatOf(author as Vertex["header"]["author"])
      if (seat !== undefined) weight += this.committee.weightOf(seat)
    }
    return weight
  }

  get highestQuorum(): number {
    let round = this.opening.record.firstRound - 1
    while (this.committee.isQuorum(this.weightOf(round + 1))) round++
    return round
  }
}
