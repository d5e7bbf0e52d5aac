/** Byte strings of columns. */

/** Concatenates byte strings. */
export const join = (pieces: ReadonlyArray<Uint8Array>): Uint8Array => {
  const joined = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0))
  let length = 0
  for (const piece of pieces) {
    joined.set(piece, length)
    length += piece.length
  }
  return joined
}
