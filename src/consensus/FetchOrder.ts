/**
 * Which missing parents to ask for first. A vertex may name parents that do not exist, and an author may have thousands
 * of those waited for at once; what honest vertices lack must not stand in line behind them. So every author whose
 * vertices wait has its turn, one parent at a time, lowest rounds first.
 *
 * An author's turn covers what its vertices lack themselves and what waiting vertices of others lack that they build
 * on. So an honest author's turns are all well spent, whatever else those others have waiting.
 */
import type { Hash } from "../protocol/Hash.js"
import type { Parent } from "../protocol/Header.js"
import type { Guest, WaitingRoom } from "./WaitingRoom.js"

/** What one author's vertices lack, as far as anybody will ask for it now. */
const MOST_PER_SEAT = 256
const BITS = 32

/** A set of seats, 32 to a word. */
type Seats = Array<number>

const add = (to: Seats, from: Seats): void => {
  for (let word = 0; word < to.length; word++) to[word] = (to[word] ?? 0) | (from[word] ?? 0)
}

const addSeat = (to: Seats, seat: number): void => {
  to[seat >>> 5] = (to[seat >>> 5] ?? 0) | (1 << (seat % BITS))
}

const isEmpty = (seats: Seats): boolean => seats.every((word) => word === 0)

const seatsIn = (seats: Seats): ReadonlyArray<number> => {
  const found: Array<number> = []
  for (const [word, bits] of seats.entries()) {
    for (let left = bits; left !== 0; left &= left - 1) found.push(word * BITS + BITS - 1 - Math.clz32(left & -left))
  }
  return found
}

interface Lack {
  readonly parent: Parent
  /** Whose turns it may be asked for in. */
  readonly seats: Seats
}

/** A missing parent and the seat in whose turn it comes. */
export interface InTurn {
  readonly parent: Parent
  readonly seat: number
}

export interface Wish {
  readonly seats: number
  /** Nothing above this round. */
  readonly upTo: number
  /** Whether a waiting vertex is to enter by itself, not only because another one names it. */
  readonly isRoot: (guest: Guest) => boolean
  /** Not what was asked for just now, nor what is here under another slot than it is named. */
  readonly isToAsk: (parent: Parent) => boolean
}

/** From high rounds to low, so that whoever needs a vertex is known before it is asked what it needs itself. */
const lacks = (room: WaitingRoom, { seats, upTo, isRoot, isToAsk }: Wish): ReadonlyArray<Lack> => {
  const words = (seats + BITS - 1) >>> 5
  const found = new Map<Hash, Lack>()
  const neededBy = new Map<Guest, Seats>()
  const needs = (guest: Guest): Seats => {
    let known = neededBy.get(guest)
    if (known === undefined) {
      known = Array.from({ length: words }, () => 0)
      neededBy.set(guest, known)
    }
    return known
  }
  for (const guest of [...room.guests].sort((a, b) => b.round - a.round)) {
    const own = needs(guest)
    if (isRoot(guest)) addSeat(own, guest.seat)
    if (isEmpty(own)) continue
    for (const parent of guest.missing.values()) {
      const waiting = room.named(parent)
      if (waiting !== undefined) add(needs(waiting), own)
      else if (parent.round <= upTo && isToAsk(parent)) {
        let lack = found.get(parent.hash)
        if (lack === undefined) {
          lack = { parent, seats: [...own] }
          found.set(parent.hash, lack)
        } else add(lack.seats, own)
      }
    }
  }
  return [...found.values()].sort((a, b) => a.parent.round - b.parent.round)
}

const queuesOf = (lacking: ReadonlyArray<Lack>, seats: number): ReadonlyArray<Array<Parent>> => {
  const queues = Array.from({ length: seats }, (): Array<Parent> => [])
  for (const { parent, seats: needing } of lacking) {
    for (const seat of seatsIn(needing)) {
      const queue = queues[seat]
      if (queue !== undefined && queue.length < MOST_PER_SEAT) queue.push(parent)
    }
  }
  return queues
}

/** Missing parents in the order in which to ask for them. */
export function* inTurn(room: WaitingRoom, wish: Wish): Generator<InTurn, void, undefined> {
  // Mostly everything was asked for just now.
  if (!room.wantsAny((parent) => parent.round <= wish.upTo && wish.isToAsk(parent))) return
  const queues = queuesOf(lacks(room, wish), wish.seats)
  const places = queues.map(() => 0)
  const taken = new Set<Hash>()
  for (let isLeft = true; isLeft; ) {
    isLeft = false
    for (const [seat, queue] of queues.entries()) {
      let parent = queue[places[seat] ?? 0]
      while (parent !== undefined && taken.has(parent.hash)) {
        places[seat] = (places[seat] ?? 0) + 1
        parent = queue[places[seat] ?? 0]
      }
      if (parent === undefined) continue
      taken.add(parent.hash)
      isLeft = true
      yield { parent, seat }
    }
  }
}
