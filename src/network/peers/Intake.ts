/** Receives messages from greeted peers, reads only the kind of each, and passes them on. */
import type { PeerId } from "../../replica/messages/Peer.js"
import type { Tag } from "../MessageCodec.js"
import * as MessageCodec from "../MessageCodec.js"
import type { Received, RelayDecision } from "../Network.js"
import type { Standing } from "../Standing.js"
import type { Volume } from "../Volume.js"
import * as Channel from "./Channel.js"
import type { Discipline } from "./Discipline.js"
import type { PeerLog } from "./PeerLog.js"
import * as Relays from "./Relays.js"
import type { Session } from "./Session.js"

export interface Around {
  /** Message bytes, not yet judged. */
  readonly heard: (received: Received) => void
  readonly standingOf: (peer: PeerId) => Standing
  readonly log: PeerLog
  readonly discipline: Discipline
  readonly volume: Volume
  readonly passOn: (told: Relays.Told) => void
  /** Whether a broadcast message arrived within the last moments. Records it as seen. */
  readonly isKnown: (message: Uint8Array, from: Standing) => boolean
}

const nothing = () => {}

export class Intake {
  readonly #around: Around

  constructor(around: Around) {
    this.#around = around
  }

  read(session: Session): void {
    const { log } = this.#around
    session.open((channel, bytes) =>
      log.contain(session.facts.peer, channel, () => this.#take(session, channel, bytes), nothing),
    )
  }

  #take(session: Session, channel: Channel.OfReplica, bytes: Uint8Array): void {
    if (channel === "transactions" || channel === "votes") this.#told(session, channel, bytes)
    else this.#said(session, channel, bytes)
  }

  /** Handles a message addressed to this node alone. */
  #said(session: Session, channel: Channel.OfReplica, bytes: Uint8Array): void {
    const { discipline } = this.#around
    const tag = this.#tagOf(session, bytes, (_tag) => Channel.takes(channel, { _tag }), channel)
    if (tag === null) return
    if (MessageCodec.isQuestion({ _tag: tag }) && !session.asks()) {
      session.answered()
      discipline.offend(session.facts, "flood", "asks faster than any peer that waits for its answers")
      return
    }
    if (tag === "Closing" && !session.offers()) {
      const what = "more closing checkpoints than requested, and more than any honest peer offers"
      discipline.offend(session.facts, "flood", what)
      return
    }
    this.#deliver(session, channel, tag, bytes, session.holds(channel, bytes.length), () => {
      if (MessageCodec.isQuestion({ _tag: tag })) session.answered()
    })
  }

  #told(session: Session, channel: Relays.Channel, bytes: Uint8Array): void {
    const { discipline, passOn, isKnown, standingOf } = this.#around
    const { facts } = session
    const envelope = Relays.open(bytes)
    if (envelope === null) {
      discipline.offend(facts, "malformed", `${channel}: a malformed list of members`)
      return
    }
    const { untold, message } = envelope
    if (message.length > Channel.TOLD_BYTES[channel]) {
      discipline.offend(facts, "oversize", `${channel}: a broadcast message of ${message.length} bytes`)
      return
    }
    const tag = this.#tagOf(session, message, (_tag) => Channel.takes(channel, { _tag }), channel)
    // Several peers can relay the same message within a moment.
    if (tag === null || isKnown(message, standingOf(facts.peer))) return
    const release = session.holds(channel, bytes.length)
    this.#deliver(session, channel, tag, message, (decision) => {
      release(decision)
      if (channel === "votes" && decision === "known" && !session.passesOnInVain()) {
        discipline.offend(facts, "flood", "more useless votes than any honest peer relays")
      }
      if (decision === "news") passOn({ from: facts.peer, channel, tag, message, untold })
    })
  }

  /** Hands the message over. If that fails, the message releases its room and does not count as an open question. */
  #deliver(
    { facts: { peer, host, networks } }: Session,
    where: string,
    tag: Tag,
    bytes: Uint8Array,
    release: (decision: RelayDecision) => void,
    lost: () => void = nothing,
  ): void {
    const { heard, standingOf, log, volume } = this.#around
    const standing = standingOf(peer)
    volume.received(tag, standing, bytes.length)
    const [network = host] = networks
    const hand = () => heard({ from: peer, standing, network, tag, bytes, release })
    log.contain(peer, where, hand, () => {
      release("known")
      lost()
    })
  }

  /** Reads only the kind: decoding costs more than the sender pays, so `MessageInspection` does it in fair turns. */
  #tagOf({ facts }: Session, bytes: Uint8Array, belongs: (tag: Tag) => boolean, where: string): Tag | null {
    const tag = MessageCodec.tagOf(bytes)
    if (tag !== undefined && belongs(tag)) return tag
    const what = tag === undefined ? `unknown kind of message ${bytes[0]}` : `a ${tag} message on the wrong lane`
    this.#around.discipline.offend(facts, "malformed", `${where}: ${what}`)
    return null
  }
}
