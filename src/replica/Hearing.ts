/** Takes the messages of peers into the consensus, the pool and the other parts of a replica. */
import * as Core from "../consensus/Core.js"
import type { Output as CoreOutput } from "../consensus/output/Output.js"
import * as Checkpoint from "../protocol/epoch/Checkpoint.js"
import type { Timestamp } from "../protocol/numbers/Natural.js"
import type { Check } from "../protocol/transaction/Verification.js"
import type { Vertex } from "../protocol/vertex/Vertex.js"
import type { Announcements } from "./asking/Announcements.js"
import type { Questions } from "./asking/Questions.js"
import { areRelayed, worthTelling } from "./asking/Relaying.js"
import type { SignedGossip } from "./asking/SignedGossip.js"
import type { Joins } from "./joining/Joins.js"
import type { LiveState } from "./live/LiveState.js"
import type { Answer, Message, Question } from "./messages/Message.js"
import type { PeerId } from "./messages/Peer.js"
import type { Peers } from "./messages/Peers.js"
import type { Outbox } from "./output/Outbox.js"
import type { Signing } from "./signing/Signing.js"
import type { Judged, Use } from "./Use.js"

type SignatureMessage = Extract<Message, { _tag: "CheckpointSignature" }>

/** The parts of the replica that messages reach. */
export interface Parts {
  readonly live: () => LiveState
  readonly peers: Peers
  readonly outbox: Outbox
  readonly questions: Questions
  readonly announcements: Announcements
  readonly gossip: SignedGossip
  readonly signing: Signing
  readonly joins: Joins
  readonly isValid: (check: Check) => boolean
  readonly answer: (question: Extract<Question, { _tag: "AskHighest" | "AskState" }>) => Answer
  /** Follows what the core made of a message. */
  readonly follow: (outputs: ReadonlyArray<CoreOutput>, sender: PeerId, now: Timestamp) => void
}

export class Hearing {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The possible use of a message, judged by local knowledge before any signature is verified. Changes nothing. */
  useOf(from: PeerId, message: Judged): Use {
    const { gossip, peers, signing } = this.#parts
    const { core } = this.#parts.live()
    switch (message._tag) {
      case "Heartbeat":
        return { _tag: gossip.useOfHeartbeat(message.heartbeat) }
      case "Evidence":
        return gossip.wantsEvidence(message.evidence) ? Core.WANTED : Core.KNOWN
      case "CheckpointSignature": {
        const { checkpoint, signature } = message
        if (core.signerOf(checkpoint, signature.validator) !== undefined) {
          return gossip.wantsSignature(signature) ? Core.WANTED : Core.KNOWN
        }
        const { epoch } = checkpoint
        return epoch > core.epoch.opening.record.epoch ? { _tag: "Elsewhere", epoch } : Core.KNOWN
      }
      case "Highest": {
        const member = peers.validatorOf(from)
        const isOfUse = member !== null && [signing.self, member].includes(message.author)
        return isOfUse ? Core.WANTED : Core.KNOWN
      }
      default:
        return Core.WANTED
    }
  }

  /** Returns whether to relay the message as gossip. Vertices and answers are never relayed. */
  receive(from: PeerId, message: Message, isWhole: boolean, now: Timestamp): boolean {
    const { core, pool } = this.#parts.live()
    switch (message._tag) {
      case "Vertices":
        this.#parts.questions.fetched(from, message.vertices)
        for (const vertex of message.vertices) this.#parts.follow(core.receive(vertex, now), from, now)
        return false
      case "Rounds":
        this.#hearRounds(from, message, now)
        return false
      case "Transactions": {
        const { transactions } = message
        const answers = transactions.map((transaction) =>
          pool.submit(transaction, now, core.epoch.dag.highestRound, from),
        )
        const worth = worthTelling(transactions, answers, pool)
        if (isWhole && areRelayed(transactions, worth)) return true
        this.#parts.announcements.overheard(worth, now)
        return false
      }
      case "Heartbeat":
        return this.#parts.gossip.hearHeartbeat(message.heartbeat)
      case "Evidence":
        return this.#parts.gossip.keepEvidence(message.evidence)
      case "CheckpointSignature":
        return this.#hearSignature(from, message, now)
      case "Closing":
        this.#hearClosing(from, message, now)
        return false
      case "Highest":
        this.#hearHighest(from, message, now)
        return false
      case "State":
        this.#parts.joins.received(from, message, now)
        return false
      // Only in the simulator: a node answers questions outside the replica (`Answers`).
      case "AskVertices":
      case "AskRounds":
      case "AskClosing":
        this.#parts.outbox.emit({ _tag: "Serve", to: from, question: message })
        return false
      case "AskHighest":
      case "AskState":
        this.#parts.outbox.send(from, this.#parts.answer(message))
        return false
    }
  }

  #hearSignature(from: PeerId, { checkpoint, signature }: SignatureMessage, now: Timestamp): boolean {
    const { core } = this.#parts.live()
    // Signatures that say nothing new have not been verified.
    const isNews = core.signerOf(checkpoint, signature.validator) !== undefined
    if (isNews && !this.#parts.gossip.wantsSignature(signature)) return false
    this.#parts.follow(core.checkpointSigned(checkpoint, signature, now), from, now)
    if (isNews) this.#parts.gossip.heardSignature(signature)
    return isNews
  }

  #hearRounds(from: PeerId, rounds: Extract<Answer, { _tag: "Rounds" }>, now: Timestamp): void {
    const { core } = this.#parts.live()
    const receive = (vertex: Vertex): void => this.#parts.follow(core.receive(vertex, now), from, now)
    // A join needs no rounds from before its closing checkpoint.
    this.#parts.questions.takeRounds(
      from,
      rounds,
      { shelf: core.epoch.dag, receive, isOver: this.#parts.joins.target !== null },
      now,
    )
  }

  #hearHighest(from: PeerId, { author, epoch, header }: Extract<Answer, { _tag: "Highest" }>, now: Timestamp): void {
    const { core } = this.#parts.live()
    const member = this.#parts.peers.validatorOf(from)
    if (!this.#parts.questions.takeHighest(from, author) || member === null) return
    const answer = { epoch, header: header?.author === author ? header : null }
    if (author === this.#parts.signing.self) this.#parts.follow(core.answered(member, answer, now), from, now)
    else if (author === member) this.#parts.follow(core.testified(member, answer, now), from, now)
  }

  #hearClosing(from: PeerId, message: Extract<Answer, { _tag: "Closing" }>, now: Timestamp): void {
    const isAsked = this.#parts.questions.takeClosing(from) || this.#parts.joins.isAsked(from)
    // A peer ahead may offer unrequested checkpoints, but only now and then, since their signatures cost work.
    if (!isAsked && !this.#parts.peers.isDue("Offer", from, now)) return
    const { newest } = message
    for (const signed of newest === null ? message.signed : [...message.signed, newest]) {
      this.#parts.follow(this.#parts.live().core.checkpointsSigned(this.#genuine(signed), now), from, now)
    }
    this.#parts.joins.offered(from, message, this.#parts.live().core.epoch.opening.record, now)
  }

  /**
   * Keeps the new signatures by committee members this node knows, if all of them are valid. Verification stops at the
   * first invalid one, since forging signatures costs the sender nothing.
   */
  #genuine({ checkpoint, signatures }: Checkpoint.SignedCheckpoint): Checkpoint.SignedCheckpoint {
    const { core } = this.#parts.live()
    const news = signatures.filter(({ validator }) => core.signerOf(checkpoint, validator) !== undefined)
    const hold = news.every(({ validator, signature }) => {
      const signer = core.signerOf(checkpoint, validator)
      return signer !== undefined && this.#parts.isValid(Checkpoint.check(checkpoint, signer, signature))
    })
    return { checkpoint, signatures: hold ? news : [] }
  }
}
