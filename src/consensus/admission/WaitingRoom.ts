/**
 * Valid vertices that cannot enter the DAG yet, because parents are missing, or because they are the second of their
 * slot and no vertex names them. Bounded per author, so that one author's flood never costs another author a place.
 * Vertices that do not fit are forgotten and can be fetched again.
 *
 * Members can fill the room up to its bounds and keep it full, so references between vertices are updated with every
 * vertex that comes and goes, and no single input causes a walk over everything that waits. Being needed is passed on
 * from a vertex about to enter to everything it waits for, and never taken back: each seat passes each edge at most
 * once.
 */
import { Heap, type Placed } from "../../collections/Heap.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { Parent } from "../../protocol/vertex/Header.js"
import type { Vertex } from "../../protocol/vertex/Vertex.js"
import * as SeatSet from "../dag/SeatSet.js"

/** Limits of one author's waiting vertices. The total is this times the number of members. */
export interface Bounds {
  readonly vertices: number
  readonly bytes: number
  /** Missing parents of all of them together, each of which must be remembered and requested. */
  readonly missing: number
}

/** 100 members that use all of their limits take 200 MiB. A single vertex can miss 300 parents. */
export const bounds: Bounds = { vertices: 64, bytes: 2_097_152, missing: 2_400 }

/** A parent as referenced. The same hash under another slot is another parent: one of the two never arrives. */
type Reference = string

const referenceTo = ({ round, author, hash }: Parent): Reference => `${round} ${author} ${hash}`

export interface Guest extends Placed {
  readonly vertex: Vertex
  readonly hash: Hash
  readonly round: number
  readonly seat: number
  readonly missing: Map<Reference, Want>
  /** Whether its slot was empty when it arrived. */
  readonly isFirst: boolean
  /** Whether a vertex about to enter has named it, directly or through others. */
  isNamed: boolean
  /** The authors of vertices about to enter that wait for it, and its own author if it was the first of its slot. */
  readonly neededBy: SeatSet.SeatSet
}

/** A parent that guests wait for. `Fetches` writes the fields below `isOver`. */
export interface Want extends Placed {
  readonly parent: Parent
  readonly guests: Set<Guest>
  /** As for a guest. Empty while only unnamed second vertices want it. */
  readonly neededBy: SeatSet.SeatSet
  /** The waiting guest with this hash, if any. */
  guest: Guest | null
  /** Whether no guest wants it any longer. */
  isOver: boolean
  readonly queuedFor: SeatSet.SeatSet
  /** Whether it was waited for before the first request. */
  isAwaited: boolean
  attempts: number
  /** The seat whose turn was last used to request it. */
  askedFor: number
  dueAt: number
}

/** Requests the missing parents. */
export interface Lacks {
  /** These seats' turns can be used for a missing parent. */
  readonly needed: (want: Want, seats: SeatSet.SeatSet) => void
  /** The parent is here, or no guest wants it any longer. */
  readonly resolved: (want: Want) => void
}

interface Held {
  readonly guests: Set<Guest>
  bytes: number
  missing: number
}

const comesBefore = (a: Guest, b: Guest): boolean => (a.round !== b.round ? a.round < b.round : a.hash < b.hash)

export class WaitingRoom {
  readonly #size: number
  readonly #lacks: Lacks
  readonly #bounds: Bounds
  readonly #guests = new Map<Hash, Guest>()
  readonly #bySeat: ReadonlyArray<Held>
  readonly #byRound = new Map<number, Set<Guest>>()
  readonly #wants = new Map<Reference, Want>()
  readonly #wantsByRound = new Map<number, Set<Want>>()
  /** Guests with all their parents, which are about to enter or wait to be named. */
  readonly #complete = new Set<Guest>()
  /** Those of them that were the first of their slot or are named, lowest round first. */
  readonly #toEnter = new Heap<Guest>(comesBefore)
  #collectedRound: number
  #steps = 0

  /** For a committee of this size, in an epoch that begins above this round. */
  constructor(size: number, collectedRound: number, lacks: Lacks, limits: Bounds = bounds) {
    this.#size = size
    this.#collectedRound = collectedRound
    this.#lacks = lacks
    this.#bounds = limits
    this.#bySeat = Array.from({ length: size }, () => ({ guests: new Set<Guest>(), bytes: 0, missing: 0 }))
  }

  get size(): number {
    return this.#guests.size
  }

  get wants(): number {
    return this.#wants.size
  }

  get wanted(): Iterable<Want> {
    return this.#wants.values()
  }

  /** Number of edges and guests visited so far; tests bound it. */
  get steps(): number {
    return this.#steps
  }

  has(hash: Hash): boolean {
    return this.#guests.has(hash)
  }

  get(hash: Hash): Guest | undefined {
    return this.#guests.get(hash)
  }

  countOf(seat: number): number {
    return this.#bySeat[seat]?.guests.size ?? 0
  }

  ofSeat(seat: number): Iterable<Guest> {
    return this.#bySeat[seat]?.guests ?? []
  }

  /** Whether a vertex about to enter names this one, directly or through others. */
  isNeeded(parent: Parent): boolean {
    const want = this.#wants.get(referenceTo(parent))
    return want !== undefined && !SeatSet.isEmpty(want.neededBy)
  }

  /** The authors of vertices about to enter that wait for this one, directly or through others. */
  neededBy(parent: Parent): ReadonlyArray<number> {
    const want = this.#wants.get(referenceTo(parent))
    return want === undefined ? [] : SeatSet.seatsIn(want.neededBy)
  }

  /** The next guest that can enter. It is returned once, and stays until it is taken. */
  next(): Guest | undefined {
    return this.#toEnter.pop()
  }

  /** Guests with all their parents. Those that `next` skips are second vertices of their slots that no vertex names. */
  get complete(): Iterable<Guest> {
    return this.#complete
  }

  /** Adds a vertex. An author above its limits loses the one of the highest round, which may be the new one. */
  add(vertex: Vertex, seat: number, missing: ReadonlyArray<Parent>, isFirst: boolean): void {
    const { hash, round } = vertex.header
    const held = this.#bySeat[seat]
    if (held === undefined || !this.#makeRoom(held, vertex, missing.length)) return
    const neededBy = SeatSet.none(this.#size)
    if (isFirst) SeatSet.add(neededBy, seat)
    const guest: Guest = { vertex, hash, round, seat, missing: new Map(), isFirst, isNamed: false, neededBy, place: -1 }
    this.#guests.set(hash, guest)
    held.guests.add(guest)
    held.bytes += vertex.encoded.length
    held.missing += missing.length
    addTo(this.#byRound, round, guest)
    const own = this.#wants.get(referenceTo(vertex.header))
    if (own !== undefined) {
      own.guest = guest
      this.#lacks.resolved(own)
      guest.isNamed = !SeatSet.isEmpty(own.neededBy)
      SeatSet.addAll(neededBy, own.neededBy)
    }
    for (const parent of missing) this.#want(parent, guest)
    if (missing.length === 0) this.#complete.add(guest)
    this.#pass(guest, neededBy)
  }

  #want(parent: Parent, guest: Guest): void {
    const reference = referenceTo(parent)
    let want = this.#wants.get(reference)
    if (want === undefined) {
      want = this.#newWant(parent)
      this.#wants.set(reference, want)
      addTo(this.#wantsByRound, parent.round, want)
    }
    want.guests.add(guest)
    guest.missing.set(reference, want)
  }

  #newWant(parent: Parent): Want {
    const named = this.#guests.get(parent.hash)
    const isSame = named?.round === parent.round && named.vertex.header.author === parent.author
    const [neededBy, queuedFor] = [SeatSet.none(this.#size), SeatSet.none(this.#size)]
    const marks = { isOver: false, queuedFor, isAwaited: false, attempts: 0, askedFor: -1, dueAt: 0, place: -1 }
    return { parent, guests: new Set(), neededBy, guest: isSame ? named : null, ...marks }
  }

  /** Marks a guest, and everything it waits for, as needed by these seats. */
  #pass(guest: Guest, seats: SeatSet.SeatSet): void {
    const reached: Array<{ readonly guest: Guest; readonly seats: SeatSet.SeatSet }> = [{ guest, seats }]
    for (let next = reached.pop(); next !== undefined; next = reached.pop()) {
      this.#steps++
      this.#offer(next.guest)
      if (SeatSet.isEmpty(next.seats)) continue
      for (const want of next.guest.missing.values()) {
        this.#steps++
        const added = SeatSet.addAll(want.neededBy, next.seats)
        if (added === undefined) continue
        if (want.guest === null) this.#lacks.needed(want, added)
        else {
          want.guest.isNamed = true
          const news = SeatSet.addAll(want.guest.neededBy, added)
          reached.push({ guest: want.guest, seats: news ?? SeatSet.none(this.#size) })
        }
      }
    }
  }

  /** Marks a guest to enter if it has all its parents and was the first of its slot or is named. */
  #offer(guest: Guest): void {
    if (guest.place < 0 && (guest.isFirst || guest.isNamed) && this.#complete.has(guest)) this.#toEnter.push(guest)
  }

  #makeRoom(held: Held, { header, encoded }: Vertex, missing: number): boolean {
    const isOverBounds = (): boolean =>
      held.guests.size + 1 > this.#bounds.vertices ||
      held.bytes + encoded.length > this.#bounds.bytes ||
      held.missing + missing > this.#bounds.missing
    while (isOverBounds()) {
      let last: Guest | undefined
      for (const guest of held.guests) if (last === undefined || guest.round >= last.round) last = guest
      if (last === undefined || last.round <= header.round) return false
      this.#forget(last)
    }
    return true
  }

  /** Removes a guest so that it can enter the DAG. */
  take(guest: Guest): void {
    if (!this.#guests.delete(guest.hash)) return
    const held = this.#bySeat[guest.seat]
    if (held !== undefined) {
      held.guests.delete(guest)
      held.bytes -= guest.vertex.encoded.length
      held.missing -= guest.missing.size
    }
    removeFrom(this.#byRound, guest.round, guest)
    this.#complete.delete(guest)
    if (guest.place >= 0) this.#toEnter.remove(guest)
    for (const want of guest.missing.values()) {
      this.#steps++
      want.guests.delete(guest)
      if (want.guests.size === 0) this.#end(want)
    }
  }

  /** Drops a guest. Vertices that wait for it must request it again. */
  #forget(guest: Guest): void {
    this.take(guest)
    const want = this.#wants.get(referenceTo(guest.vertex.header))
    if (want === undefined) return
    want.guest = null
    if (!SeatSet.isEmpty(want.neededBy)) this.#lacks.needed(want, want.neededBy)
  }

  #end(want: Want): void {
    want.isOver = true
    this.#wants.delete(referenceTo(want.parent))
    removeFrom(this.#wantsByRound, want.parent.round, want)
    this.#lacks.resolved(want)
  }

  /** Ends all waits for this parent, because it has arrived or is collected. */
  satisfy(parent: Parent): void {
    const reference = referenceTo(parent)
    const want = this.#wants.get(reference)
    if (want === undefined) return
    this.#end(want)
    for (const guest of want.guests) {
      this.#steps++
      guest.missing.delete(reference)
      const held = this.#bySeat[guest.seat]
      if (held !== undefined) held.missing--
      if (guest.missing.size > 0) continue
      this.#complete.add(guest)
      this.#offer(guest)
    }
  }

  /** Forgets everything up to and including `round`. */
  collect(round: number): void {
    for (let old = this.#collectedRound + 1; old <= round; old++) {
      for (const { parent } of this.#wantsByRound.get(old) ?? []) this.satisfy(parent)
      for (const guest of this.#byRound.get(old) ?? []) this.#forget(guest)
    }
    if (round > this.#collectedRound) this.#collectedRound = round
  }
}

const addTo = <A>(sets: Map<number, Set<A>>, round: number, item: A): void => {
  const before = sets.get(round)
  if (before === undefined) sets.set(round, new Set([item]))
  else before.add(item)
}

const removeFrom = <A>(sets: Map<number, Set<A>>, round: number, item: A): void => {
  const items = sets.get(round)
  items?.delete(item)
  if (items?.size === 0) sets.delete(round)
}
