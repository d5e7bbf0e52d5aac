/**
 * Decides which gossip this node relays: messages that are new here and useful. The amount is limited for each signer, so
 * that none fills the network with messages that cost only a signature. Vertices are not relayed.
 */
import { Either } from "effect"
import type { PendingTransactions } from "../../ledger/pending/PendingTransactions.js"
import type { Checkpoint, CheckpointSignature } from "../../protocol/epoch/Checkpoint.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import type { Evidence } from "../../protocol/vertex/Evidence.js"
import type { Heartbeat } from "../../protocol/vertex/Heartbeat.js"
import type { Naming } from "../signing/HeartbeatPool.js"

/** How many relayed messages are remembered: far more than are sent in the time that gossip takes. */
export const REMEMBERED = 4_096

/**
 * All or nothing: gossip relays a message unchanged. So the pool must have refused none of its transactions, and each new
 * one must be executable after the pool took the last. One after a missing nonce costs its sender nothing, and is told on
 * once the gap closes (`Announcements`).
 */
export const areRelayed = (
  transactions: ReadonlyArray<Transaction>,
  answers: ReadonlyArray<ReturnType<PendingTransactions["submit"]>>,
  pool: Pick<PendingTransactions, "isExecutable">,
): boolean => {
  const fresh = transactions.filter((_, i) => {
    const answer = answers[i]
    return answer !== undefined && Either.isRight(answer) && answer.right === "new"
  })
  return (
    answers.every(Either.isRight) && fresh.length > 0 && fresh.every((transaction) => pool.isExecutable(transaction))
  )
}

export class Relaying {
  /** For each validator, the last executed commit that a relayed heartbeat of its names. */
  readonly #beats = new Map<Address, number>()
  readonly #relayed = new Set<string>()

  get size(): number {
    return this.#beats.size + this.#relayed.size
  }

  /** Whether a heartbeat would be relayed, if its signature holds. Changes nothing. */
  isNewHeartbeat(heartbeat: Heartbeat, naming: Naming): boolean {
    switch (naming) {
      case "executed":
        return heartbeat.commitIndex > (this.#beats.get(heartbeat.validator) ?? -1)
      case "ahead":
        // It may have been signed on another network, and must not keep the real ones back.
        return !this.#relayed.has(nameOf(heartbeat))
      case "none":
        return false
    }
  }

  heartbeat(heartbeat: Heartbeat, naming: Naming): boolean {
    if (!this.isNewHeartbeat(heartbeat, naming)) return false
    if (naming === "ahead") return this.#isFirst(nameOf(heartbeat))
    if (this.#beats.size >= REMEMBERED) this.#beats.clear()
    this.#beats.set(heartbeat.validator, heartbeat.commitIndex)
    return true
  }

  /** For evidence that proves an equivocation of a member. */
  evidence({ first: { epoch, author } }: Evidence): boolean {
    return this.#isFirst(`evidence ${epoch} ${author}`)
  }

  /** For a signature of a member. One for each commit, since a member can sign any number of contents. */
  checkpointSignature({ commitIndex }: Checkpoint, { validator }: CheckpointSignature): boolean {
    return this.#isFirst(`checkpoint ${commitIndex} ${validator}`)
  }

  #isFirst(name: string): boolean {
    if (this.#relayed.has(name)) return false
    if (this.#relayed.size >= REMEMBERED) this.#relayed.clear()
    this.#relayed.add(name)
    return true
  }
}

const nameOf = ({ validator, commitIndex, commitHash }: Heartbeat): string =>
  `heartbeat ${validator} ${commitIndex} ${commitHash}`
