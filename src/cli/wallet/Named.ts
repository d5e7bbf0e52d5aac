/** The names of accounts that a list shows, asked for at once. */
import { Effect } from "effect"
import type { AddressPrefix } from "../../protocol/identity/Network.js"
import type { WalletFailure } from "../keys/WalletFailure.js"
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
