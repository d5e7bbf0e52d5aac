/** Messages from peers that have greeted. It looks only at the kind of each message, and passes it on. */
import type { PeerId } from "../../replica/messages/Peer.js"
import * as Frames from "../Frames.js"
import type { Tag } from "../MessageCodec.js"
import * as MessageCodec from "../MessageCodec.js"
import type { Received, RelayDecision } from "../Network.js"
import type { Standing } from "../Standing.js"
import type { Volume } from "../Volume.js"
import * as Channel from "./Channel.js"
import type { Discipline } from "./Discipline.js"
import type { PeerLog } from "./PeerLog.js"
import { roomOf, type Session } from "./Session.js"
import type { Stream } from "./Wire.js"

export interface Around {
  /** Bytes of a message, not judged yet. */
  readonly heard: (received: Received) => void
  readonly standingOf: (peer: PeerId) => Standing
  readonly log: PeerLog
  readonly discipline: Discipline
  readonly volume: Volume
  /** Transactions that this peer sent by stream, and that were news. */
  readonly passOn: (from: PeerId, bytes: Uint8Array) => void
}

const nothing = () => {}

export class Intake {
  readonly #around: Around

  constructor(around: Around) {
    this.#around = around
  }

  /** Takes all messages of a stream. */
  async read(session: Session, channel: Channel.Channel, stream: Stream): Promise<void> {
    const { log, discipline } = this.#around
    try {
      // This node sends nothing on it.
      await stream.closeWrite()
      for await (const bytes of session.messages(channel, stream.source)) {
        log.contain(session.facts.peer, channel, () => this.#take(session, channel, bytes), nothing)
      }
    } catch (error) {
      if (error instanceof Frames.FrameTooLong) {
        discipline.offend(session.facts, "oversize", `${channel}: ${error.message}`)
      }
      throw error
    }
  }

  #take(session: Session, channel: Channel.Channel, bytes: Uint8Array): void {
    const { discipline } = this.#around
    const tag = this.#tagOf(session, bytes, (_tag) => Channel.takes(channel, { _tag }), channel)
    if (tag === null) return
    if (MessageCodec.isQuestion({ _tag: tag }) && !session.asks()) {
      session.answered()
      discipline.offend(session.facts, "flood", "more questions than a peer asks that waits for its answers")
      return
    }
    if (tag === "Closing" && !session.offers()) {
      const what = "more closing checkpoints than were asked for or any honest peer offers"
      discipline.offend(session.facts, "flood", what)
      return
    }
    const release = session.holds(roomOf(channel), bytes.length)
    const taken = (decision: RelayDecision): void => {
      release(decision)
      if (channel === "transactions" && decision === "news") this.#around.passOn(session.facts.peer, bytes)
    }
    this.#deliver(session, channel, tag, bytes, taken, () => {
      if (MessageCodec.isQuestion({ _tag: tag })) session.answered()
    })
  }

  /** A message of gossip, on the topic of transactions or the other one. `report` decides whether gossip relays it. */
  gossiped(
    session: Session | undefined,
    isTransactions: boolean,
    bytes: Uint8Array,
    report: (decision: RelayDecision) => void,
  ): void {
    const room = isTransactions ? "transactions" : "votes"
    if (session === undefined || !session.hasRoom(room)) {
      report("known")
      return
    }
    const belongs = (tag: Tag): boolean =>
      MessageCodec.isGossip({ _tag: tag }) && tag !== "Vertices" && (tag === "Transactions") === isTransactions
    const tag = this.#tagOf(session, bytes, belongs, "gossip")
    if (tag === null) {
      report("refused")
      return
    }
    const release = session.holds(room, bytes.length)
    this.#deliver(session, "gossip", tag, bytes, (decision) => {
      release(decision)
      report(decision)
      if (room === "votes" && decision === "known" && !session.passesOnInVain()) {
        const what = "more votes of no use than any honest peer passes on"
        this.#around.discipline.offend(session.facts, "flood", what)
      }
    })
  }

  /** A message that cannot be passed on takes up no room, and does not count as an open question. */
  #deliver(
    { facts: { peer } }: Session,
    where: string,
    tag: Tag,
    bytes: Uint8Array,
    release: (decision: RelayDecision) => void,
    lost: () => void = nothing,
  ): void {
    const { heard, standingOf, log, volume } = this.#around
    const standing = standingOf(peer)
    volume.received(tag, standing, bytes.length)
    const hand = () => heard({ from: peer, standing, tag, bytes, release })
    log.contain(peer, where, hand, () => {
      release("known")
      lost()
    })
  }

  /** Only the kind is read: reading more costs more than the sender pays, so `MessageInspection` does it, in fair turns. */
  #tagOf({ facts }: Session, bytes: Uint8Array, belongs: (tag: Tag) => boolean, where: string): Tag | null {
    const tag = MessageCodec.tagOf(bytes)
    if (tag !== undefined && belongs(tag)) return tag
    const what = tag === undefined ? `kind of message ${bytes[0]}` : `a ${tag} where none belongs`
    this.#around.discipline.offend(facts, "malformed", `${where}: ${what}`)
    return null
  }
}
