/**
 * The latest heartbeat of each validator outside the committee that is not in a vertex yet. Each names a commit
 * executed here: the same key may sign on another network, and its signatures from there can be replayed.
 */
import type { Address } from "../../protocol/identity/Address.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import type { Round } from "../../protocol/numbers/Natural.js"
import type { Heartbeat } from "../../protocol/vertex/Heartbeat.js"

/** A member proposes its assigned heartbeats at once, and others after they have waited this long. */
const PATIENCE_ROUNDS = 4
/** Far more than a committee has seats. */
const MAX_HELD = 10 * Limits.COMMITTEE_MEMBERS

interface Held {
  readonly heartbeat: Heartbeat
  readonly sinceRound: Round
}

export class HeartbeatPool {
  readonly #held = new Map<Address, Held>()

  get size(): number {
    return this.#held.size
  }

  add(heartbeat: Heartbeat, round: Round): void {
    const { validator, commitIndex } = heartbeat
    const before = this.#held.get(validator)
    if (before === undefined && this.#held.size >= MAX_HELD) return
    if (before !== undefined && before.heartbeat.commitIndex >= commitIndex) return
    this.#held.set(validator, { heartbeat, sinceRound: round })
  }

  /** This heartbeat, which names a commit executed here, is in a vertex. */
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
  }
}
