/** What a text begins with, in the hex digits that the node looks up: typed, pasted, or as a list abbreviates it. Pure. */

export interface Beginning {
  readonly digits: string
  /** Whether an address as the pages show it, or a hash, is meant. */
  readonly fits: (text: string) => boolean
}

/** The node refuses less. */
const LEAST_DIGITS = 4
const CHARACTERS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
/** Of an address; six more are its checksum. */
const DATA_CHARACTERS = 32

/** Five bits a character, as far as they make whole digits. */
const digitsOf = (data: string): string => {
  const bits = [...data.slice(0, DATA_CHARACTERS)]
    .map((character) => CHARACTERS.indexOf(character).toString(2).padStart(5, "0"))
    .join("")
  return (bits.match(/[01]{4}/g) ?? []).map((digit) => Number.parseInt(digit, 2).toString(16)).join("")
}

/** Characters that are missing in the middle, as lists write it. */
const HEX = /^([0-9a-f]+)(?:…([0-9a-f]+))?$/
const ADDRESS = /^(t?udg1)([qpzry9x8gf2tvdw0s3jn54khce6mua7l]*)(?:…([0-9a-z]+))?$/

/** None for a text that begins no address and no hash, or is too short. */
export const read = (typed: string): Beginning | undefined => {
  const [, digits = "", hexEnd = ""] = HEX.exec(typed) ?? []
  const [, prefix = "", data = "", end = ""] = ADDRESS.exec(typed) ?? []
  const found =
    prefix === ""
      ? { digits, fits: (text: string) => text.startsWith(digits) && text.endsWith(hexEnd) }
      : { digits: digitsOf(data), fits: (text: string) => text.startsWith(`${prefix}${data}`) && text.endsWith(end) }
  return found.digits.length < LEAST_DIGITS || found.digits.length > 63 ? undefined : found
}
