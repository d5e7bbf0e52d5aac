/** Account names, requested up to a hundred at a time and kept while the page is open. */
import { type Signal, signal } from "@preact/signals"
import type { Address } from "../../protocol/identity/Address.js"
import { node } from "./Node.js"

/** Null until the node has answered, and for accounts without a name. */
const names = new Map<Address, Signal<string | null>>()
const waiting: Array<Address> = []

const AT_ONCE = 100

const ask = async (): Promise<void> => {
  const addresses = waiting.splice(0, AT_ONCE)
  if (waiting.length > 0) setTimeout(ask)
  try {
    const { names: found } = await node.core.names({ urlParams: { addresses: addresses.join(",") } })
    for (const { address, name } of found) {
      const known = names.get(address)
      if (known !== undefined) known.value = name
    }
  } catch {
    // The frame shows that the node does not answer. These names are requested again when they are next shown.
    for (const address of addresses) names.delete(address)
  }
}

/** The account's name, which can arrive later. */
export const of = (address: Address): string | null => {
  const known = names.get(address)
  if (known !== undefined) return known.value
  const unknown = signal<string | null>(null)
  names.set(address, unknown)
  if (waiting.length === 0) setTimeout(ask)
  waiting.push(address)
  return unknown.value
}

/** Requests these accounts' names again. */
export const named = async (addresses: ReadonlyArray<Address>): Promise<ReadonlyMap<Address, string>> => {
  const all = [...new Set(addresses)]
  const found = new Map<Address, string>()
  for (let from = 0; from < all.length; from += AT_ONCE) {
    const some = all.slice(from, from + AT_ONCE).join(",")
    const { names } = await node.core.names({ urlParams: { addresses: some } })
    for (const { address, name } of names) found.set(address, name)
  }
  return found
}
