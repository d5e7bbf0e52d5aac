/**
 * A transaction may wait for several checks: from a client, in gossip and in copies of a vertex. It is checked at its
 * first turn, and the others share the result.
 */
import type { Signature } from "../../protocol/identity/Keys.js"
import type { VerifiedTransactions } from "../../protocol/transaction/Verification.js"
import { type UnderWay, underWay } from "./Batch.js"
import { type Job, type Place, settle } from "./Job.js"

export class Deduplication {
  readonly #verified: VerifiedTransactions
  /** Transaction checks in progress, by signature. */
  readonly #underWay = new Map<Signature, UnderWay>()

  constructor(verified: VerifiedTransactions) {
    this.#verified = verified
  }

  /** Adds a job's check to a batch, unless it is verified or already in progress. */
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

  /** Hands the result to all places waiting for this check. */
  end(ended: UnderWay, result: number): void {
    const { job, at, check, others } = ended
    if (ended.isListed) this.#underWay.delete(check.signature)
    settle(job, at, result)
    if (result === 1 && !job.isByZip215) this.#remember(ended)
    if (others !== null) for (const other of others) settle(other.job, other.at, result)
  }

  /** Remembers the check's transaction once all its signatures are valid. They are adjacent. */
  #remember({ job: { checks, results }, at }: Place): void {
    const transaction = checks[at]?.transaction
    if (transaction === undefined) return
    let first = at
    while (checks[first - 1]?.transaction === transaction) first--
    for (let i = first; checks[i]?.transaction === transaction; i++) if (results[i] !== 1) return
    this.#verified.add(transaction)
  }
}
