/** A set of seats, 32 to a word: four words for a committee of a hundred. */
export type SeatSet = Array<number>

const BITS = 32

export const none = (size: number): SeatSet => Array.from({ length: (size + BITS - 1) >>> 5 }, () => 0)

/** Seats beyond the set's size are not in it. */
const wordAt = (set: SeatSet, at: number): number => set[at] ?? 0

export const add = (set: SeatSet, seat: number): void => {
  set[seat >>> 5] = wordAt(set, seat >>> 5) | (1 << (seat % BITS))
}

export const remove = (set: SeatSet, seat: number): void => {
  set[seat >>> 5] = wordAt(set, seat >>> 5) & ~(1 << (seat % BITS))
}

export const has = (set: SeatSet, seat: number): boolean => (wordAt(set, seat >>> 5) & (1 << (seat % BITS))) !== 0

export const isEmpty = (set: SeatSet): boolean => set.every((word) => word === 0)

/** Adds these seats to the set. Returns the new ones; undefined if there are none. */
export const addAll = (set: SeatSet, seats: SeatSet): SeatSet | undefined => {
  let added: SeatSet | undefined
  for (let word = 0; word < set.length; word++) {
    const before = wordAt(set, word)
    const news = wordAt(seats, word) & ~before
    if (news === 0) continue
    added ??= set.map(() => 0)
    added[word] = news
    set[word] = before | news
  }
  return added
}

export const seatsIn = (set: SeatSet): ReadonlyArray<number> => {
  const found: Array<number> = []
  for (const [word, bits] of set.entries()) {
    for (let left = bits; left !== 0; left &= left - 1) found.push(word * BITS + BITS - 1 - Math.clz32(left & -left))
  }
  return found
}
