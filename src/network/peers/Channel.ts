/** The lanes between two nodes. Each carries certain kinds of messages in both directions, with its own limits. */

import * as Limits from "../../protocol/numbers/Limits.js"
import type { Message } from "../../replica/messages/Message.js"
import * as Hello from "../Hello.js"
import * as MessageCodec from "../MessageCodec.js"
import type { Standing } from "../Standing.js"
import * as Relays from "./Relays.js"

/**
 * Vertices have their own lane so that long answers do not delay them. Votes are all other gossip: heartbeats, evidence
 * and checkpoint signatures. Greetings and addresses belong to the network layer.
 */
export type Channel = "greeting" | "vertices" | "transactions" | "votes" | "questions" | "answers" | "addresses"

export const ofReplica = [
  "vertices",
  "transactions",
  "votes",
  "questions",
  "answers",
] as const satisfies ReadonlyArray<Channel>
export type OfReplica = (typeof ofReplica)[number]

/**
 * What goes to every peer, many times a round. Transactions do as well, but a follower should hear of them while they are
 * pending, before the vertices that make them final.
 */
export const isOfRounds = (channel: Channel): boolean => channel === "vertices" || channel === "votes"

/** A lane's index in this list is its number on the wire. */
export const all: ReadonlyArray<Channel> = ["greeting", ...ofReplica, "addresses"]

/** Open from the beginning. A node opens the other lanes for peers that have greeted. */
export const FIRST: Channel = "greeting"

export interface Bounds {
  readonly messageBytes: number
  /** Outgoing bytes that may wait for a slow reader; further messages are dropped. */
  readonly waitingBytes: number
  /** How much the other side may send before this node has taken it in. Strangers get `strangerWindowBytes`. */
  readonly windowBytes: number
  readonly strangerWindowBytes: number
  /** The reading rate: a burst, then a rate per second. Data beyond it stays unread, at no cost to the sender. */
  readonly burstBytes: number
  readonly bytesPerSecond: number
}

/** The message kind and the lengths around one vertex. */
const AROUND_A_VERTEX = 16
/** Twice the longest announcement. */
const TRANSACTIONS_BYTES = 524_288
const KIB = 1_024
const MIB = 1_048_576
/** Limits of broadcast messages. A lane also has room for a list of members, since relays may name more of them. */
export const TOLD_BYTES: { readonly [channel in Relays.Channel]: number } = {
  transactions: TRANSACTIONS_BYTES,
  votes: 16 * KIB,
}

export const LIMITS: { readonly [channel in Channel]: Bounds } = {
  greeting: {
    messageBytes: Hello.MAX_BYTES,
    waitingBytes: 16 * KIB,
    windowBytes: 32 * KIB,
    strangerWindowBytes: 32 * KIB,
    burstBytes: 16 * KIB,
    bytesPerSecond: KIB,
  },
  vertices: {
    messageBytes: Limits.VERTEX_BYTES + AROUND_A_VERTEX,
    waitingBytes: 16 * MIB,
    windowBytes: MIB,
    strangerWindowBytes: 256 * KIB,
    burstBytes: 32 * MIB,
    bytesPerSecond: 8 * MIB,
  },
  transactions: {
    messageBytes: TOLD_BYTES.transactions + Relays.LIST_BYTES,
    waitingBytes: 4 * MIB,
    windowBytes: MIB,
    strangerWindowBytes: 256 * KIB,
    burstBytes: 16 * MIB,
    bytesPerSecond: 4 * MIB,
  },
  votes: {
    messageBytes: TOLD_BYTES.votes + Relays.LIST_BYTES,
    waitingBytes: MIB,
    windowBytes: 256 * KIB,
    strangerWindowBytes: 64 * KIB,
    burstBytes: 4 * MIB,
    bytesPerSecond: MIB,
  },
  questions: {
    messageBytes: 16 * KIB,
    waitingBytes: MIB,
    windowBytes: 64 * KIB,
    strangerWindowBytes: 64 * KIB,
    burstBytes: 4 * MIB,
    bytesPerSecond: MIB,
  },
  answers: {
    messageBytes: MessageCodec.MAX_BYTES,
    waitingBytes: 16 * MIB,
    windowBytes: 4 * MIB,
    strangerWindowBytes: MIB,
    burstBytes: 64 * MIB,
    bytesPerSecond: 32 * MIB,
  },
  addresses: {
    messageBytes: 8 * KIB,
    waitingBytes: 64 * KIB,
    windowBytes: 32 * KIB,
    strangerWindowBytes: 32 * KIB,
    burstBytes: 32 * KIB,
    bytesPerSecond: KIB,
  },
}

export const windowOf = (channel: Channel, standing: Standing): number =>
  standing === "stranger" ? LIMITS[channel].strangerWindowBytes : LIMITS[channel].windowBytes

export const takes = (channel: OfReplica, message: Pick<Message, "_tag">): boolean => {
  switch (channel) {
    case "vertices":
      return message._tag === "Vertices"
    case "transactions":
      return message._tag === "Transactions"
    case "votes":
      return MessageCodec.isGossip(message) && message._tag !== "Vertices" && message._tag !== "Transactions"
    case "questions":
      return MessageCodec.isQuestion(message)
    case "answers":
      return MessageCodec.isAnswer(message)
  }
}
