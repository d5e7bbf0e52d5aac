/**
 * When a valid vertex enters the DAG: after its parents. The second vertex of a slot enters only when a vertex about to
 * enter names it, so that an equivocator cannot fill the DAG. Timestamps do not matter: if nodes held a vertex back
 * until their clocks agreed with it, one wrong clock would keep its owner out of the DAG, and everyone that names its
 * vertices.
 */

import type { Hash } from "../../protocol/identity/Hash.js"
import type { Round } from "../../protocol/numbers/Natural.js"
import type { Vertex } from "../../protocol/vertex/Vertex.js"
import type { Dag, Node } from "../dag/Dag.js"
import type { Wanted } from "../output/Output.js"
import { Fetches, type Look } from "./Fetches.js"
import { type Bounds, type Guest, WaitingRoom } from "./WaitingRoom.js"

/** Vertices of one slot that can enter unnamed during a standstill. */
const UNNAMED_PER_SLOT = 16

export class Admission {
  readonly #dag: Dag
  readonly #room: WaitingRoom
  readonly #fetches: Fetches
  /** Called for each vertex as it enters, before the next one does. It may collect. */
  readonly #onInsert: (node: Node) => void
  #isClosed = false
  #admitsUnnamed = false

  constructor(dag: Dag, onInsert: (node: Node) => void, bounds?: Bounds) {
    this.#dag = dag
    this.#onInsert = onInsert
    const { size } = dag.committee
    const isHere = (hash: Hash): boolean => this.#room.has(hash) || dag.has(hash)
    this.#fetches = new Fetches(size, isHere, () => this.#room.wanted)
    this.#room = new WaitingRoom(size, dag.collectedRound, this.#fetches, bounds)
  }

  get waiting(): number {
    return this.#room.size
  }

  /** Number of missing parents of waiting vertices, whether waiting themselves or never seen. */
  get wants(): number {
    return this.#room.wants
  }

  /** Number of parents requested and not arrived. */
  get asked(): number {
    return this.#fetches.size
  }

  /** Amount of work done so far; tests bound it. */
  get steps(): number {
    return this.#room.steps + this.#fetches.steps
  }

  /** Whether the vertex is in the DAG, waiting, or too old to matter. */
  isHereOrOld({ header: { hash, round } }: Pick<Vertex, "header">): boolean {
    return round <= this.#dag.collectedRound || this.#dag.has(hash) || this.#room.has(hash)
  }

  /** The weight of the authors, other than its own, whose vertices wait for this one. */
  weightNeeding({ header }: Pick<Vertex, "header">): number {
    const { committee } = this.#dag
    const own = committee.seatOf(header.author)
    return this.#room
      .neededBy(header)
      .reduce((weight, seat) => (seat === own ? weight : weight + committee.weightOf(seat)), 0)
  }

  get(hash: Hash): Vertex | undefined {
    return this.#room.get(hash)?.vertex
  }

  hasWaiting(seat: number): boolean {
    return this.#room.countOf(seat) > 0
  }

  ofSeat(seat: number): ReadonlyArray<Vertex> {
    return [...this.#room.ofSeat(seat)].map(({ vertex }) => vertex)
  }

  /** Adds a valid vertex, and every waiting vertex that lacked only this one. */
  receive(vertex: Vertex, seat: number): void {
    if (this.#isClosed || this.isHereOrOld(vertex)) return
    const missing = this.#dag.missingParents(vertex)
    const { header } = vertex
    const isFirst = this.#dag.first(header.round, seat) === undefined
    const isToEnter = isFirst || this.#room.isNeeded(header) || this.#mayEnterUnnamed(header.round, seat)
    if (missing.length === 0 && isToEnter) this.#enter(vertex)
    else this.#room.add(vertex, seat, missing, isFirst)
    this.#admitReady()
  }

  /** Restores a vertex that had entered before a restart. Call it in the order of entry. */
  restore(vertex: Vertex): void {
    if (!this.isHereOrOld(vertex)) this.#enter(vertex)
  }

  /** Admits the vertices that waited only for permission to enter unnamed. */
  tick(): void {
    if (!this.#admitsUnnamed) return
    for (const guest of [...this.#room.complete]) {
      const { header } = guest.vertex
      if (!this.#mayEnterUnnamed(header.round, guest.seat)) continue
      // The previous guest may have caused its collection, or closed the epoch.
      if (!this.#isClosed && this.#room.has(guest.hash)) this.#admit(guest)
    }
    this.#admitReady()
  }

  /** The missing parents to request now, the most urgent first. */
  toFetch(look: Look): ReadonlyArray<Wanted> {
    const { committee } = this.#dag
    return this.#fetches
      .due(look)
      .map(({ parent, seat, attempt }) => ({ parent, namedBy: committee.member(seat).address, attempt }))
  }

  #admitReady(): void {
    while (!this.#isClosed) {
      const guest = this.#room.next()
      if (guest === undefined) return
      // Another vertex may hold its slot by now.
      const isFirst = this.#dag.first(guest.vertex.header.round, guest.seat) === undefined
      if (isFirst || guest.isNamed) this.#admit(guest)
    }
  }

  #admit(guest: Guest): void {
    this.#room.take(guest)
    this.#enter(guest.vertex)
  }

  #enter(vertex: Vertex): void {
    this.#onInsert(this.#dag.insert(vertex))
    this.#room.satisfy(vertex.header)
    this.#room.collect(this.#dag.collectedRound)
  }

  /**
   * During a standstill, a second vertex of a slot need not be named: others may have closed the epoch with it, and
   * then no vertex will ever name it. Entering does not change the order; it only makes the order visible.
   */
  admitUnnamed(isAllowed: boolean): void {
    this.#admitsUnnamed = isAllowed
  }

  #mayEnterUnnamed(round: Round, seat: number): boolean {
    return this.#admitsUnnamed && this.#dag.countOf(round, seat) < UNNAMED_PER_SLOT
  }

  close(): void {
    this.#isClosed = true
  }
}
