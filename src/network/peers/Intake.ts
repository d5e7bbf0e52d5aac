/** What comes in from peers that have greeted: looks at the kind of each message only, and hands it on. */
import type { PeerId } from "../../replica/messages/Peer.js"
import * as Frames from "../Frames.js"
import type { Tag } from "../MessageCodec.js"
import * as MessageCodec from "../MessageCodec.js"
import type { Received, Verdict } from "../Network.js"
import type { Standing } from "../Standing.js"
import * as Channel from "./Channel.js"
import type { Discipline } from "./Discipline.js"
import type { Notices } from "./Notices.js"
import type { Session } from "./Session.js"
import type { Stream } from "./Wire.js"

export interface Around {
  /** Bytes that nobody has judged yet. */
  readonly heard: (received: Received) => void
  readonly standingOf: (peer: PeerId) => Standing
  readonly notices: Notices
  readonly discipline: Discipline
}

const nothing = () => {}

export class Intake {
  readonly #around: Around

  constructor(around: Around) {
    this.#around = around
  }

  /** Takes all messages of a stream. */
  async read(session: Session, channel: Channel.Channel, stream: Stream): Promise<void> {
    const { notices, discipline } = this.#around
    try {
      // Nothing goes back on it.
      await stream.closeWrite()
      for await (const bytes of session.messages(channel, stream.source)) {
        notices.contain(session.facts.peer, channel, () => this.#take(session, channel, bytes), nothing)
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
      discipline.offend(session.facts, "flood", "more questions than anybody has who waits for answers")
      return
    }
    if (tag === "Closing" && !session.offers()) {
      const what = "more closing checkpoints than were asked for and anybody offers"
      discipline.offend(session.facts, "flood", what)
      return
    }
    const release = session.holds(bytes.length)
    this.#deliver(session, channel, tag, bytes, release, () => {
      if (MessageCodec.isQuestion({ _tag: tag })) session.answered()
    })
  }

  /** A message of gossip, on the topic of transactions or the other one. `report` tells gossip what became of it. */
  gossiped(
    session: Session | undefined,
    isTransactions: boolean,
    bytes: Uint8Array,
    report: (verdict: Verdict) => void,
  ): void {
    if (session === undefined || !session.hasRoom) {
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
    const release = session.holds(bytes.length)
    this.#deliver(session, "gossip", tag, bytes, (verdict) => {
      release(verdict)
      report(verdict)
    })
  }

  /** A message that cannot be handed on takes up no room, nor the place of a question that waits for its answer. */
  #deliver(
    { facts: { peer } }: Session,
    where: string,
    tag: Tag,
    bytes: Uint8Array,
    release: (verdict: Verdict) => void,
    lost: () => void = nothing,
  ): void {
    const { heard, standingOf, notices } = this.#around
    const hand = () => heard({ from: peer, standing: standingOf(peer), tag, bytes, release })
    notices.contain(peer, where, hand, () => {
      release("known")
      lost()
    })
  }

  /** Nothing else is read here: reading costs more than a sender pays, so it is left to who judges it in fair turns. */
  #tagOf({ facts }: Session, bytes: Uint8Array, belongs: (tag: Tag) => boolean, where: string): Tag | null {
    const tag = MessageCodec.tagOf(bytes)
    if (tag !== undefined && belongs(tag)) return tag
    const what = tag === undefined ? `kind of message ${bytes[0]}` : `a ${tag} where none belongs`
    this.#around.discipline.offend(facts, "malformed", `${where}: ${what}`)
    return null
  }
}
