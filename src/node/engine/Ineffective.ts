/**
 * Transactions that a finalized vertex contains but that had no effect. The ledger does not record them: their author
 * pays nothing and could fill every disk. The node remembers the latest in memory, to inform their senders.
 */
import { Option } from "effect"
import type { Rejection } from "../../ledger/rules/Rejection.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { Header } from "../../protocol/vertex/Header.js"
import type { NodeEvent } from "./NodeEvent.js"

export interface WithoutEffect {
  readonly vertex: Pick<Header, "hash" | "round">
  readonly reason: Rejection
}

export const KEPT = 10_000

export class Ineffective {
  /** In the order of their commits. */
  readonly #latest = new Map<Hash, WithoutEffect>()

  get(id: Hash): Option.Option<WithoutEffect> {
    return Option.fromNullable(this.#latest.get(id))
  }

  published(event: NodeEvent): void {
    if (event._tag !== "Executed") return
    for (const [i, { header, body }] of event.vertices.entries()) {
      for (const [j, { id }] of body.transactions.entries()) {
        const outcome = event.execution.vertices[i]?.transactions[j]
        if (outcome?._tag === "NoEffect") this.#note(id, { vertex: header, reason: outcome.reason })
      }
    }
  }

  #note(id: Hash, { vertex: { hash, round }, reason }: WithoutEffect): void {
    this.#latest.delete(id)
    this.#latest.set(id, { vertex: { hash, round }, reason })
    if (this.#latest.size <= KEPT) return
    for (const oldest of this.#latest.keys()) {
      this.#latest.delete(oldest)
      return
    }
  }
}
