/** Which transactions stand in vertices that are known here and not ordered yet: nobody proposes those again. */
import type { Round } from "../../protocol/Counter.js"
import { keySignatures, type Transaction } from "../../protocol/Transaction.js"

export interface Inclusion {
  /** How many vertices it stands in. */
  vertices: number
  /** The lowest round of them. */
  first: Round
  /** The highest round of them. */
  last: Round
}

/**
 * A transaction under exactly these signatures. The id does not cover them, so anybody can put somebody else's transaction
 * into a vertex under signatures of their own, where it has no effect; that must not hold back the real one.
 */
const keyOf = ({ id, authorization }: Transaction): string => {
  let key = `${id} ${authorization._tag}`
  for (const { publicKey, signature } of keySignatures(authorization)) key += ` ${publicKey} ${signature}`
  return key
}

export class Inclusions {
  readonly #inclusions = new Map<string, Inclusion>()

  get size(): number {
    return this.#inclusions.size
  }

  add(transactions: ReadonlyArray<Transaction>, round: Round): void {
    for (const transaction of transactions) {
      const key = keyOf(transaction)
      const inclusion = this.#inclusions.get(key)
      if (inclusion === undefined) this.#inclusions.set(key, { vertices: 1, first: round, last: round })
      else {
        inclusion.vertices++
        if (round < inclusion.first) inclusion.first = round
        if (round > inclusion.last) inclusion.last = round
      }
    }
  }

  remove(transactions: ReadonlyArray<Transaction>): void {
    for (const transaction of transactions) {
      const key = keyOf(transaction)
      const inclusion = this.#inclusions.get(key)
      if (inclusion === undefined) continue
      if (inclusion.vertices > 1) inclusion.vertices--
      else this.#inclusions.delete(key)
    }
  }

  /** Where it stands; none when it stands nowhere. */
  of(transaction: Transaction): Readonly<Inclusion> | undefined {
    return this.#inclusions.get(keyOf(transaction))
  }
}
