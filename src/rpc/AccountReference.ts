/** Accounts as people name them, in a path or a body: hex, bech32m of this network, or a registered `@name`. */
import { Effect, Either } from "effect"
import { Engine } from "../node/Engine.js"
import { Home } from "../node/Home.js"
import * as Address from "../protocol/Address.js"
import * as Network from "../protocol/Network.js"
import * as Failure from "./failure/Api.js"

/** Reads the account that stands in this field. A plain function, since it stands before the hottest answers. */
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
