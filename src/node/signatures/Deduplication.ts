/**
 * A transaction may wait to be checked several times, for it comes from a client, from gossip and in copies of a vertex.
 * It is checked in the first turn that it gets, and the others take its result.
 */
import type { Signature } from "../../protocol/identity/Keys.js"
import type { VerifiedTransactions } from "../../protocol/transaction/Verification.js"
import { type UnderWay, underWay } from "./Batch.js"
import { type Job, type Place, settle } from "./Job.js"

export class Deduplication {
  readonly #verified: VerifiedTransactions
  /** Checks of transactions that a thread has, by signature. */
  readonly #underWay = new Map<Signature, UnderWay>()

  constructor(verified: VerifiedTransactions) {
    this.#verified = verified
  }

  /** Puts a job's check into a batch, unless it is verified, or under way already. */
  begin(job: Job, at: number, batch: Array<UnderWay>): void {
    const check = job.checks[at]
    if (check === undefined) return
    if (check.transaction === undefined) {
      batch.push(underWay(job, at, check))
      return
    }
    if (this.#verified.has(check.transaction)) {
      settle(job, at, 1)
      return
    }
    const same = this.#underWay.get(check.signature)
    if (same !== undefined) {
      if (same.check.transaction?.id === check.transaction.id && same.check.publicKey === check.publicKey) {
        same.others ??= []
        same.others.push({ job, at })
        return
      }
      same.isListed = false
    }
    const begun = underWay(job, at, check)
    begun.isListed = true
    this.#underWay.set(check.signature, begun)
    batch.push(begun)
  }

  /** Hands the result to everybody who waits for this check. */
  end(ended: UnderWay, result: number): void {
    const { job, at, check, others } = ended
    if (ended.isListed) this.#underWay.delete(check.signature)
    settle(job, at, result)
    if (result === 1 && !job.isByZip215) this.#remember(ended)
    if (others !== null) for (const other of others) settle(other.job, other.at, result)
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
