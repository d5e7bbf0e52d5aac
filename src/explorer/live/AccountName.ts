/** What accounts are called on all pages. */
import type { Address } from "../../protocol/identity/Address.js"
import * as Labels from "./Labels.js"
import * as Names from "./Names.js"

/** By the reader, else by the ledger; null where there is only the address. */
export const of = (address: Address): string | null => {
  const name = Names.of(address)
  return Labels.of(address) ?? (name === null ? null : `@${name}`)
}
