/** Decodes the database's bytes. */
import type { Effect } from "effect"
import type { NetworkId } from "../../protocol/identity/Network.js"
import * as Vertex from "../../protocol/vertex/Vertex.js"
import type { StorageError } from "../../storage/files/StorageError.js"
import { type StateDamaged, sound } from "../lifecycle/Ending.js"

/** A read failed on disk. */
export type Unreadable = StateDamaged | StorageError

const TAGS: { readonly [T in Unreadable["_tag"]]: true } = {
  StateDamaged: true,
  DatabaseDamaged: true,
  DatabaseFailed: true,
  DiskFull: true,
}

export const isUnreadable = (error: unknown): error is Unreadable =>
  typeof error === "object" &&
  error !== null &&
  "_tag" in error &&
  typeof error._tag === "string" &&
  Object.hasOwn(TAGS, error._tag)

export const vertex = (networkId: NetworkId, bytes: Uint8Array): Effect.Effect<Vertex.Vertex, StateDamaged> =>
  sound(Vertex.decode(networkId, bytes))

export const head = (bytes: Uint8Array) => sound(Vertex.decodeHead(bytes))
