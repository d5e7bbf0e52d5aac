/**
 * Judges peers' messages before the replica takes them in: decodes each, decides whether it is useful, and has its
 * signatures checked in other threads. The replica is not changed. Each peer's messages are passed on in order of
 * arrival, except four kinds that go separately: transactions, since a thousand must not delay a vertex; votes, which
 * others may have signed; questions; and vertices whose signatures are slow to judge. It holds no more than each peer
 * may have waiting (`Received.release`).
 */
import { Either } from "effect"
import type { Offence } from "../../network/Conduct.js"
import * as MessageCodec from "../../network/MessageCodec.js"
import type { Received } from "../../network/Network.js"
import { type Epoch, epoch as epochOf } from "../../protocol/numbers/Natural.js"
import type { Header } from "../../protocol/vertex/Header.js"
import type { Encoded } from "../../protocol/vertex/Vertex.js"
import type { DiskQuestion, Message, Question } from "../../replica/messages/Message.js"
import type { PeerId } from "../../replica/messages/Peer.js"
import type { Replica } from "../../replica/Replica.js"
import type { Bulkhead, Place } from "./Bulkhead.js"
import type { Owner } from "./FairQueue.js"
import type { OpenQuestions } from "./OpenQuestions.js"
import { Turns } from "./Turns.js"
import { type Finding, type Surroundings as OfVertices, VertexInspection } from "./VertexInspection.js"
import { WaitingRoom } from "./WaitingRoom.js"

export type Inspected =
  | {
      readonly _tag: "Message"
      readonly from: PeerId
      readonly message: Message
      /** Whether the message is complete: only whole messages are relayed. */
      readonly isWhole: boolean
      readonly release: Received["release"]
    }
  /** A peer is in that epoch, or claims to be. */
  | { readonly _tag: "HeardOf"; readonly from: PeerId; readonly epoch: Epoch }
  /** A requested page of rounds, before and after the checks of a bad one. */
  | { readonly _tag: "PageArrived" | "PageRefused"; readonly from: PeerId }
  | { readonly _tag: "HeaderOnly"; readonly from: PeerId; readonly header: Header }

export interface Surroundings extends Pick<OfVertices, "networkId" | "signatures"> {
  readonly replica: Pick<Replica, "checksOf" | "core" | "isAwaited" | "pool" | "read" | "useOf" | "validatorOf">
  readonly asked: OpenQuestions
  readonly bulkhead: Bulkhead
  readonly ask: (owner: Owner, question: Question | DiskQuestion) => void
  /** A peer sent something that no honest node sends. */
  readonly refused: (received: Received, what: string, offence: Offence) => void
  /** Called in the order of each peer's messages. */
  readonly pass: (inspected: Inspected) => void
}

interface Waiting {
  readonly received: Received
  readonly owner: Owner
  outcome: ReadonlyArray<Inspected> | null
  /** It has left its lane and is passed on as soon as it is judged. */
  isAside: boolean
}

type Packed = Message<Encoded>
type PackedOf<T extends Message["_tag"]> = Extract<Packed, { readonly _tag: T }>
/** Messages with their own signature, except transactions. */
type Signed = PackedOf<"Heartbeat" | "Evidence" | "CheckpointSignature" | "Highest">

/** How soon to check again whether commits named by heartbeats were executed. */
const LOOK_MS = 50

/** Gossip by validators, which peers relay. */
const isVote = (tag: string): boolean => tag === "Heartbeat" || tag === "Evidence" || tag === "CheckpointSignature"

export class MessageInspection {
  readonly #around: Surroundings
  readonly #turns = new Turns()
  readonly #vertices: VertexInspection
  /** In order of arrival. */
  readonly #lanes = new Map<string, Array<Waiting>>()
  /**
   * Heartbeats naming a commit not yet executed here. Once it is, most false ones are rejected without a signature
   * check.
   */
  readonly #ahead = new WaitingRoom<() => void>()
  #isLooking = false

  constructor(surroundings: Surroundings) {
    this.#around = surroundings
    this.#vertices = new VertexInspection({ ...surroundings, turns: this.#turns })
  }

  take(received: Received): void {
    const { from, tag, standing, network } = received
    // An answer to this node's question is its own work, whichever peer sends it.
    const isOwnWork = this.#around.asked.isAwaited(from, tag)
    const rank = isVote(tag) && standing !== "stranger" ? "relayed" : standing
    const as = isOwnWork ? "member" : rank
    const owner: Owner = as === "stranger" ? { peer: from, standing: as, network } : { peer: from, standing: as }
    const waiting: Waiting = { received, owner, outcome: null, isAside: false }
    if (!MessageCodec.isQuestion({ _tag: tag })) this.#laneOf(received).push(waiting)
    this.#turns.take(owner, () => this.#hold(waiting, "reading", () => this.#read(waiting)))
  }

  /** An exception ends only this message. */
  #hold(waiting: Waiting, place: Place, judge: () => void): void {
    this.#around.bulkhead.hold(place, judge, () => this.#refuse(waiting, "a message that caused a fault", "invalid"))
  }

  #read(waiting: Waiting): void {
    const unpacked = MessageCodec.unpack(this.#around.networkId, waiting.received.bytes)
    if (Either.isLeft(unpacked)) this.#refuse(waiting, unpacked.left.message, "malformed")
    else this.#hold(waiting, "judging", () => this.#judge(waiting, unpacked.right))
  }

  #judge(waiting: Waiting, message: Packed): void {
    switch (message._tag) {
      case "AskVertices":
      case "AskRounds":
      case "AskClosing":
      case "AskHighest":
      case "AskState":
        waiting.received.release("known")
        this.#around.ask(waiting.owner, message)
        return
      case "Vertices":
      case "Rounds":
        this.#judgeVertices(waiting, message)
        return
      case "Transactions":
        this.#judgeTransactions(waiting, message)
        return
      case "State":
        if (this.#isAnswer(waiting, "State")) this.#accept(waiting, message)
        else this.#drop(waiting)
        return
      case "Closing":
        if (this.#isAnswer(waiting, "Closing")) this.#accept(waiting, message)
        else this.#hint(waiting, epochOf(this.#epoch + 1))
        return
      case "Highest":
        if (this.#isAnswer(waiting, "Highest")) this.#judgeSigned(waiting, message)
        else this.#drop(waiting)
        return
      case "Heartbeat":
      case "Evidence":
      case "CheckpointSignature":
        this.#judgeSigned(waiting, message)
    }
  }

  get #epoch(): Epoch {
    return this.#around.replica.core.epoch.opening.record.epoch
  }

  #isAnswer({ received }: Waiting, tag: "Closing" | "Highest" | "Rounds" | "State"): boolean {
    return this.#around.asked.answered(received.from, tag)
  }

  #judgeVertices(waiting: Waiting, message: PackedOf<"Vertices" | "Rounds">): void {
    const { received, owner } = waiting
    const isRounds = message._tag === "Rounds"
    const isOfUse = !isRounds || (this.#isAnswer(waiting, "Rounds") && message.epoch === this.#epoch)
    if (!isOfUse || !this.#around.replica.isAwaited(received.from, message)) {
      this.#drop(waiting)
      return
    }
    if (isRounds) this.#around.pass({ _tag: "PageArrived", from: received.from })
    this.#vertices.judge({
      from: received.from,
      owner,
      vertices: message.vertices,
      isAnswer: (hashes) =>
        isRounds || this.#around.asked.answeredWith(received.from, hashes, received.standing === "member"),
      isRounds,
      hold: (judge) => this.#hold(waiting, "checking signatures", judge),
      stepAside: () => this.#stepAside(waiting),
      conclude: (finding) => this.#found(waiting, message, finding),
    })
  }

  #found(waiting: Waiting, message: PackedOf<"Vertices" | "Rounds">, finding: Finding): void {
    if (finding._tag === "Refused") {
      this.#refuse(waiting, finding.what, finding.offence)
      return
    }
    const { from, release } = waiting.received
    const { vertices, headersOnly, elsewhere, done } = finding
    const outcome: Array<Inspected> = headersOnly.map((header) => ({ _tag: "HeaderOnly", from, header }))
    if (elsewhere !== null) outcome.push({ _tag: "HeardOf", from, epoch: elsewhere })
    if (vertices.length === 0 && message._tag === "Vertices") {
      done()
      release("known")
    } else {
      const takenIn: Received["release"] = (decision) => {
        done()
        release(decision)
      }
      outcome.push({ _tag: "Message", from, message: { ...message, vertices }, isWhole: true, release: takenIn })
    }
    this.#conclude(waiting, outcome)
  }

  /** Asks the pool first, so that signatures of transactions it would refuse are not checked. */
  #judgeTransactions(waiting: Waiting, { transactions }: PackedOf<"Transactions">): void {
    const { replica, signatures } = this.#around
    const different = new Map(transactions.map((transaction) => [transaction.id, transaction]))
    const fresh = [...different.values()].filter((transaction) => {
      const verdict = replica.pool.reserve(transaction, waiting.received.from)
      return Either.isRight(verdict) && verdict.right === "new"
    })
    if (fresh.length === 0) {
      this.#drop(waiting)
      return
    }
    // A known transaction may come with other, unverified signatures, since ids do not cover them.
    const isWhole = fresh.length === transactions.length
    const message = { _tag: "Transactions", transactions: fresh } as const
    const checks = replica.checksOf(message, (transaction) => signatures.verified.has(transaction))
    const judged = (found: Uint8Array): void => {
      if (found.includes(0)) {
        this.#refuse(waiting, "a transaction with an invalid signature", "invalid")
        return
      }
      this.#accept(waiting, message, isWhole)
    }
    signatures.check(checks, (found) => this.#hold(waiting, "checking signatures", () => judged(found)), {
      owner: waiting.owner,
      isUrgent: false,
    })
  }

  /**
   * The native verifier's rejection is final: signatures valid only under the rule for vertices are useful only there.
   */
  #judgeSigned(waiting: Waiting, message: Signed): void {
    const { replica, signatures } = this.#around
    const use = replica.useOf(waiting.received.from, message)
    if (use._tag === "Elsewhere") {
      this.#hint(waiting, use.epoch)
      return
    }
    if (use._tag === "Wrong") {
      this.#refuse(waiting, `a ${message._tag} that names a wrong commit`, "invalid")
      return
    }
    if (use._tag === "Ahead" && message._tag === "Heartbeat" && this.#waitsForCommit(waiting, message)) return
    if (use._tag !== "Wanted") {
      this.#drop(waiting)
      return
    }
    const judged = (found: Uint8Array): void => {
      if (!found.includes(0)) this.#accept(waiting, message)
      // Honest members saw the two vertices, which may be valid by ZIP-215 alone.
      else if (message._tag === "Evidence" && waiting.received.standing === "member") this.#drop(waiting)
      else this.#refuse(waiting, `a ${message._tag} with an invalid signature`, "invalid")
    }
    signatures.check(
      replica.checksOf(message),
      (found) => this.#hold(waiting, "checking signatures", () => judged(found)),
      { owner: waiting.owner, isUrgent: waiting.owner.standing === "member" },
    )
  }

  /** Judges it again, in its sender's turn, once its commit was executed. False if there is no room to wait. */
  #waitsForCommit(waiting: Waiting, message: PackedOf<"Heartbeat">): boolean {
    const { received, owner } = waiting
    const again = (): void => {
      this.#turns.take(owner, () => this.#hold(waiting, "judging", () => this.#judgeSigned(waiting, message)))
    }
    if (!this.#ahead.add(received.from, message.heartbeat.commitIndex, again)) return false
    this.#stepAside(waiting)
    this.#lookLater()
    return true
  }

  #lookLater(): void {
    if (this.#isLooking || this.#ahead.size === 0) return
    this.#isLooking = true
    setTimeout(() => {
      this.#isLooking = false
      for (const judge of this.#ahead.takeUpTo(this.#around.replica.read.head.index)) judge()
      this.#lookLater()
    }, LOOK_MS).unref()
  }

  #accept(waiting: Waiting, message: Message, isWhole = true): void {
    const { from, release } = waiting.received
    this.#conclude(waiting, [{ _tag: "Message", from, message, isWhole, release }])
  }

  #drop(waiting: Waiting): void {
    waiting.received.release("known")
    this.#conclude(waiting, [])
  }

  #hint(waiting: Waiting, epoch: Epoch): void {
    const { from, release } = waiting.received
    release("known")
    this.#conclude(waiting, [{ _tag: "HeardOf", from, epoch }])
  }

  #refuse(waiting: Waiting, what: string, offence: Offence): void {
    if (waiting.outcome !== null) return
    waiting.received.release("refused")
    this.#around.refused(waiting.received, what, offence)
    const { from, tag } = waiting.received
    this.#conclude(waiting, tag === "Rounds" ? [{ _tag: "PageRefused", from }] : [])
  }

  #laneOf({ from, tag }: Received): Array<Waiting> {
    const name = nameOf(from, tag)
    const lane = this.#lanes.get(name) ?? []
    this.#lanes.set(name, lane)
    return lane
  }

  #conclude(waiting: Waiting, outcome: ReadonlyArray<Inspected>): void {
    if (waiting.outcome !== null) return
    waiting.outcome = outcome
    if (waiting.isAside) for (const inspected of outcome) this.#around.pass(inspected)
    else this.#passOn(waiting)
  }

  #stepAside(waiting: Waiting): void {
    if (waiting.isAside) return
    waiting.isAside = true
    const lane = this.#laneOf(waiting.received)
    const at = lane.indexOf(waiting)
    if (at >= 0) lane.splice(at, 1)
    this.#passOn(waiting)
  }

  /** Passes on judged messages from the head of the lane. */
  #passOn({ received: { from, tag } }: Waiting): void {
    const name = nameOf(from, tag)
    const lane = this.#lanes.get(name) ?? []
    for (let first = lane[0]; first !== undefined && first.outcome !== null; first = lane[0]) {
      lane.shift()
      for (const inspected of first.outcome) this.#around.pass(inspected)
    }
    if (lane.length === 0) this.#lanes.delete(name)
  }
}

const nameOf = (from: PeerId, tag: string): string => `${from} ${tag === "Transactions" ? tag : isVote(tag)}`
