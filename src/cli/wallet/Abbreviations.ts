/** Shortened forms: account names, fetched together, and hashes of which only the ends are known. */
import { Effect } from "effect"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { AddressPrefix } from "../../protocol/identity/Network.js"
import { fail, type WalletFailure } from "../keys/WalletFailure.js"
import type * as Reader from "../settings/Reader.js"
import * as Describe from "./Describe.js"
import type * as Node from "./Node.js"

/** The limit of one request. */
const AT_ONCE = 100

/** Names by address, each with its @. */
export type Names = ReadonlyMap<string, string>

/** Empty for JSON output, which is the node's own answer. */
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

/** `@alice tudg1…`: cut in the middle, it keeps the name and the end of the address. */
export const account = (address: string, prefix: AddressPrefix, names: Names): string => {
  const name = names.get(address)
  const written = Describe.account(address, prefix)
  return name === undefined ? written : `${name} ${written}`
}

const ONE = { transactions: "transaction", vertices: "vertex" } as const

/** A full hash stays; a shortened one resolves to the only match that the node has. */
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
