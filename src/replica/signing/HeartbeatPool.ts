/**
 * Heartbeats of validators outside the committee that are in no vertex yet: the latest of each. The same key may sign
 * on another network too, and its signatures from there can be replayed here. So a heartbeat counts as the latest only
 * if it names a commit that this node has executed; one that names a later commit waits beside it until that commit is
 * executed.
 */
import type { Address } from "../../protocol/identity/Address.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import type { Round } from "../../protocol/numbers/Natural.js"
import type { Commit } from "../../protocol/vertex/Commit.js"
import type { Heartbeat } from "../../protocol/vertex/Heartbeat.js"

/** What this node knows of the commit that a heartbeat names. */
export type Naming =
  /** Executed here, and recent enough to be named. */
  | "executed"
  /** Not executed yet, but close to the last executed one. */
  | "ahead"
  /** Another commit has this index, or it is too old or too far ahead. */
  | "none"

/** A member proposes its assigned heartbeats at once, and the others after they have waited this long. */
const PATIENCE_ROUNDS = 4
/** Far more than a committee has seats. */
const MAX_HELD = 10 * Limits.COMMITTEE_MEMBERS
/** Members execute the same commits within a few of each other. */
export const COMMITS_AHEAD = 16
/** Heartbeats of one validator that may wait for their commits. */
const MAX_AHEAD = 4

interface Held {
  readonly heartbeat: Heartbeat
  readonly sinceRound: Round
}

const isSame = (a: Heartbeat, b: Heartbeat): boolean => a.commitIndex === b.commitIndex && a.commitHash === b.commitHash

export class HeartbeatPool {
  readonly #held = new Map<Address, Held>()
  readonly #ahead = new Map<Address, ReadonlyArray<Held>>()

  get size(): number {
    return this.#held.size + this.#ahead.size
  }

  add(heartbeat: Heartbeat, round: Round, naming: Naming): void {
    const held = { heartbeat, sinceRound: round }
    if (naming === "executed") this.#hold(held)
    else if (naming === "ahead") this.#wait(held)
  }

  #hold(held: Held): void {
    const { validator, commitIndex } = held.heartbeat
    const before = this.#held.get(validator)
    if (before === undefined && this.#held.size >= MAX_HELD) return
    if (before !== undefined && before.heartbeat.commitIndex >= commitIndex) return
    this.#held.set(validator, held)
  }

  #wait(held: Held): void {
    const { validator } = held.heartbeat
    const waiting = this.#ahead.get(validator) ?? []
    if (waiting.length >= MAX_AHEAD || (waiting.length === 0 && this.#ahead.size >= MAX_HELD)) return
    if (waiting.some(({ heartbeat }) => isSame(heartbeat, held.heartbeat))) return
    this.#ahead.set(validator, [...waiting, held])
  }

  /** Every heartbeat that waited for this commit either names it or never will. */
  executed({ index, hash }: Pick<Commit, "index" | "hash">): void {
    for (const [validator, waiting] of this.#ahead) {
      const left = waiting.filter(({ heartbeat }) => heartbeat.commitIndex > index)
      if (left.length === waiting.length) continue
      for (const held of waiting) {
        if (held.heartbeat.commitIndex === index && held.heartbeat.commitHash === hash) this.#hold(held)
      }
      if (left.length === 0) this.#ahead.delete(validator)
      else this.#ahead.set(validator, left)
    }
  }

  /** This heartbeat, which names a commit that was executed here, is in a vertex. */
  included({ validator, commitIndex }: Heartbeat): void {
    const held = this.#held.get(validator)
    if (held !== undefined && held.heartbeat.commitIndex <= commitIndex) this.#held.delete(validator)
  }

  take(round: Round, isAssigned: (validator: Address) => boolean): ReadonlyArray<Heartbeat> {
    const due = [...this.#held.values()].filter(
      ({ heartbeat, sinceRound }) => isAssigned(heartbeat.validator) || round - sinceRound >= PATIENCE_ROUNDS,
    )
    return due.slice(0, Limits.VERTEX_HEARTBEATS).map(({ heartbeat }) => heartbeat)
  }

  clear(): void {
    this.#held.clear()
    this.#ahead.clear()
  }
}
