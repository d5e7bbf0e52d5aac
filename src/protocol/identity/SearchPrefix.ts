/** What a text can be a prefix of: a name, an address in hex or bech32m, a hash. Pure. */
import * as Address from "./Address.js"
import type { AddressPrefix } from "./Network.js"

/** Fewer characters match too many things. */
const LEAST_OF_NAME = 3
const LEAST_OF_REST = 4

export interface SearchPrefix {
  /** Without the @; undefined if the text is no prefix of a name. */
  readonly name: string | undefined
  /** In hex; undefined if the text is no prefix of an address. */
  readonly address: string | undefined
  /** Undefined if the text is no prefix of a hash. */
  readonly hash: string | undefined
  /**
   * Whether an address has this prefix. Exact, while up to three bits of a bech32m character are not in the hex digits.
   */
  readonly fits: (address: Address.Address) => boolean
}

/** An address is 32 characters, before six of checksum. */
const DATA_CHARACTERS = 32

/** The hex digits of bech32m data, which has five bits per character. An incomplete digit is dropped. */
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
