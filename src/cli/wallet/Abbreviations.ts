/** What lists show in short: the names of accounts, asked for at once, and hashes of which only the ends are known. */
import { Effect } from "effect"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { AddressPrefix } from "../../protocol/identity/Network.js"
import { fail, type WalletFailure } from "../keys/WalletFailure.js"
import type * as Reader from "../settings/Reader.js"
import * as Describe from "./Describe.js"
import type * as Node from "./Node.js"

/** As many as one request may ask for. */
const AT_ONCE = 100

/** By address, with the @, which only a name begins with. */
export type Names = ReadonlyMap<string, string>

/** None as JSON, which is the node's own answer. */
export const namesOf = (
  asJson: boolean,
  node: Node.Node,
  addresses: ReadonlyArray<string>,
): Effect.Effect<Names, WalletFailure> =>
  Effect.gen(function* () {
    const names = new Map<string, string>()
    const asked = asJson ? [] : [...new Set(addresses)]
    for (let from = 0; from < asked.length; from += AT_ONCE) {
      const part = asked.slice(from, from + AT_ONCE).join(",")
      const found = yield* node.ask((client) => client.core.names({ urlParams: { addresses: part } }))
      for (const { address, name } of found.names) names.set(address, `@${name}`)
    }
    return names
  })

/** `@alice tudg1…`: cut in the middle, the name and the end of the address stay. */
export const account = (address: string, prefix: AddressPrefix, names: Names): string => {
  const name = names.get(address)
  const written = Describe.account(address, prefix)
  return name === undefined ? written : `${name} ${written}`
}

const ONE = { transactions: "transaction", vertices: "vertex" } as const

/** The hash itself; of its ends, the only one of those that the node knows. */
export const hash = (
  node: Node.Node,
  kind: keyof typeof ONE,
  given: Hash | Reader.Ends,
): Effect.Effect<Hash, WalletFailure> =>
  Effect.gen(function* () {
    if (typeof given === "string") return given
    const { start, end } = given
    const found = yield* node.ask((client) => client.core.search({ urlParams: { prefix: start } }))
    const [first, second] = found[kind].filter((one) => one.startsWith(start) && one.endsWith(end))
    const written = end === "" ? start : `${start}…${end}`
    if (first === undefined) return yield* fail("notFound", `${node.url} knows no ${ONE[kind]} ${written}`)
    if (second === undefined) return first
    return yield* fail("notFound", `more than one ${ONE[kind]} begins with ${written}; give more of its digits`)
  })
