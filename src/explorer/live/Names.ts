/** Account names, requested up to a hundred at a time and kept while the page is open. */
import { type Signal, signal } from "@preact/signals"
import type { Address } from "../../protocol/identity/Address.js"
import { node } from "./Node.js"

interface Known {
  /** Null until the node has answered, and for accounts without a name. */
  readonly name: Signal<string | null>
  askedAt: number
}

const names = new Map<Address, Known>()
const waiting = new Set<Address>()

const AT_ONCE = 100
const RETRY_MS = 10_000
/** An account without a name that is still shown is asked for again after this time, because it can register one. */
const STALE_MS = 60_000

const ask = async (): Promise<void> => {
  const addresses = [...waiting].slice(0, AT_ONCE)
  for (const address of addresses) waiting.delete(address)
  if (waiting.size > 0) setTimeout(ask)
  try {
    const { names: found } = await node.core.names({ urlParams: { addresses: addresses.join(",") } })
    for (const { address, name } of found) {
      const known = names.get(address)
      if (known !== undefined) known.name.value = name
    }
  } catch {
    // The frame shows that the node does not answer. Pages that never render again follow these signals.
    setTimeout(() => addresses.forEach(request), RETRY_MS)
  }
}

const request = (address: Address): void => {
  if (waiting.size === 0) setTimeout(ask)
  waiting.add(address)
}

/** The account's name, which can arrive later. */
export const of = (address: Address): string | null => {
  const known = names.get(address) ?? { name: signal(null), askedAt: Number.NEGATIVE_INFINITY }
  names.set(address, known)
  const now = performance.now()
  if (known.name.peek() === null && now - known.askedAt >= STALE_MS) {
    known.askedAt = now
    request(address)
  }
  return known.name.value
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
