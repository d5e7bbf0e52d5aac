/** What stands in the database in bytes, as what it is. */
import { Effect, Either } from "effect"
import type { NetworkId } from "../protocol/Network.js"
import * as Transaction from "../protocol/Transaction.js"
import * as Vertex from "../protocol/Vertex.js"
import { fromDamage, type StateDamaged } from "./Ending.js"

const sound = <A>(value: Either.Either<A, { readonly message: string }>): Effect.Effect<A, StateDamaged> =>
  Either.isRight(value) ? Effect.succeed(value.right) : Effect.fail(fromDamage(value.left))

export const vertex = (networkId: NetworkId, bytes: Uint8Array): Effect.Effect<Vertex.Vertex, StateDamaged> =>
  sound(Vertex.decode(networkId, bytes))

export const transaction = (
  networkId: NetworkId,
  bytes: Uint8Array,
): Effect.Effect<Transaction.Transaction, StateDamaged> => sound(Transaction.decode(networkId, bytes))
