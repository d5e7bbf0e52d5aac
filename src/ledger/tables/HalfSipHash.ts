/**
 * HalfSipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012, in its 32-bit form): a
 * keyed hash that looks random without the key, so chosen addresses collide no more often than others. Linux uses the
 * same parameters (one round per word, three at the end) for tables whose hashes, as here, never leave the machine.
 * Multiplying and shifting with a secret seed is not enough: differences that cancel out in the high bits collide with
 * any seed.
 */

import * as Element from "../../protocol/numbers/Element.js"

/** 64 secret bits. */
export interface Key {
  readonly low: number
  readonly high: number
}

export const KEY_BYTES = 8

export const keyFrom = (bytes: Uint8Array): Key => {
  if (bytes.length !== KEY_BYTES) throw new RangeError(`a hash key has ${KEY_BYTES} bytes, not ${bytes.length}`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return { low: view.getUint32(0, true), high: view.getUint32(4, true) }
}

/** The hash of `count` words, at most 63, each read as four little-endian bytes. */
export const ofWords = ({ low, high }: Key, words: Uint32Array, start = 0, count = words.length): number => {
  let v0 = low | 0
  let v1 = high | 0
  let v2 = low ^ 0x6c796765
  let v3 = high ^ 0x74656462
  // One round for each word and one for the length, then three without input.
  for (let i = 0; i < count + 4; i++) {
    const word = i < count ? Element.word(words, start + i) : i === count ? count << 26 : 0
    if (i === count + 1) v2 ^= 0xff
    v3 ^= word
    v0 = (v0 + v1) | 0
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
    v0 = (v0 << 16) | (v0 >>> 16)
    v2 = (v2 + v3) | 0
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
    v0 = (v0 + v3) | 0
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
    v2 = (v2 + v1) | 0
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
    v2 = (v2 << 16) | (v2 >>> 16)
    v0 ^= word
  }
  return (v1 ^ v3) >>> 0
}
