/**
 * Commits between execution and disk. Their transactions have left the mempool and read as pending until the commit is
 * stored. Until then a crash would undo these commits, so anything that reports them waits here.
 */
import { Effect, Option } from "effect"
import type { Totals } from "../../ledger/tables/Records.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { CommitIndex, Round } from "../../protocol/numbers/Natural.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import type { Vertex } from "../../protocol/vertex/Vertex.js"
import type { Write } from "../../replica/output/Write.js"
import type { NodeEvent } from "./NodeEvent.js"

export interface Position {
  readonly index: CommitIndex
  readonly leaderRound: Round
  readonly totals: Totals
}

interface Waiter {
  readonly index: CommitIndex
  readonly wake: () => void
}

const transactionsOf = (vertices: ReadonlyArray<Vertex>): ReadonlyArray<Transaction> =>
  vertices.flatMap(({ body }) => body.transactions)

export class Settling {
  readonly #transactions = new Map<Hash, Transaction>()
  readonly #waiters = new Set<Waiter>()
  #written: Position

  /** The files end with this commit. */
  constructor(written: Position) {
    this.#written = written
  }

  get(id: Hash): Option.Option<Transaction> {
    return Option.fromNullable(this.#transactions.get(id))
  }

  get written(): Position {
    return this.#written
  }

  /** Returns once this commit is in the files. */
  reached(index: CommitIndex): Effect.Effect<void> {
    return Effect.async((resume) => {
      if (index <= this.#written.index) return resume(Effect.void)
      const waiter = { index, wake: () => resume(Effect.void) }
      this.#waiters.add(waiter)
      return Effect.sync(() => this.#waiters.delete(waiter))
    })
  }

  /** The write was handed to the writer. */
  begin(write: Write): void {
    if (write._tag !== "Executed") return
    for (const transaction of transactionsOf(write.vertices)) this.#transactions.set(transaction.id, transaction)
  }

  /** The write is on disk. */
  end(event: NodeEvent): void {
    if (event._tag === "Executed") {
      for (const { id } of transactionsOf(event.vertices)) this.#transactions.delete(id)
      const { commit, totals } = event.execution
      this.#reach({ index: commit.index, leaderRound: commit.leaderRound, totals })
    } else if (event._tag === "Joined") {
      const { commitIndex, round } = event.target.checkpoint
      this.#reach({ index: commitIndex, leaderRound: round, totals: event.totals })
    }
  }

  #reach(written: Position): void {
    this.#written = written
    for (const waiter of this.#waiters) {
      if (waiter.index > written.index) continue
      this.#waiters.delete(waiter)
      waiter.wake()
    }
  }
}
