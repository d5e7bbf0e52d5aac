/**
 * Room for short byte strings, side by side in blocks. A buffer of its own costs a microsecond or more to make and again
 * to let go, which is more than most encodings cost to write; a block costs that once for dozens.
 *
 * A byte string keeps its whole block from being let go. Blocks are small, so that little is kept for it.
 */

const BLOCK_BYTES = 8_192
/** What is longer has a buffer of its own. */
const LONGEST = 1_024

let block = new Uint8Array(BLOCK_BYTES)
let used = 0

/** This many bytes, all zero, that nobody else uses. */
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
