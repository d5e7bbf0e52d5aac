/**
 * Valid vertices that cannot enter the DAG yet: parents are missing, their time has not come, or they are the second of
 * their slot and nobody names them. Bounded per author, so that nobody's flood costs anybody else a place; what does not
 * fit is forgotten and can be fetched again.
 */
import type { Hash } from "../protocol/Hash.js"
import type { Parent } from "../protocol/Header.js"
import type { Vertex } from "../protocol/Vertex.js"

/** What one author may have waiting. In total it is this times the members. */
export interface Bounds {
  readonly vertices: number
  readonly bytes: number
  /** Parents missed by all of them together: what has to be remembered and asked for. */
  readonly missing: number
}

/** 100 members, each with all it may have, take 200 MiB. A vertex alone may miss 300 parents. */
export const bounds: Bounds = { vertices: 64, bytes: 2_097_152, missing: 2_400 }

export interface Guest {
  readonly vertex: Vertex
  readonly hash: Hash
  readonly round: number
  readonly seat: number
  readonly missing: Map<Reference, Parent>
}

/**
 * A parent as it is named, slot and hash. The same hash under another slot is another parent: one of the two never
 * comes, and what is done about the other must not touch it.
 */
type Reference = string

const referenceTo = ({ round, author, hash }: Parent): Reference => `${round} ${author} ${hash}`

/** A parent that guests wait for. */
interface Want {
  readonly parent: Parent
  readonly guests: Set<Guest>
}

export class WaitingRoom {
  readonly #bounds: Bounds
  readonly #guests = new Map<Hash, Guest>()
  readonly #bySeat = new Map<number, Set<Guest>>()
  readonly #wants = new Map<Reference, Want>()
  /** Those that miss nothing: they wait for the clock, or for being named. */
  readonly #complete = new Set<Guest>()

  constructor(limits: Bounds = bounds) {
    this.#bounds = limits
  }

  get size(): number {
    return this.#guests.size
  }

  /** How many parents are waited for. */
  get wants(): number {
    return this.#wants.size
  }

  has(hash: Hash): boolean {
    return this.#guests.has(hash)
  }

  get(hash: Hash): Guest | undefined {
    return this.#guests.get(hash)
  }

  get guests(): Iterable<Guest> {
    return this.#guests.values()
  }

  /** The guest a parent names; none when the one with this hash is of another slot. */
  named({ round, author, hash }: Parent): Guest | undefined {
    const guest = this.#guests.get(hash)
    return guest?.round === round && guest.vertex.header.author === author ? guest : undefined
  }

  countOf(seat: number): number {
    return this.#bySeat.get(seat)?.size ?? 0
  }

  ofSeat(seat: number): Iterable<Guest> {
    return this.#bySeat.get(seat) ?? []
  }

  /** Those that wait for this parent. */
  waitingFor(parent: Parent): Iterable<Guest> {
    return this.#wants.get(referenceTo(parent))?.guests ?? []
  }

  get complete(): ReadonlySet<Guest> {
    return this.#complete
  }

  /** Whether any of the parents that are waited for is one of these. */
  wantsAny(isOne: (parent: Parent) => boolean): boolean {
    for (const { parent } of this.#wants.values()) if (isOne(parent)) return true
    return false
  }

  /** Whether somebody waits for this parent, be it here itself or never seen. */
  isWanted(parent: Parent): boolean {
    return this.#wants.has(referenceTo(parent))
  }

  /**
   * Takes a vertex in. An author with too many loses the one of the highest round, which is needed last; false when that
   * is the newcomer.
   */
  add(vertex: Vertex, seat: number, missing: ReadonlyArray<Parent>): boolean {
    const { hash, round } = vertex.header
    const guest: Guest = {
      vertex,
      hash,
      round,
      seat,
      missing: new Map(missing.map((parent) => [referenceTo(parent), parent])),
    }
    this.#guests.set(hash, guest)
    const own = this.#bySeat.get(seat) ?? new Set<Guest>()
    this.#bySeat.set(seat, own.add(guest))
    for (const parent of missing) this.#want(parent, guest)
    if (missing.length === 0) this.#complete.add(guest)
    this.#evict(own)
    return this.#guests.has(hash)
  }

  #want(parent: Parent, guest: Guest): void {
    const reference = referenceTo(parent)
    const want = this.#wants.get(reference)
    if (want === undefined) this.#wants.set(reference, { parent, guests: new Set([guest]) })
    else want.guests.add(guest)
  }

  #evict(own: ReadonlySet<Guest>): void {
    while (this.#isTooMuch(own)) {
      let last: Guest | undefined
      for (const guest of own) if (last === undefined || guest.round >= last.round) last = guest
      if (last === undefined) return
      this.remove(last)
    }
  }

  #isTooMuch(own: ReadonlySet<Guest>): boolean {
    let bytes = 0
    let missing = 0
    for (const guest of own) {
      bytes += guest.vertex.encoded.length
      missing += guest.missing.size
    }
    return own.size > this.#bounds.vertices || bytes > this.#bounds.bytes || missing > this.#bounds.missing
  }

  remove(guest: Guest): void {
    if (!this.#guests.delete(guest.hash)) return
    this.#bySeat.get(guest.seat)?.delete(guest)
    this.#complete.delete(guest)
    for (const reference of guest.missing.keys()) {
      const want = this.#wants.get(reference)
      want?.guests.delete(guest)
      if (want?.guests.size === 0) this.#wants.delete(reference)
    }
  }

  /** Nobody waits for this parent any longer: it is there, or it is collected. Those that now miss nothing. */
  satisfy(parent: Parent): ReadonlyArray<Guest> {
    const reference = referenceTo(parent)
    const want = this.#wants.get(reference)
    if (want === undefined) return []
    this.#wants.delete(reference)
    const completed: Array<Guest> = []
    for (const guest of want.guests) {
      guest.missing.delete(reference)
      if (guest.missing.size > 0) continue
      this.#complete.add(guest)
      completed.push(guest)
    }
    return completed
  }

  /** Nothing up to and including `round` is kept or waited for any longer. Those that now miss nothing. */
  collect(round: number): ReadonlyArray<Guest> {
    for (const guest of this.#guests.values()) if (guest.round <= round) this.remove(guest)
    const completed: Array<Guest> = []
    for (const { parent } of this.#wants.values()) {
      if (parent.round <= round) completed.push(...this.satisfy(parent))
    }
    return completed
  }
}
