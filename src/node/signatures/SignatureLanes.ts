/**
 * Orders the checks that no thread has yet, in three lanes.
 *
 * Checks that rounds wait for go first: a thousand transactions must not delay a vertex. In each lane peers have fair
 * turns at the price of their signatures. Strangers' checks are limited in total: a valid signature costs its maker no
 * points and takes processor time that rounds need.
 *
 * Checks by the rule for vertices have their own lane, since they take five times as long, and thirty times for an
 * invalid signature.
 */
import { Allowance, type Rate } from "../../network/Allowance.js"
import * as SpareTime from "../../turns/SpareTime.js"
import * as Batch from "./Batch.js"
import type { Deduplication } from "./Deduplication.js"
import { FairQueue, type Owner } from "./FairQueue.js"
import { type Job, type Piece, whole } from "./Job.js"

/** Urgent batches in a row before the others have a turn. */
const URGENT_IN_A_ROW = 3
/** What a rejection by the rule for vertices costs on top of an acceptance, in native checks: about 1.8 ms. */
const COST_OF_NO = 25
/**
 * Detecting that a check is a copy takes this thread about a sixteenth of a check, and is charged as that. This many
 * are examined, a few milliseconds' worth, before everything else on this thread has its turn.
 */
const LOOKED_AT = 1_024
const COPIES_PER_CHECK = 16

export class SignatureLanes {
  readonly #urgent = new FairQueue<Piece>()
  readonly #others = new FairQueue<Piece>()
  /** Checks by the rule for vertices. */
  readonly #doubted = new FairQueue<Piece>()
  readonly #strangers: Allowance
  readonly #copies: Deduplication
  /** Checks that may be examined before everything else on this thread has its turn. */
  #looks = LOOKED_AT
  #urgentInARow = 0
  #isTurnOfDoubted = false

  constructor(strangers: Rate, copies: Deduplication) {
    this.#strangers = new Allowance(strangers, SpareTime.now())
    this.#copies = copies
  }

  get isEmpty(): boolean {
    return this.#urgent.size + this.#others.size + this.#doubted.size === 0
  }

  push(job: Job): void {
    const { owner, isUrgent } = job.lane
    const lane = job.isByZip215 ? this.#doubted : isUrgent ? this.#urgent : this.#others
    lane.push(owner, whole(job))
  }

  /** Everything else on this thread has had its turn. */
  renewLooks(): void {
    this.#looks = LOOKED_AT
  }

  get hasLooks(): boolean {
    return this.#looks > 0
  }

  chargeNo(owner: Owner): void {
    this.#doubted.charge(owner, COST_OF_NO)
  }

  /**
   * The next batch; empty if nobody may have a turn now, or if there were only copies. While all three lanes are busy,
   * urgent checks get three quarters, and the others an eighth each.
   */
  next(): Batch.Batch {
    const isTheirTurn = this.#urgentInARow >= URGENT_IN_A_ROW && this.#others.size + this.#doubted.size > 0
    const urgent = isTheirTurn ? [] : this.#batchOf(this.#urgent)
    this.#urgentInARow = urgent.length === 0 ? 0 : this.#urgentInARow + 1
    if (urgent.length > 0) return urgent
    const patient = this.#nextPatient()
    return patient.length > 0 ? patient : this.#batchOf(this.#urgent)
  }

  /** Removes everything except checks by the rule for vertices, at the end. */
  *drain(): Generator<Piece> {
    for (const lane of [this.#urgent, this.#others]) {
      for (let next = lane.next(); next !== undefined; next = lane.next()) yield next.item
    }
  }

  #nextPatient(): Batch.Batch {
    this.#isTurnOfDoubted = !this.#isTurnOfDoubted
    const doubted = this.#isTurnOfDoubted ? this.#batchOfDoubted() : []
    if (doubted.length > 0) return doubted
    const others = this.#batchOf(this.#others)
    return others.length > 0 || this.#isTurnOfDoubted ? others : this.#batchOfDoubted()
  }

  /**
   * Checks of one job, so that a rejection ends the batch, and at most a batch's worth of time. Drops jobs that a
   * rejection has decided.
   */
  #batchOfDoubted(): Batch.Batch {
    for (let next = this.#doubted.next(); next !== undefined; next = this.#doubted.next()) {
      const { owner, item } = next
      if (item.job.missing === 0) continue
      const to = Math.min(item.to, item.from + Math.ceil(Batch.MOST / Batch.COST_OF_YES))
      if (to < item.to) this.#doubted.pushFirst(owner, { ...item, from: to })
      this.#doubted.charge(owner, (to - item.from) * Batch.COST_OF_YES)
      return Batch.allOf({ ...item, to })
    }
    return []
  }

  /** As many as fit into one batch, possibly part of a large job. */
  #batchOf(lane: FairQueue<Piece>): Batch.Batch {
    const batch: Array<Batch.UnderWay> = []
    const mayHave = ({ standing }: Owner): boolean =>
      standing !== "stranger" || this.#strangers.take(0, SpareTime.now()) === 0
    while (batch.length < Batch.MOST && this.#looks > 0) {
      const next = lane.next(mayHave)
      if (next === undefined) break
      const { owner, item } = next
      const before = batch.length
      let at = item.from
      for (; at < item.to && batch.length < Batch.MOST && this.#looks > 0; at++, this.#looks--) {
        this.#copies.begin(item.job, at, batch)
      }
      if (at < item.to) lane.pushFirst(owner, { ...item, from: at })
      const begun = batch.length - before
      const cost = begun + (at - item.from - begun) / COPIES_PER_CHECK
      lane.charge(owner, cost)
      if (owner.standing === "stranger") this.#strangers.take(cost, SpareTime.now())
    }
    return batch
  }
}
