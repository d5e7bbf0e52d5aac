/** The streams between two nodes. Each goes one way, opened by the sender, and each has its limits. */

import * as Limits from "../../protocol/numbers/Limits.js"
import type { Message } from "../../replica/messages/Message.js"
import * as MessageCodec from "../MessageCodec.js"

/**
 * Vertices have a stream of their own, so that no long answer delays them. Transactions have one between members that are
 * connected to all others (`Standings.areTheOthers`); everybody else uses gossip.
 */
export type Channel = "vertices" | "transactions" | "questions" | "answers"

export const all: ReadonlyArray<Channel> = ["vertices", "transactions", "questions", "answers"]

interface Bounds {
  readonly frameBytes: number
  /** How much may wait for a slow reader before more is lost. */
  readonly waitingBytes: number
  /** The reading rate: a burst, then a rate per second. More is not read, which costs the sender nothing. */
  readonly burstBytes: number
  readonly bytesPerSecond: number
}

/** The kind of message and the lengths around a single vertex. */
const AROUND_A_VERTEX = 16
/** Twice the longest announcement. */
const TRANSACTIONS_BYTES = 524_288
const MIB = 1_048_576

export const LIMITS: { readonly [channel in Channel]: Bounds } = {
  vertices: {
    frameBytes: Limits.VERTEX_BYTES + AROUND_A_VERTEX,
    waitingBytes: 16 * MIB,
    burstBytes: 32 * MIB,
    bytesPerSecond: 8 * MIB,
  },
  transactions: {
    frameBytes: TRANSACTIONS_BYTES,
    waitingBytes: 4 * MIB,
    burstBytes: 16 * MIB,
    bytesPerSecond: 4 * MIB,
  },
  questions: { frameBytes: 16_384, waitingBytes: MIB, burstBytes: 4 * MIB, bytesPerSecond: MIB },
  answers: {
    frameBytes: MessageCodec.MAX_BYTES,
    waitingBytes: 16 * MIB,
    burstBytes: 64 * MIB,
    bytesPerSecond: 32 * MIB,
  },
}

/** Whether a message belongs on this channel. */
export const takes = (channel: Channel, message: Pick<Message, "_tag">): boolean => {
  switch (channel) {
    case "vertices":
      return message._tag === "Vertices"
    case "transactions":
      return message._tag === "Transactions"
    case "questions":
      return MessageCodec.isQuestion(message)
    case "answers":
      return MessageCodec.isAnswer(message)
  }
}
