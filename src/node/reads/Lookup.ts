/** Failures of reads, and decoding of stored data. */
import { Data, type Effect } from "effect"
import type { NetworkId } from "../../protocol/identity/Network.js"
import * as Vertex from "../../protocol/vertex/Vertex.js"
import type { StorageError } from "../../storage/files/StorageError.js"
import { type StateDamaged, sound } from "../lifecycle/Ending.js"

export type Unreadable = StateDamaged | StorageError

/** The source of a read does not answer now. Only behind a gateway: a node has its data in memory or on disk. */
export class Unanswered extends Data.TaggedError("Unanswered")<{
  readonly message: string
  readonly retryAfterSeconds: number
}> {}

/** Why a read that should have an answer has none. */
export type NoAnswer = Unreadable | Unanswered

export const vertex = (networkId: NetworkId, bytes: Uint8Array): Effect.Effect<Vertex.Vertex, StateDamaged> =>
  sound(Vertex.decode(networkId, bytes))

export const head = (bytes: Uint8Array) => sound(Vertex.decodeHead(bytes))
