/**
 * Which missing parents to request, and when to request them again. A vertex can name parents that do not exist, and an
 * author can have thousands of those wanted at once. The missing parents of honest vertices must not queue behind them.
 * So every author whose vertices wait has its turn, one parent at a time, lowest rounds first, with a limited number of
 * pending requests.
 *
 * An author's turn covers the missing parents of its own vertices and of the waiting vertices of others that they build
 * on. An honest author's turns are thus all well spent, no matter what else those others have waiting.
 *
 * The cost of a call depends on the requests made and due, not on the number of missing parents.
 */
import { Heap, type Placed } from "../../collections/Heap.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { Timestamp } from "../../protocol/numbers/Natural.js"
import type { Parent } from "../../protocol/vertex/Header.js"
import * as SeatSet from "../dag/SeatSet.js"
import type { Lacks, Want } from "./WaitingRoom.js"

const MAX_WANTED = 256
/** The maximum number of pending requests in one author's turns. */
const MAX_UNDER_WAY = 64
/** Parents queued for one author: some sixty rounds of a hundred members. The rest are looked up later. */
const MAX_QUEUED = 8_192
/** Attempts at the same interval, since messages do get lost. */
const EAGER_ATTEMPTS = 4
/** After those the interval doubles, up to this multiple of the first, since the parent may not exist. */
const MAX_BACKOFF = 8

/** A missing parent to request now, and the seat whose turn it uses. */
export interface Due {
  readonly parent: Parent
  readonly seat: number
  /** Number of earlier requests. */
  readonly attempt: number
}

export interface Look {
  /** Excludes parents above this round. */
  readonly upTo: number
  readonly now: Timestamp
  /** The time until the first retry. */
  readonly retryMs: number
  /** Whether its author is sending it to this node. */
  readonly isOnItsWay: (parent: Parent) => boolean
  /** How long to wait for such a parent before requesting it. */
  readonly awaitedMs: number
}

interface Place extends Placed {
  readonly want: Want
  readonly order: number
}

/** The wants that wait for one author's turn. */
class Queue {
  heap = Queue.#heapOf([])
  underWay = 0
  /** Whether there are more wants than it holds. */
  hasMore = false

  static #heapOf(places: ReadonlyArray<Place>): Heap<Place> {
    const comesBefore = (a: Place, b: Place): boolean =>
      a.want.parent.round !== b.want.parent.round ? a.want.parent.round < b.want.parent.round : a.order < b.order
    return new Heap(comesBefore, places)
  }

  /** Whether there is room for another one, if necessary by dropping resolved ones. */
  get hasRoom(): boolean {
    if (this.hasMore) return false
    if (this.heap.size < MAX_QUEUED) return true
    const places: Array<Place> = []
    for (let place = this.heap.pop(); place !== undefined; place = this.heap.pop()) {
      if (!place.want.isOver) places.push(place)
    }
    this.heap = Queue.#heapOf(places)
    this.hasMore = 2 * places.length > MAX_QUEUED
    return !this.hasMore
  }
}

const backoff = (attempts: number): number => Math.min(MAX_BACKOFF, 2 ** Math.max(0, attempts - EAGER_ATTEMPTS))

export class Fetches implements Lacks {
  readonly #queues: ReadonlyArray<Queue>
  /** Requested parents, the next one due first. */
  readonly #underWay = new Heap<Want>((a, b) => a.dueAt < b.dueAt)
  /** Whether a vertex is here, even under another slot than a reference claims; that reference then never resolves. */
  readonly #isHere: (hash: Hash) => boolean
  /** All missing parents, to find those that had no room in a queue. */
  readonly #wanted: () => Iterable<Want>
  #turn = 0
  #order = 0
  #steps = 0

  constructor(size: number, isHere: (hash: Hash) => boolean, wanted: () => Iterable<Want>) {
    this.#queues = Array.from({ length: size }, () => new Queue())
    this.#isHere = isHere
    this.#wanted = wanted
  }

  get size(): number {
    return this.#underWay.size
  }

  /** Number of queue entries visited so far; tests bound it. */
  get steps(): number {
    return this.#steps
  }

  needed(want: Want, seats: SeatSet.SeatSet): void {
    if (want.place >= 0) {
      // Already requested; the seat for the next request is chosen when it is due again.
      if (want.attempts <= EAGER_ATTEMPTS) return
      // One author has long named it in vain. Another author that names it should not have to wait for that.
      this.#answer(want)
      want.attempts = EAGER_ATTEMPTS
    }
    for (const seat of SeatSet.seatsIn(seats)) this.#enqueue(want, seat)
  }

  #enqueue(want: Want, seat: number): void {
    const queue = this.#queues[seat]
    this.#steps++
    if (queue === undefined || SeatSet.has(want.queuedFor, seat) || !queue.hasRoom) return
    SeatSet.add(want.queuedFor, seat)
    queue.heap.push({ want, order: this.#order++, place: -1 })
  }

  resolved(want: Want): void {
    if (want.place >= 0) this.#answer(want)
  }

  #answer(want: Want): void {
    this.#underWay.remove(want)
    const queue = this.#queues[want.askedFor]
    if (queue !== undefined) queue.underWay--
  }

  due({ upTo, now, retryMs, isOnItsWay, awaitedMs }: Look): ReadonlyArray<Due> {
    this.#wake(now)
    const due: Array<Due> = []
    let last = 0
    for (let isFound = true; isFound && due.length < MAX_WANTED; ) {
      isFound = false
      for (let i = 0; i < this.#queues.length && due.length < MAX_WANTED; i++) {
        const seat = (this.#turn + i) % this.#queues.length
        const want = this.#next(seat, upTo)
        if (want === undefined) continue
        isFound = true
        if (!want.isAwaited && isOnItsWay(want.parent)) {
          want.isAwaited = true
          this.#putOff(want, seat, now + awaitedMs)
          continue
        }
        last = i
        due.push({ parent: want.parent, seat, attempt: want.attempts })
        this.#putOff(want, seat, now + retryMs * backoff(++want.attempts))
      }
    }
    // The next call starts with the author that would have been next.
    if (due.length === MAX_WANTED) this.#turn = (this.#turn + last + 1) % this.#queues.length
    return due
  }

  /** Marks the want as requested until `dueAt`. */
  #putOff(want: Want, seat: number, dueAt: number): void {
    want.askedFor = seat
    want.dueAt = dueAt
    this.#underWay.push(want)
    const queue = this.#queues[seat]
    if (queue !== undefined) queue.underWay++
  }

  /** Puts parents that are due again back into the queues. */
  #wake(now: Timestamp): void {
    for (let want = this.#underWay.first; want !== undefined; want = this.#underWay.first) {
      if (want.dueAt > now) return
      this.#answer(want)
      if (want.guest === null) this.needed(want, want.neededBy)
    }
  }

  /** The next parent in this seat's turn. */
  #next(seat: number, upTo: number): Want | undefined {
    const queue = this.#queues[seat]
    if (queue === undefined || queue.underWay >= MAX_UNDER_WAY) return undefined
    if (queue.hasMore && 2 * queue.heap.size <= MAX_QUEUED) this.#refill(queue, seat)
    for (let place = queue.heap.first; place !== undefined; place = queue.heap.first) {
      const { want } = place
      this.#steps++
      if (!want.isOver && want.parent.round > upTo) return undefined
      queue.heap.pop()
      SeatSet.remove(want.queuedFor, seat)
      if (!want.isOver && want.place < 0 && want.guest === null && !this.#isHere(want.parent.hash)) return want
    }
    return undefined
  }

  #refill(queue: Queue, seat: number): void {
    queue.hasMore = false
    for (const want of this.#wanted()) {
      this.#steps++
      if (SeatSet.has(want.neededBy, seat) && want.place < 0 && want.guest === null) this.#enqueue(want, seat)
    }
  }
}
