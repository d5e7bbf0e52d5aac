/** Accounts as users name them in a path or body: hex, bech32m of this network, or a registered `@name`. */
import { Effect, Either, Option } from "effect"
import type { Unanswered } from "../../node/reads/Lookup.js"
import { State } from "../../node/reads/State.js"
import * as Address from "../../protocol/identity/Address.js"
import * as Network from "../../protocol/identity/Network.js"
import * as Failure from "../api/Failure.js"

/** Resolves the account in this field; immediately, unless it is a name. */
export type Resolve = (
  field: string,
  text: string,
) => Effect.Effect<Address.Address, Failure.InvalidRequest | Failure.NameNotFound | Unanswered>

export const resolver = Effect.gen(function* () {
  const state = yield* State
  const prefix = Network.addressPrefix(state.genesis.mode)
  const resolve: Resolve = (field, text) => {
    const reference = Address.parseReference(text, prefix)
    if (Either.isLeft(reference)) {
      return Either.left(new Failure.InvalidRequest({ message: `${field}: ${reference.left.message}`, field }))
    }
    if (reference.right._tag === "Address") return Either.right(reference.right.address)
    const { name } = reference.right
    return Effect.flatMap(
      state.addressOf(name),
      Option.match({
        onSome: Effect.succeed,
        onNone: () => Effect.fail(new Failure.NameNotFound({ message: `no account has the name @${name}` })),
      }),
    )
  }
  return resolve
})
