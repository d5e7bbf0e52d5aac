/** Accounts as people name them, in a path or a body: hex, bech32m of this network, or a registered `@name`. */
import { Effect, Either } from "effect"
import { Engine } from "../../node/engine/Engine.js"
import { Home } from "../../node/start/Home.js"
import * as Address from "../../protocol/identity/Address.js"
import * as Network from "../../protocol/identity/Network.js"
import * as Failure from "../api/Failure.js"

/** Reads the account in this field. A plain function, since the most frequent requests need it. */
export type Resolve = (
  field: string,
  text: string,
) => Either.Either<Address.Address, Failure.InvalidRequest | Failure.NameNotFound>

export const resolver = Effect.gen(function* () {
  const { view } = yield* Engine
  const prefix = Network.addressPrefix((yield* Home).genesis.mode)
  const resolve: Resolve = (field, text) => {
    const reference = Address.parseReference(text, prefix)
    if (Either.isLeft(reference)) {
      return Either.left(new Failure.InvalidRequest({ message: `${field}: ${reference.left.message}`, field }))
    }
    if (reference.right._tag === "Address") return Either.right(reference.right.address)
    const { name } = reference.right
    const address = view.read.addressOf(name)
    if (address !== undefined) return Either.right(address)
    return Either.left(new Failure.NameNotFound({ message: `nobody registered the name @${name}` }))
  }
  return resolve
})
