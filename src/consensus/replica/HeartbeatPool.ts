/** Heartbeats of validators outside the committee that stand in no vertex yet: the latest of each. */
import type { Address } from "../../protocol/Address.js"
import type { Round } from "../../protocol/Counter.js"
import type { Heartbeat } from "../../protocol/Heartbeat.js"
import * as Limits from "../../protocol/Limits.js"

/** A member proposes those assigned to it at once, the others when they have waited so long. */
const PATIENCE_ROUNDS = 4
/** Far more validators than committees have seats. */
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
    const before = this.#held.get(heartbeat.validator)
    if (before === undefined && this.#held.size >= MAX_HELD) return
    if (before !== undefined && before.heartbeat.commitIndex >= heartbeat.commitIndex) return
    this.#held.set(heartbeat.validator, { heartbeat, sinceRound: round })
  }

  /** These stand in a vertex. */
  included(heartbeats: ReadonlyArray<Heartbeat>): void {
    for (const { validator, commitIndex } of heartbeats) {
      const held = this.#held.get(validator)
      if (held !== undefined && held.heartbeat.commitIndex <= commitIndex) this.#held.delete(validator)
    }
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
