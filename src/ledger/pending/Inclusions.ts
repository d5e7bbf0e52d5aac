/** The transactions in known vertices that are not ordered yet. No member proposes those again. */

import type { Hash } from "../../protocol/identity/Hash.js"
import type { Round } from "../../protocol/numbers/Natural.js"
import { type Authorization, keySignatures, type Transaction } from "../../protocol/transaction/Transaction.js"

export interface Inclusion {
  vertices: number
  /** The lowest round of them. */
  first: Round
  /** The highest round of them. */
  last: Round
}

/**
 * The inclusions of one id. The id does not cover the signatures, so anyone can put another sender's transaction into a
 * vertex under their own signatures, where it has no effect; that must not hold back the real one. Since more than one
 * authorization is rare, the first is stored directly and only further ones need a map.
 */
interface SameId {
  readonly authorization: Authorization
  /** Under that authorization; undefined once no vertex includes it. */
  inclusion: Inclusion | undefined
  /** Under further authorizations, keyed by their signatures. */
  others: Map<string, Inclusion> | undefined
}

const isSame = (a: Authorization, b: Authorization): boolean => {
  if (a === b) return true
  const [signatures, others] = [keySignatures(a), keySignatures(b)]
  return (
    a._tag === b._tag &&
    signatures.length === others.length &&
    signatures.every(
      ({ publicKey, signature }, i) => publicKey === others[i]?.publicKey && signature === others[i]?.signature,
    )
  )
}

const keyOf = (authorization: Authorization): string =>
  [authorization._tag, ...keySignatures(authorization).flatMap((one) => [one.publicKey, one.signature])].join(" ")

const inclusionOf = (same: SameId, authorization: Authorization): Inclusion | undefined =>
  isSame(same.authorization, authorization) ? same.inclusion : same.others?.get(keyOf(authorization))

const include = (same: SameId, authorization: Authorization, inclusion: Inclusion): void => {
  if (isSame(same.authorization, authorization)) same.inclusion = inclusion
  else {
    same.others ??= new Map()
    same.others.set(keyOf(authorization), inclusion)
  }
}

const exclude = (same: SameId, authorization: Authorization): void => {
  if (isSame(same.authorization, authorization)) same.inclusion = undefined
  else {
    same.others?.delete(keyOf(authorization))
    if (same.others?.size === 0) same.others = undefined
  }
}

export class Inclusions {
  readonly #byId = new Map<Hash, SameId>()

  /** Number of ids in vertices. */
  get size(): number {
    return this.#byId.size
  }

  add(transactions: ReadonlyArray<Transaction>, round: Round): void {
    for (const { id, authorization } of transactions) {
      const same = this.#byId.get(id)
      if (same === undefined) {
        const inclusion = { vertices: 1, first: round, last: round }
        this.#byId.set(id, { authorization, inclusion, others: undefined })
        continue
      }
      const inclusion = inclusionOf(same, authorization)
      if (inclusion === undefined) include(same, authorization, { vertices: 1, first: round, last: round })
      else {
        inclusion.vertices++
        if (round < inclusion.first) inclusion.first = round
        if (round > inclusion.last) inclusion.last = round
      }
    }
  }

  remove(transactions: ReadonlyArray<Transaction>): void {
    for (const { id, authorization } of transactions) {
      const same = this.#byId.get(id)
      const inclusion = same && inclusionOf(same, authorization)
      if (same === undefined || inclusion === undefined) continue
      if (inclusion.vertices > 1) inclusion.vertices--
      else {
        exclude(same, authorization)
        if (same.inclusion === undefined && same.others === undefined) this.#byId.delete(id)
      }
    }
  }

  of({ id, authorization }: Transaction): Readonly<Inclusion> | undefined {
    const same = this.#byId.get(id)
    return same && inclusionOf(same, authorization)
  }
}
