/**
 * Decides which gossip this node relays: messages that are new and useful, and no more per signer than an honest one
 * makes. Neighbours judge a node by what it relays, and gossip that is free for its signer must not cost more the
 * further it travels. Vertices are not relayed.
 */
import { Either } from "effect"
import { Recent } from "../../collections/Recent.js"
import * as Heartbeats from "../../consensus/Heartbeats.js"
import type { PendingTransactions } from "../../ledger/pending/PendingTransactions.js"
import type { Rules } from "../../protocol/epoch/EpochRecord.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { Epoch, Round } from "../../protocol/numbers/Natural.js"
import { divideFloor } from "../../protocol/numbers/Sats.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import type { Evidence } from "../../protocol/vertex/Evidence.js"
import type { Heartbeat } from "../../protocol/vertex/Heartbeat.js"

/** Limit of remembered heartbeat signers; each has stake for a seat. */
export const REMEMBERED = 4_096
/** Allows twice an honest signer's rate: its previous message may have been late, or it may have restarted. */
const LENIENCE = 2
/** Checkpoint signatures that may arrive at once: of the last checkpoints, the epoch's close, and the next one. */
export const SIGNATURES_AT_ONCE = 4

/** The transactions worth announcing: new, executable, and within what their senders may have announced. */
export const worthTelling = (
  transactions: ReadonlyArray<Transaction>,
  answers: ReadonlyArray<ReturnType<PendingTransactions["submit"]>>,
  pool: Pick<PendingTransactions, "isTold">,
): ReadonlyArray<Transaction> =>
  transactions.filter((transaction, i) => {
    const answer = answers[i]
    return answer !== undefined && Either.isRight(answer) && answer.right === "new" && pool.isTold(transaction)
  })

/**
 * Whether a message is relayed unchanged: every transaction in it must be new and worth announcing. Otherwise
 * `Announcements` tells others of the worthy ones a moment later: a message may repeat known transactions thousands of
 * times, or carry them under unverified signatures.
 */
export const areRelayed = (transactions: ReadonlyArray<Transaction>, worth: ReadonlyArray<Transaction>): boolean =>
  transactions.length > 0 && worth.length === transactions.length

interface Named {
  readonly commitIndex: number
  readonly leaderRound: Round
}

export class Relaying {
  /** The last relayed heartbeat of each validator, least recent first. */
  readonly #beats = new Recent<Address, Named>(REMEMBERED)
  /** For each member, the round in which all its signatures so far are paid for. */
  readonly #signed = new Map<Address, number>()
  /** Members accused in each epoch by evidence that was relayed or found here. */
  readonly #accused = new Map<Epoch, Set<Address>>()

  get size(): number {
    return [...this.#accused.values()].reduce((sum, { size }) => sum + size, this.#beats.size + this.#signed.size)
  }

  /**
   * Whether a heartbeat for an executed commit is useful: later than the previous one by at least half an honest
   * validator's spacing. Changes nothing.
   */
  wantsHeartbeat({ validator, commitIndex }: Heartbeat, leaderRound: Round, rules: Rules): boolean {
    const last = this.#beats.get(validator)
    if (last === undefined) return true
    const spacing = divideFloor(Heartbeats.spacingOf(rules), LENIENCE)
    return commitIndex > last.commitIndex && leaderRound - last.leaderRound >= spacing
  }

  heartbeat({ validator, commitIndex }: Heartbeat, leaderRound: Round): void {
    this.#beats.set(validator, { commitIndex, leaderRound })
  }

  /** Whether evidence is useful: an author is slashed once. Changes nothing. */
  wantsEvidence({ first: { epoch, author } }: Evidence): boolean {
    return this.#accused.get(epoch)?.has(author) !== true
  }

  evidence({ first: { epoch, author } }: Evidence): void {
    this.#accused.set(epoch, (this.#accused.get(epoch) ?? new Set()).add(author))
  }

  /** Whether a member may add a checkpoint signature now. Changes nothing. */
  wantsSignature(member: Address, round: Round, rules: Rules): boolean {
    const madeUp = this.#signed.get(member) ?? 0
    return madeUp - round <= (SIGNATURES_AT_ONCE - 1) * roundsPerSignature(rules)
  }

  signature(member: Address, round: Round, rules: Rules): void {
    this.#signed.set(member, Math.max(round, this.#signed.get(member) ?? 0) + roundsPerSignature(rules))
  }

  /** An epoch began in this round: evidence from epochs before `oldest` no longer counts. */
  forgetBefore(oldest: Epoch, round: Round): void {
    for (const epoch of this.#accused.keys()) if (epoch < oldest) this.#accused.delete(epoch)
    for (const [member, madeUp] of this.#signed) if (madeUp <= round) this.#signed.delete(member)
  }
}

/** A member signs once per interval, and once at the close of an epoch. */
const roundsPerSignature = ({ checkpointIntervalRounds, epochRounds }: Rules): number =>
  Math.max(1, divideFloor(Math.min(checkpointIntervalRounds, epochRounds), LENIENCE))
