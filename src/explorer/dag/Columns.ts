/**
 * The loaded part of the DAG: rounds as columns, validators as lanes. Responses are merged, and a later one for a round
 * replaces an earlier one. Pure except for its own map.
 */
import type { Address } from "../../protocol/identity/Address.js"
import type { Answer } from "../live/Node.js"

export type ColumnsAnswer = Answer<"dag", "columns">

export interface Dot {
  readonly hash: string
  readonly lane: number
  readonly transactions: number
  /** The commit that ordered it; null while there is none. */
  readonly commit: number | null
  /** Lanes of the parents in the round before. */
  readonly parents: ReadonlyArray<number>
  readonly olderParents: ReadonlyArray<{ readonly round: number; readonly lane: number }>
}

export interface Leader {
  readonly lane: number
  readonly verdict: "undecided" | "committed" | "skipped"
}

export interface Column {
  readonly round: number
  readonly epoch: number
  /** Time of the commit, once there is one. */
  readonly timestamp: number | null
  readonly isFinalized: boolean
  readonly leader: Leader | null
  readonly dots: ReadonlyArray<Dot>
  /** Increases with every change of the column. Its painted tile is reused until then. */
  readonly version: number
}

/** Beyond this number, the oldest are dropped; the node still has them. */
const COLUMNS_KEPT = 4_000
/** The limit for scrolling back, so that the visible columns are not the next to be dropped. */
const COLUMNS_SOUGHT = 3_000

/**
 * Most vertices are final a round after their leader. Those that nobody referenced never are, so the wait is limited.
 */
const SETTLING_ROUNDS = 20

const isSettled = ({ isFinalized, dots }: Column): boolean => isFinalized && dots.every(({ commit }) => commit !== null)

const isSame = (a: Column, b: Column): boolean =>
  JSON.stringify({ ...a, version: 0 }) === JSON.stringify({ ...b, version: 0 })

export class Columns {
  readonly #columns = new Map<number, Column>()
  readonly #lanes = new Map<Address, number>()
  #newest = -1
  #oldest = Number.POSITIVE_INFINITY
  #version = 0

  get size(): number {
    return this.#columns.size
  }

  /** Whether older rounds may be loaded. A leap leaves a gap even if the first round is loaded. */
  get hasRoomBefore(): boolean {
    return this.#columns.size < COLUMNS_SOUGHT
  }

  /** Validators in the order of their lanes, which never changes. */
  get lanes(): ReadonlyArray<Address> {
    return [...this.#lanes.keys()]
  }

  get laneCount(): number {
    return this.#lanes.size
  }

  get newest(): number {
    return this.#newest
  }

  get oldest(): number {
    return this.#oldest
  }

  /** The epoch of the newest round. */
  get epoch(): number {
    return this.at(this.#newest)?.epoch ?? 0
  }

  /** Whether its epoch has closed, so that no commit will order its remaining vertices. */
  isOver({ epoch }: Column): boolean {
    return epoch < this.epoch
  }

  /** The last of these rounds that is not loaded. */
  missing(first: number, last: number): number | undefined {
    for (let round = Math.min(last, this.#newest); round >= Math.max(1, first); round--) {
      if (!this.#columns.has(round)) return round
    }
    return undefined
  }

  at(round: number): Column | undefined {
    return this.#columns.get(round)
  }

  /** The lowest known round that can still change; the one after the newest if none can. */
  get firstUnsettled(): number {
    const open = this.between(this.#newest - SETTLING_ROUNDS, this.#newest).find((column) => !isSettled(column))
    return open?.round ?? this.#newest + 1
  }

  #laneOf(address: Address): number {
    const known = this.#lanes.get(address)
    if (known !== undefined) return known
    this.#lanes.set(address, this.#lanes.size)
    return this.#lanes.size - 1
  }

  /** Merges a response and returns whether anything changed. */
  merge({ validators, columns }: ColumnsAnswer): boolean {
    const lanes = validators.map((address) => this.#laneOf(address))
    const lane = (index: number): number => lanes[index] ?? 0
    let hasChanged = false
    for (const { round, epoch, timestamp, finalized, leader, vertices } of columns) {
      const column: Column = {
        round,
        epoch,
        timestamp,
        isFinalized: finalized,
        leader: leader === null ? null : { lane: lane(leader.validator), verdict: leader.verdict },
        dots: vertices.map(({ hash, validator, tx_count, commit_index, parents, older_parents }) => ({
          hash,
          lane: lane(validator),
          transactions: tx_count,
          commit: commit_index,
          parents: parents.map(lane),
          olderParents: older_parents.map((parent) => ({ round: parent.round, lane: lane(parent.validator) })),
        })),
        version: this.#version + 1,
      }
      const before = this.#columns.get(round)
      if (before !== undefined && isSame(before, column)) continue
      this.#version += 1
      this.#columns.set(round, column)
      this.#newest = Math.max(this.#newest, round)
      this.#oldest = Math.min(this.#oldest, round)
      hasChanged = true
    }
    this.#forget()
    return hasChanged
  }

  #forget(): void {
    while (this.#columns.size > COLUMNS_KEPT && this.#oldest < this.#newest) {
      this.#columns.delete(this.#oldest)
      this.#oldest += 1
    }
  }

  /** Drops the columns that can still change, for a reader about to skip the rounds in which they do. */
  dropUnsettled(): void {
    for (const column of this.#columns.values()) if (!isSettled(column)) this.#columns.delete(column.round)
  }

  /** The known columns in ascending order, both ends included. */
  between(from: number, to: number): ReadonlyArray<Column> {
    const found: Array<Column> = []
    for (let round = Math.max(from, this.#oldest); round <= Math.min(to, this.#newest); round++) {
      const column = this.#columns.get(round)
      if (column !== undefined) found.push(column)
    }
    return found
  }
}
