/** What a text may be the beginning of: a name, an address in hex or bech32m, a hash. Pure. */
import * as Address from "./Address.js"
import type { AddressPrefix } from "./Network.js"

/** Fewer characters begin too many things. */
const LEAST_OF_NAME = 3
const LEAST_OF_REST = 4

export interface SearchPrefix {
  /** Without the @; none for a text that begins no name. */
  readonly name: string | undefined
  /** In hex; none for a text that begins no address. */
  readonly address: string | undefined
  /** None for a text that begins no hash. */
  readonly hash: string | undefined
  /** The address itself begins so: of a bech32m character, up to three bits are not in the digits. */
  readonly fits: (address: Address.Address) => boolean
}

/** An address is 32 characters, before six of checksum. */
const DATA_CHARACTERS = 32

/** Five bits a character, as far as they make whole digits. */
const digitsOf = (data: string): string => {
  const bits = [...data.slice(0, DATA_CHARACTERS)]
    .map((character) => Address.DATA.indexOf(character).toString(2).padStart(5, "0"))
    .join("")
  return (bits.match(/[01]{4}/g) ?? []).map((digit) => Number.parseInt(digit, 2).toString(16)).join("")
}

const NAME = /^[a-z0-9][a-z0-9-]*$/
const DIGITS = /^[0-9a-f]+$/
const BECH32 = new RegExp(`^(t?udg)1([${Address.DATA}]+)$`)

const nameOf = (text: string): string | undefined =>
  NAME.test(text) && text.length >= LEAST_OF_NAME ? text : undefined

export const read = (text: string, prefix: AddressPrefix): SearchPrefix => {
  if (text.startsWith("@"))
    return { name: nameOf(text.slice(1)), address: undefined, hash: undefined, fits: () => false }
  const digits = DIGITS.test(text) && text.length >= LEAST_OF_REST ? text : undefined
  const [, network, data = ""] = BECH32.exec(text) ?? []
  const isWritten = network === prefix && data.length >= LEAST_OF_REST
  return {
    ...{ name: nameOf(text), hash: digits, address: isWritten ? digitsOf(data) : digits },
    fits: (address) => !isWritten || Address.toBech32(address, prefix).startsWith(text),
  }
}
