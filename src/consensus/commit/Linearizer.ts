/**
 * The total order: each committed leader orders the vertices of its history that are not ordered yet and are above the
 * collection depth, by (round, H("udg/order", previous commit hash ‖ author), hash). The hash makes the order of
 * authors differ from commit to commit: ordered by address alone, the lowest author could always front-run the others.
 */
import { fromHex } from "#crypto"
import * as EpochRecord from "../../protocol/epoch/EpochRecord.js"
import * as Hash from "../../protocol/identity/Hash.js"
import type { CommitIndex, Round, Timestamp } from "../../protocol/numbers/Natural.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import * as Commit from "../../protocol/vertex/Commit.js"
import type { Vertex } from "../../protocol/vertex/Vertex.js"
import type { Committee } from "../dag/Committee.js"
import type { Dag, Node } from "../dag/Dag.js"

/** The end of the order so far, to which the next commit is chained. */
export interface Position {
  readonly index: CommitIndex
  readonly hash: Hash.Hash
  readonly leaderRound: Round
  readonly time: Timestamp
}

export interface OrderedCommit {
  readonly commit: Commit.Commit
  readonly vertices: ReadonlyArray<Vertex>
  readonly time: Timestamp
}

interface Stamp {
  readonly timestamp: Timestamp
  readonly weight: number
}

/** The earliest timestamp such that the stamps up to it hold at least half of the weight; null without stamps. */
export const weightedMedian = (stamps: ReadonlyArray<Stamp>): Timestamp | null => {
  const total = stamps.reduce((sum, { weight }) => sum + weight, 0)
  let upTo = 0
  for (const { timestamp, weight } of [...stamps].sort((a, b) => a.timestamp - b.timestamp)) {
    upTo += weight
    if (upTo * 2 >= total) return timestamp
  }
  return null
}

/** Invariant: every vertex above the collection depth in the history of an ordered vertex is ordered too. */
export class Linearizer {
  readonly #committee: Committee
  readonly #addresses = new Map<number, Uint8Array>()
  #position: Position

  /** `position` is the closing commit of the previous epoch. */
  constructor(dag: Dag, position: Position) {
    this.#committee = dag.committee
    this.#position = position
  }

  get position(): Position {
    return this.#position
  }

  /** No later commit orders anything at or below this round. Never below the epoch's first round − 1. */
  get collectionRound(): Round {
    const { firstRound, rules } = this.#committee.record
    return Natural.round(Math.max(firstRound - 1, this.#position.leaderRound - rules.collectionDepthRounds))
  }

  /** Whether the epoch closes with a commit of this leader round: the first at or past its nominal last one. */
  closes(leaderRound: Round): boolean {
    return leaderRound >= EpochRecord.lastRound(this.#committee.record)
  }

  /** Orders the history of the next committed leader. */
  order(leader: Node): OrderedCommit {
    if (leader.isOrdered) throw new Error(`leader ${leader.hash} of round ${leader.round} is already ordered`)
    const nodes = this.#unordered(leader)
    this.#sort(nodes)
    const commit = Commit.make({
      index: Natural.commitIndex(this.#position.index + 1),
      epoch: this.#committee.record.epoch,
      leaderRound: leader.round,
      leaderHash: leader.hash,
      previous: this.#position.hash,
    })
    const time = this.#timeOf(leader)
    this.#position = { index: commit.index, hash: commit.hash, leaderRound: commit.leaderRound, time }
    return { commit, vertices: nodes.map(({ vertex }) => vertex), time }
  }

  /** Marks the vertices as ordered and returns them. The walk skips the history of vertices ordered before. */
  #unordered(leader: Node): Array<Node> {
    const above = this.collectionRound
    const found = [leader]
    leader.isOrdered = true
    // The loop also visits what it pushes.
    for (const { parents } of found) {
      for (const parent of parents) {
        if (parent.isOrdered || parent.round <= above) continue
        parent.isOrdered = true
        found.push(parent)
      }
    }
    return found
  }

  #sort(nodes: Array<Node>): void {
    const previous = fromHex(this.#position.hash)
    const draws = new Map<number, Hash.Hash>()
    const drawOf = (seat: number): Hash.Hash => {
      let draw = draws.get(seat)
      if (draw === undefined) {
        draw = Hash.of("udg/order", previous, this.#addressOf(seat))
        draws.set(seat, draw)
      }
      return draw
    }
    nodes.sort((a, b) => {
      if (a.round !== b.round) return a.round - b.round
      if (a.seat !== b.seat) return drawOf(a.seat) < drawOf(b.seat) ? -1 : 1
      return a.hash < b.hash ? -1 : 1
    })
  }

  /** Cached, because every commit needs every author's address in bytes. */
  #addressOf(seat: number): Uint8Array {
    const bytes = this.#addresses.get(seat) ?? fromHex(this.#committee.member(seat).address)
    this.#addresses.set(seat, bytes)
    return bytes
  }

  #timeOf(leader: Node): Timestamp {
    const stamps = leader.parents
      .filter(({ round }) => round === leader.round - 1)
      .map(({ vertex, seat }) => ({
        timestamp: vertex.header.timestamp,
        weight: this.#committee.weightOf(seat),
      }))
    const median = weightedMedian(stamps)
    return median === null || median < this.#position.time ? this.#position.time : median
  }
}
