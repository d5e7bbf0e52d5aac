/**
 * Transactions between execution and disk: they have left the mempool and read as pending until their commit is stored.
 * Lookups ask here before they ask the disk: a transaction that has left here is on disk.
 */
import { Option } from "effect"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import type { Vertex } from "../../protocol/vertex/Vertex.js"
import type { Write } from "../../replica/output/Write.js"
import type { NodeEvent } from "./NodeEvent.js"

const transactionsOf = (vertices: ReadonlyArray<Vertex>): ReadonlyArray<Transaction> =>
  vertices.flatMap(({ body }) => body.transactions)

export class Settling {
  readonly #transactions = new Map<Hash, Transaction>()

  get(id: Hash): Option.Option<Transaction> {
    return Option.fromNullable(this.#transactions.get(id))
  }

  /** Handed to the writer. */
  begin(write: Write): void {
    if (write._tag !== "Executed") return
    for (const transaction of transactionsOf(write.vertices)) this.#transactions.set(transaction.id, transaction)
  }

  /** On the disk. */
  end(event: NodeEvent): void {
    if (event._tag !== "Executed") return
    for (const { id } of transactionsOf(event.vertices)) this.#transactions.delete(id)
  }
}
