/** Which transactions stand in vertices that are known here and not ordered yet: nobody proposes those again. */
import type { Round } from "../../protocol/Counter.js"
import type { Hash } from "../../protocol/Hash.js"
import type { Transaction } from "../../protocol/Transaction.js"

interface Inclusion {
  vertices: number
  /** The lowest round of them. */
  round: Round
}

export class Inclusions {
  readonly #byId = new Map<Hash, Inclusion>()

  get size(): number {
    return this.#byId.size
  }

  add(transactions: ReadonlyArray<Transaction>, round: Round): void {
    for (const { id } of transactions) {
      const inclusion = this.#byId.get(id)
      if (inclusion === undefined) this.#byId.set(id, { vertices: 1, round })
      else {
        inclusion.vertices++
        if (round < inclusion.round) inclusion.round = round
      }
    }
  }

  remove(transactions: ReadonlyArray<Transaction>): void {
    for (const { id } of transactions) {
      const inclusion = this.#byId.get(id)
      if (inclusion === undefined) continue
      if (inclusion.vertices > 1) inclusion.vertices--
      else this.#byId.delete(id)
    }
  }

  clear(): void {
    this.#byId.clear()
  }

  /** The lowest round in which it stands; none when it stands nowhere. */
  roundOf(id: Hash): Round | undefined {
    return this.#byId.get(id)?.round
  }
}
