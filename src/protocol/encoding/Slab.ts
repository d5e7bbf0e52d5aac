/**
 * Short byte strings, side by side in blocks. Allocating and freeing a separate buffer costs a microsecond or more,
 * which is more than writing most encodings; a block costs that once for dozens. A byte string keeps its whole block
 * alive, so blocks are small.
 */

const BLOCK_BYTES = 8_192
/** Longer byte strings have their own buffer. */
const LONGEST = 1_024

let block = new Uint8Array(BLOCK_BYTES)
let used = 0

/** Returns this many zero bytes that nothing else uses. */
export const allot = (length: number): Uint8Array => {
  if (length > LONGEST) return new Uint8Array(length)
  if (used + length > BLOCK_BYTES) {
    block = new Uint8Array(BLOCK_BYTES)
    used = 0
  }
  const start = used
  used += length
  return block.subarray(start, used)
}
