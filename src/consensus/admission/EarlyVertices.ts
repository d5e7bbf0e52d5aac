/** Vertices of the next epoch that arrive before this node holds the signed closing checkpoint. */
import { Either } from "effect"
import type { EpochRecord } from "../../protocol/epoch/EpochRecord.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { Header } from "../../protocol/vertex/Header.js"
import type { Vertex } from "../../protocol/vertex/Vertex.js"
import { Committee } from "../dag/Committee.js"
import * as Validity from "../dag/Validity.js"

/** A quorum of the next epoch is not far ahead of a node that waits only for signatures. */
const PER_AUTHOR = 3

/** Bounded: keeps only vertices that are valid for the next epoch as computed here, and only a few of each author. */
export class EarlyVertices {
  readonly #base: Hash
  readonly #committee: Committee
  readonly #bySeat = new Map<number, Map<Hash, Vertex>>()

  constructor(base: Hash, record: EpochRecord) {
    this.#base = base
    this.#committee = new Committee(record)
  }

  get vertices(): ReadonlyArray<Vertex> {
    return [...this.#bySeat.values()].flatMap((kept) => [...kept.values()])
  }

  get size(): number {
    let size = 0
    for (const kept of this.#bySeat.values()) size += kept.size
    return size
  }

  /** Whether there is room for a vertex with this header, if it is valid. */
  wants({ base, author, hash }: Header): boolean {
    const seat = base === this.#base ? this.#committee.seatOf(author) : undefined
    if (seat === undefined) return false
    const kept = this.#bySeat.get(seat)
    return kept === undefined || (kept.size < PER_AUTHOR && !kept.has(hash))
  }

  /** Returns whether the vertex is kept. */
  add(vertex: Vertex): boolean {
    const seat = this.#committee.seatOf(vertex.header.author)
    if (seat === undefined || !this.wants(vertex.header)) return false
    if (Either.isLeft(Validity.check(vertex, this.#base, this.#committee))) return false
    const kept = this.#bySeat.get(seat) ?? new Map<Hash, Vertex>()
    this.#bySeat.set(seat, kept.set(vertex.header.hash, vertex))
    return true
  }
}
