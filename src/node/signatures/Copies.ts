/**
 * A transaction may wait to be checked several times, for it comes from a client, from gossip and in copies of a vertex.
 * It is checked in the first turn that it gets, and the others take its result.
 */
import type { Signature } from "../../protocol/identity/Keys.js"
import type { VerifiedTransactions } from "../../protocol/transaction/Verification.js"
import type { UnderWay } from "./Batch.js"
import { type Place, settle } from "./Job.js"

export class Copies {
  readonly #verified: VerifiedTransactions
  /** Checks of transactions that a thread has, by signature. */
  readonly #underWay = new Map<Signature, UnderWay>()

  constructor(verified: VerifiedTransactions) {
    this.#verified = verified
  }

  /** Puts the check at this place into a batch, unless it is verified, or under way already. */
  begin(place: Place, batch: Array<UnderWay>): void {
    const check = place.job.checks[place.at]
    if (check?.transaction === undefined) {
      batch.push({ ...place, others: [] })
      return
    }
    if (this.#verified.has(check.transaction)) {
      settle(place, 1)
      return
    }
    const same = this.#underWay.get(check.signature)
    const { transaction, publicKey } = same?.job.checks[same.at] ?? {}
    if (same !== undefined && transaction?.id === check.transaction.id && publicKey === check.publicKey) {
      same.others.push(place)
      return
    }
    const underWay = { ...place, others: [] }
    this.#underWay.set(check.signature, underWay)
    batch.push(underWay)
  }

  /** Hands the result to everybody who waits for this check. */
  end(underWay: UnderWay, result: number): void {
    const { job, at, others } = underWay
    const signature = job.checks[at]?.signature
    if (signature !== undefined && this.#underWay.get(signature) === underWay) this.#underWay.delete(signature)
    settle(underWay, result)
    if (result === 1 && !job.isByZip215) this.#remember(underWay)
    for (const other of others) settle(other, result)
  }

  /** Remembers the transaction that this check belongs to, once each of its signatures holds. They lie side by side. */
  #remember({ job: { checks, results }, at }: Place): void {
    const transaction = checks[at]?.transaction
    if (transaction === undefined) return
    let first = at
    while (checks[first - 1]?.transaction === transaction) first--
    for (let i = first; checks[i]?.transaction === transaction; i++) if (results[i] !== 1) return
    this.#verified.add(transaction)
  }
}
