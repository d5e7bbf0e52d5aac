/** Accounts as users name them: an address in either form, or a `@name` that the node resolves. */
import { Effect, Either, Option } from "effect"
import * as Address from "../../protocol/identity/Address.js"
import type { AddressPrefix } from "../../protocol/identity/Network.js"
import { fail } from "../keys/WalletFailure.js"
import { quote, wrongUsage } from "../settings/WrongUsage.js"
import type * as Node from "./Node.js"

/** An address in hex or in the form of any network. */
export const ofAnyNetwork = (text: string): Either.Either<Address.Address, Address.InvalidAddress> =>
  Address.parse(text, /^udg1/i.test(text) ? "udg" : "tudg")

/** The account's address on the network with this prefix. */
export const resolve = (node: Node.Node, prefix: AddressPrefix, text: string) =>
  Effect.gen(function* () {
    const reference = Address.parseReference(text, prefix)
    if (Either.isLeft(reference)) return yield* wrongUsage(`${quote(text)} is not an account: ${reference.left.reason}`)
    if (reference.right._tag === "Address") return reference.right.address
    const { name } = reference.right
    const owner = yield* node.find((client) => client.core.balance({ path: { address: `@${name}` } }))
    return Option.isSome(owner) ? owner.value.address : yield* fail("notFound", `the name @${name} is not registered`)
  })
