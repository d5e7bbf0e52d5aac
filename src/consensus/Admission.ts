/**
 * Which valid vertex enters the DAG when: parents first; not while its timestamp lies more than a second ahead; and the
 * second vertex of a slot only when a vertex that is to enter names it, so that an equivocator cannot fill the DAG.
 */
import type { Address } from "../protocol/Address.js"
import type { Timestamp } from "../protocol/Counter.js"
import type { Hash } from "../protocol/Hash.js"
import type { Parent } from "../protocol/Header.js"
import type { Vertex } from "../protocol/Vertex.js"
import type { Dag, Node } from "./Dag.js"
import * as FetchOrder from "./FetchOrder.js"
import { type Bounds, type Guest, WaitingRoom } from "./WaitingRoom.js"

export const MAX_AHEAD_MS = 1_000
/** So many vertices of one slot may enter without being named while nothing moves. */
const UNNAMED_PER_SLOT = 16

/** A parent that is missing, and the author of a vertex that cannot enter without it. */
export interface Missing {
  readonly parent: Parent
  readonly namedBy: Address
}

export class Admission {
  readonly #dag: Dag
  readonly #room: WaitingRoom
  /** Called for each vertex in the moment it enters, before the next one does. It may collect. */
  readonly #onInsert: (node: Node) => void
  #isClosed = false
  #admitsUnnamed = false

  constructor(dag: Dag, onInsert: (node: Node) => void, bounds?: Bounds) {
    this.#dag = dag
    this.#onInsert = onInsert
    this.#room = new WaitingRoom(bounds)
  }

  get waiting(): number {
    return this.#room.size
  }

  /** How many parents waiting vertices lack, be they waiting themselves or never seen. */
  get wants(): number {
    return this.#room.wants
  }

  /** Whether the vertex is here, in the DAG or waiting, or too old to matter. */
  isSettled(vertex: Vertex): boolean {
    const { hash, round } = vertex.header
    return round <= this.#dag.collectedRound || this.#dag.has(hash) || this.#room.has(hash)
  }

  /** A vertex that is waiting. */
  get(hash: Hash): Vertex | undefined {
    return this.#room.get(hash)?.vertex
  }

  hasWaiting(seat: number): boolean {
    return this.#room.countOf(seat) > 0
  }

  /** What an author has waiting. */
  ofSeat(seat: number): ReadonlyArray<Vertex> {
    return [...this.#room.ofSeat(seat)].map(({ vertex }) => vertex)
  }

  /** Takes in a valid vertex, and whatever was waiting for nothing but it. */
  receive(vertex: Vertex, seat: number, now: Timestamp): void {
    if (this.#isClosed || this.isSettled(vertex)) return
    const missing = this.#dag.missingParents(vertex)
    if (missing.length === 0 && this.#isDue(vertex, now)) this.#admit(this.#enter(vertex), now)
    else this.#room.add(vertex, seat, missing)
    this.#admitComplete(now)
  }

  /** Puts back what had entered before a restart, in the order it had. */
  restore(vertex: Vertex): void {
    if (!this.isSettled(vertex)) this.#enter(vertex)
  }

  /** Takes in what only waited for the clock. */
  tick(now: Timestamp): void {
    this.#admitComplete(now)
  }

  /** Whether a vertex waits for this parent, and it is not here. */
  isMissing(parent: Parent): boolean {
    return this.#room.isWanted(parent) && !this.#isHere(parent.hash)
  }

  #isHere(hash: Hash): boolean {
    return this.#room.has(hash) || this.#dag.has(hash)
  }

  /** The missing parents up to this round that somebody should be asked for and was not just now, the most urgent first. */
  *toFetch(upTo: number, isAsked: (hash: Hash) => boolean = () => false): Generator<Missing, void, undefined> {
    const { committee } = this.#dag
    const wish = {
      seats: committee.size,
      upTo,
      isRoot: (guest: Guest) => this.#isFirst(guest),
      isToAsk: ({ hash }: Parent) => !isAsked(hash) && !this.#isHere(hash),
    }
    for (const { parent, seat } of FetchOrder.inTurn(this.#room, wish)) {
      yield { parent, namedBy: committee.member(seat).address }
    }
  }

  /** When the next vertex becomes due that waits only for the clock. */
  get nextDue(): number | null {
    let next: number | null = null
    for (const { vertex } of this.#room.complete) {
      const due = vertex.header.timestamp - MAX_AHEAD_MS
      if ((next === null || due < next) && this.#isToEnter(vertex)) next = due
    }
    return next
  }

  /** What misses nothing may have become due, or named by what just came. */
  #admitComplete(now: Timestamp): void {
    let admitted = true
    while (admitted && this.#room.complete.size > 0) admitted = this.#admit([...this.#room.complete], now)
  }

  #admit(guests: ReadonlyArray<Guest>, now: Timestamp): boolean {
    const ready = [...guests]
    let admitted = false
    for (let guest = ready.pop(); guest !== undefined; guest = ready.pop()) {
      if (this.#isClosed || !this.#room.has(guest.hash) || guest.missing.size > 0 || !this.#isDue(guest.vertex, now))
        continue
      this.#room.remove(guest)
      ready.push(...this.#enter(guest.vertex))
      admitted = true
    }
    return admitted
  }

  /** Inserts a vertex; gives back the guests that now miss nothing, because of it or because of what it collected. */
  #enter(vertex: Vertex): ReadonlyArray<Guest> {
    const collected = this.#dag.collectedRound
    this.#onInsert(this.#dag.insert(vertex))
    const completed = this.#room.satisfy(vertex.header)
    const round = this.#dag.collectedRound
    return round === collected ? completed : [...completed, ...this.#room.collect(round)]
  }

  /**
   * While nothing moves, a second vertex of a slot need not be named: others may have closed the epoch with it, and then
   * nobody ever will. What enters means nothing to the order but that the order can be seen.
   */
  admitUnnamed(isAllowed: boolean): void {
    this.#admitsUnnamed = isAllowed
  }

  /** Nothing enters any more. */
  close(): void {
    this.#isClosed = true
  }

  #isDue(vertex: Vertex, now: Timestamp): boolean {
    return vertex.header.timestamp <= now + MAX_AHEAD_MS && this.#isToEnter(vertex)
  }

  /** The first of its slot, or named by one that is to enter. */
  #isToEnter({ header }: Vertex): boolean {
    const seat = this.#dag.committee.seatOf(header.author)
    if (seat === undefined) return false
    if (this.#dag.first(header.round, seat) === undefined || this.#isNamed(header)) return true
    return this.#admitsUnnamed && this.#dag.ofSlot(header.round, seat).length < UNNAMED_PER_SLOT
  }

  /** Nothing holds its slot yet. */
  #isFirst({ vertex, seat }: Guest): boolean {
    return this.#dag.first(vertex.header.round, seat) === undefined
  }

  /** By one that is to enter, itself or through others that then are to enter too. */
  #isNamed(header: Parent): boolean {
    const seen = new Set([header])
    for (const named of seen) {
      for (const guest of this.#room.waitingFor(named)) {
        if (this.#isFirst(guest)) return true
        seen.add(guest.vertex.header)
      }
    }
    return false
  }
}
