/** Accounts as people name them: an address of either kind, or a `@name` that only the node can look up. */
import { Effect, Either, Option } from "effect"
import * as Address from "../../protocol/identity/Address.js"
import type { AddressPrefix } from "../../protocol/identity/Network.js"
import { quote, WrongUsage } from "../settings/WrongUsage.js"
import type * as Node from "./Node.js"
import { fail } from "./WalletFailure.js"

/** The address that is meant, on the network with this prefix. */
export const resolve = (node: Node.Node, prefix: AddressPrefix, text: string) =>
  Effect.gen(function* () {
    const reference = Address.parseReference(text, prefix)
    if (Either.isLeft(reference)) {
      return yield* new WrongUsage({ message: `${quote(text)} is no account: ${reference.left.reason}` })
    }
    if (reference.right._tag === "Address") return reference.right.address
    const { name } = reference.right
    const found = yield* node.find((client) => client.core.balance({ path: { address: `@${name}` } }))
    const owner = yield* Option.match(found, {
      onNone: () => Effect.fail(fail("notFound", `nobody registered the name @${name}`)),
      onSome: Effect.succeed,
    })
    return owner.name === name
      ? owner.address
      : yield* Effect.fail(fail("node", `${node.url} gives the account of another name for @${name}; do not trust it`))
  })
