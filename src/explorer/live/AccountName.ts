/** Display names of accounts. */
import type { Address } from "../../protocol/identity/Address.js"
import * as Labels from "./Labels.js"
import * as Names from "./Names.js"

/** The reader's label, else the registered name; null if there is neither. */
export const of = (address: Address): string | null => {
  const name = Names.of(address)
  return Labels.of(address) ?? (name === null ? null : `@${name}`)
}
