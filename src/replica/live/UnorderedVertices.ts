/** Known vertices that are not ordered yet. Their transactions and heartbeats are not proposed again. */
import type { PendingTransactions } from "../../ledger/pending/PendingTransactions.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { Round } from "../../protocol/numbers/Natural.js"
import type { Vertex } from "../../protocol/vertex/Vertex.js"

/** Invariant: the pool counts exactly the transactions of these vertices as included. */
export class UnorderedVertices {
  readonly #pool: PendingTransactions
  readonly #vertices = new Map<Hash, Vertex>()
  #forgottenRound = 0
  #carrying = 0

  constructor(pool: PendingTransactions) {
    this.#pool = pool
  }

  get size(): number {
    return this.#vertices.size
  }

  get carryTransactions(): boolean {
    return this.#carrying > 0
  }

  add(vertex: Vertex): void {
    const { hash, round } = vertex.header
    if (this.#vertices.has(hash)) return
    this.#vertices.set(hash, vertex)
    if (vertex.body.transactions.length > 0) this.#carrying++
    this.#pool.included(vertex.body.transactions, round)
  }

  remove(vertices: Iterable<Vertex>): void {
    for (const { header, body } of vertices) {
      if (!this.#vertices.delete(header.hash)) continue
      if (body.transactions.length > 0) this.#carrying--
      this.#pool.excluded(body.transactions)
    }
  }

  /** Nothing up to this round will ever be ordered. */
  forgetUpTo(round: Round): void {
    if (round <= this.#forgottenRound) return
    this.#forgottenRound = round
    this.remove([...this.#vertices.values()].filter(({ header }) => header.round <= round))
  }

  clear(): void {
    this.remove([...this.#vertices.values()])
  }
}
