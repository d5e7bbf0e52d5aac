/** Hexadecimal into bytes without leaving JavaScript: for a hash or a key, calling native code costs eight times as much. */

/** What is no digit: more than any digit, and no byte when two are put together. */
const NO_DIGIT = 0x100

/** The value of a hexadecimal digit by its character code. */
const DIGITS = Uint16Array.from({ length: 128 }, (_, code) => {
  const value = Number.parseInt(String.fromCharCode(code), 16)
  return Number.isNaN(value) ? NO_DIGIT : value
})

const digit = (hex: string, at: number): number => DIGITS[hex.charCodeAt(at)] ?? NO_DIGIT

/**
 * Writes the bytes that `hex` stands for. Hexadecimal from outside was judged before, so what is none here is a bug, and
 * a wrong byte in a hash or a key would be a costly one.
 */
export const write = (target: Uint8Array, offset: number, hex: string): void => {
  let seen = 0
  for (let i = 0, at = offset; i < hex.length; i += 2) {
    const byte = (digit(hex, i) << 4) | digit(hex, i + 1)
    seen |= byte
    target[at++] = byte
  }
  // Once for the whole text; with an odd length the digit behind the last is none.
  if (seen > 0xff) throw new RangeError(`not hexadecimal in pairs of digits: ${hex.length} characters`)
}
