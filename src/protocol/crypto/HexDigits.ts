/** Converts hexadecimal to bytes in JavaScript. For a hash or a key, calling native code costs eight times as much. */

/** Marks a character that is not a digit: larger than any digit, and invalid even in combination. */
const NO_DIGIT = 0x100

/** The value of a hexadecimal digit by its character code. */
const DIGITS = Uint16Array.from({ length: 128 }, (_, code) => {
  const value = Number.parseInt(String.fromCharCode(code), 16)
  return Number.isNaN(value) ? NO_DIGIT : value
})

const digit = (hex: string, at: number): number => DIGITS[hex.charCodeAt(at)] ?? NO_DIGIT

/** Writes the bytes that `hex` encodes. Outside input was checked before, so a wrong digit is a bug and throws. */
export const write = (target: Uint8Array, offset: number, hex: string): void => {
  let seen = 0
  for (let i = 0, at = offset; i < hex.length; i += 2) {
    const byte = (digit(hex, i) << 4) | digit(hex, i + 1)
    seen |= byte
    target[at++] = byte
  }
  // Checked once for the whole text. With an odd length, the position after the last digit counts as a non-digit.
  if (seen > 0xff) throw new RangeError(`not hexadecimal in pairs of digits: ${hex.length} characters`)
}
