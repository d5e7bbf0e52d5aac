/** How reads fail, and decoding what the disk holds. */
import { Data, type Effect } from "effect"
import type { NetworkId } from "../../protocol/identity/Network.js"
import * as Vertex from "../../protocol/vertex/Vertex.js"
import type { StorageError } from "../../storage/files/StorageError.js"
import { type StateDamaged, sound } from "../lifecycle/Ending.js"

/** A read failed on disk. */
export type Unreadable = StateDamaged | StorageError

/** Whatever a read is answered from does not answer now: what lies behind a gateway, since a node has it in memory or on its disk. */
export class Unanswered extends Data.TaggedError("Unanswered")<{
  readonly message: string
  readonly retryAfterSeconds: number
}> {}

/** Why there is no answer to a read that should have one. */
export type NoAnswer = Unreadable | Unanswered

export const vertex = (networkId: NetworkId, bytes: Uint8Array): Effect.Effect<Vertex.Vertex, StateDamaged> =>
  sound(Vertex.decode(networkId, bytes))

export const head = (bytes: Uint8Array) => sound(Vertex.decodeHead(bytes))
