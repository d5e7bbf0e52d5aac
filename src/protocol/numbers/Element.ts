/**
 * Reads typed arrays at indexes known to be in range, which no type can express. An index out of range is a bug and
 * throws. There is a function for each kind of array, because these calls are in the innermost loops and V8 optimizes a
 * function best if it only ever sees one kind.
 */

const outside = (at: number, length: number): never => {
  throw new RangeError(`no element ${at} of ${length}`)
}

export const byte = (bytes: Uint8Array, at: number): number => bytes[at] ?? outside(at, bytes.length)

export const word = (words: Uint32Array, at: number): number => words[at] ?? outside(at, words.length)

export const signedWord = (words: Int32Array, at: number): number => words[at] ?? outside(at, words.length)

export const double = (doubles: Float64Array, at: number): number => doubles[at] ?? outside(at, doubles.length)
